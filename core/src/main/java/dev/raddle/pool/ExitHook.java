package dev.raddle.pool;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/** A JVM shutdown hook that drains pools, see {@link ThreadPool#drainOnExit}. */
final class ExitHook {

    private ExitHook() {}

    static Alarm install(Duration grace, Consumer<? super ShutdownReport> reports, List<ThreadPool> pools) {
        Objects.requireNonNull(grace, "grace");
        Objects.requireNonNull(reports, "reports");
        Thread hook = Thread.ofPlatform()
                .name("raddle-drain-on-exit")
                .inheritInheritableThreadLocals(false) // the thread lives as long as the JVM
                .unstarted(() -> run(grace, reports, pools));
        hook.setContextClassLoader(Thread.currentThread().getContextClassLoader()); // for `reports`
        Runtime.getRuntime().addShutdownHook(hook);
        return () -> remove(hook);
    }

    private static void run(Duration grace, Consumer<? super ShutdownReport> reports, List<ThreadPool> pools) {
        Deadline deadline = Deadline.after(TimeSource.system(), grace);
        for (ThreadPool pool : pools) {
            try {
                reports.accept(pool.drain(deadline.remaining()));
            } catch (Throwable failure) {
                UserCode.uncaught(failure); // the other pools are still drained
            }
        }
    }

    private static boolean remove(Thread hook) {
        try {
            return Runtime.getRuntime().removeShutdownHook(hook);
        } catch (IllegalStateException shuttingDown) {
            return false; // too late: the hook is running or has run
        }
    }
}
