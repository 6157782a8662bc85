package dev.raddle.flow.threads;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.task.ExceptionSink;
import dev.raddle.time.TimeSource;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;

/**
 * Executes the alarm actions of one run, which may call user code, in a platform thread that lives as long as there are
 * actions. Thus they do not block the timer thread, and are not delayed by actions that occupy all carrier threads. If
 * the time source {@linkplain TimeSource#follow executes them} itself, it does so in the thread that fires the alarm.
 */
public final class AlarmThread implements Executor {

    private final String flow;
    private final TimeSource time;
    private final ExceptionSink sink;
    private final ConcurrentLinkedQueue<Runnable> due = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isRunning = new AtomicBoolean();
    private volatile @Nullable Thread thread;

    public AlarmThread(String flow, TimeSource time, ExceptionSink sink) {
        this.flow = flow;
        this.time = time;
        this.sink = sink;
    }

    /** Executes the action of an alarm that fires in the calling thread. */
    public void executeFired(Runnable action) {
        if (!time.follow(() -> runInFiringThread(action))) {
            execute(action);
        }
    }

    /** Asks the time source whether the calling thread fires alarms and executes everything that is due. */
    public boolean followsFiringThread() {
        return time.follow(() -> {});
    }

    /** Executes an action in the platform thread. */
    @Override
    public void execute(Runnable action) {
        due.add(action);
        if (isRunning.compareAndSet(false, true)) {
            try {
                Thread.ofPlatform()
                        .daemon()
                        .name("raddle-flow-alarm")
                        .inheritInheritableThreadLocals(false)
                        .start(this::runDue);
            } catch (Throwable noThread) {
                sink.report("start of the alarm thread of flow \"" + flow + "\"", noThread);
                new OffloadExecutor(sink).execute(this::runDue);
            }
        }
    }

    private void runDue() {
        do {
            thread = Thread.currentThread();
            for (Runnable action; (action = due.poll()) != null; ) {
                run(action);
            }
            thread = null;
            isRunning.set(false);
        } while (!due.isEmpty() && isRunning.compareAndSet(false, true));
    }

    private void runInFiringThread(Runnable action) {
        boolean interrupted = Thread.interrupted(); // meant for the thread that advances the time, not for callbacks
        run(action);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run(Runnable action) {
        Thread.interrupted(); // the previous action may have left an interrupt
        try {
            action.run();
        } catch (Throwable failure) {
            sink.report("alarm of flow \"" + flow + "\"", failure);
        }
    }

    /** Returns whether the calling thread is the alarm thread. */
    public boolean isCurrentThread() {
        return thread == Thread.currentThread();
    }
}
