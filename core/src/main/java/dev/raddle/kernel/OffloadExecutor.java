package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * Runs user code that must not delay an alarm or a task in a new virtual thread, unless the time source
 * {@linkplain TimeSource#follow runs it}.
 *
 * @param sink the sink for the failure if no thread can be started; the caller then runs the action itself
 * @param time the time source
 * @param loader the context class loader of the code: that of the thread that has created what it belongs to
 */
public record OffloadExecutor(ExceptionSink sink, TimeSource time, @Nullable ClassLoader loader) implements Executor {

    /**
     * Creates an executor for code that belongs to the calling thread.
     *
     * @param sink the sink for the failure if no thread can be started
     * @param time the time source
     */
    public OffloadExecutor(ExceptionSink sink, TimeSource time) {
        this(sink, time, Thread.currentThread().getContextClassLoader());
    }

    /**
     * Creates an executor for real time.
     *
     * @param sink the sink for the failure if no thread can be started
     */
    public OffloadExecutor(ExceptionSink sink) {
        this(sink, TimeSource.system());
    }

    @Override
    public void execute(Runnable code) {
        Runnable action = () -> BorrowedThread.run(loader, sink, code);
        if (time.follow(action)) {
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
