package dev.raddle.pool;

import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A JVM shutdown hook that drains pools.
 *
 * @see ThreadPool#drainOnExit
 */
public final class ExitHook implements AutoCloseable {
    private final Thread thread;

    ExitHook(Duration grace, Consumer<? super ShutdownReport> reports, List<ThreadPool> pools) {
        Objects.requireNonNull(grace, "grace");
        Objects.requireNonNull(reports, "reports");
        thread = Thread.ofPlatform()
                .name("raddle-drain-on-exit")
                .inheritInheritableThreadLocals(false) // the thread lives as long as the JVM
                .unstarted(() -> run(grace, reports, pools));
        thread.setContextClassLoader(Thread.currentThread().getContextClassLoader()); // for `reports`
        Runtime.getRuntime().addShutdownHook(thread);
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

    /** Removes the hook, so that the pools are not drained at exit. Has no effect once the JVM is shutting down. */
    @Override
    public void close() {
        try {
            Runtime.getRuntime().removeShutdownHook(thread);
        } catch (IllegalStateException shuttingDown) {
            // too late: the hook is running or has run
        }
    }
}
