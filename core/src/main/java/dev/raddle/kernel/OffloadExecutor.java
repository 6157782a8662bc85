package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Scheduler;
import dev.raddle.time.TimeSource;
import java.util.concurrent.Executor;

/**
 * Runs user code that must hold up neither an alarm nor a task, in a virtual thread of its own, unless the time source
 * {@linkplain TimeSource#follow takes it over}.
 *
 * @param sink receives the failure if no thread can be started; the caller then does the work itself, for it must be
 *     done
 * @param time the time source whose alarms need user code to be run
 */
public record OffloadExecutor(ExceptionSink sink, TimeSource time) implements Executor {

    /**
     * Creates one for real time.
     *
     * @param sink receives the failure if no thread can be started
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
            sink.report("start of a virtual thread; the caller does the work itself", noThread);
            action.run();
        }
    }
}
