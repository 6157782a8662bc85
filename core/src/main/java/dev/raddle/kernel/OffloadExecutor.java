package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs what must not delay an alarm or a task in another thread, unless the time source
 * {@linkplain TimeSource#follow runs it}: what an alarm decides in one of a few platform threads, and user code that
 * may take long in a new virtual thread. Each action begins with a clear interrupt status.
 *
 * @param sink the sink for the failure if no thread can be started; the caller then runs the action itself
 * @param time the time source
 * @param loader the context class loader of the code: that of the thread that has created what it belongs to
 * @param decides whether the actions are decisions, which must not wait for a carrier
 */
public record OffloadExecutor(
        ExceptionSink sink, TimeSource time, @Nullable ClassLoader loader, boolean decides) implements Executor {

    /**
     * Creates an executor for the decisions of alarms that belong to the calling thread.
     *
     * @param sink the sink for the failure if no thread can be started
     * @param time the time source of the alarms
     */
    public OffloadExecutor(ExceptionSink sink, TimeSource time) {
        this(sink, time, Thread.currentThread().getContextClassLoader(), true);
    }

    /**
     * Returns an executor for user code that may take long.
     *
     * @return an executor with the same sink and time source
     */
    public OffloadExecutor forLongActions() {
        return new OffloadExecutor(sink, time, loader, false);
    }

    @Override
    public void execute(Runnable code) {
        Runnable action = () -> BorrowedThread.run(loader, sink, code);
        if (time.follow(action)) {
            return;
        }
        if (decides) {
            DecisionThreads.SHARED.execute(action, sink);
            return;
        }
        try {
            Scheduler.virtualThreads().execute(action);
        } catch (Throwable noThread) {
            sink.report("start of a virtual thread; the caller runs the action itself", noThread);
            action.run();
        }
    }
}
