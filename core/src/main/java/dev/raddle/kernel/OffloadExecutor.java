package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.util.concurrent.Executor;

/**
 * Runs user code that must not delay an alarm or a task in a new virtual thread, unless the time source
 * {@linkplain TimeSource#follow runs it}.
 *
 * @param sink the sink for the failure if no thread can be started; the caller then runs the action itself
 * @param time the time source
 */
public record OffloadExecutor(ExceptionSink sink, TimeSource time) implements Executor {

    /**
     * Creates an executor for real time.
     *
     * @param sink the sink for the failure if no thread can be started
     */
    public OffloadExecutor(ExceptionSink sink) {
        this(sink, TimeSource.system());
    }

    @Override
    public void execute(Runnable action) {
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
