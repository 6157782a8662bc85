package dev.raddle.task;

import java.util.concurrent.Executor;

/**
 * Runs foreign code that must hold up neither an alarm nor a task, in a virtual thread of its own.
 *
 * @param sink hears if no thread can be had; the caller then does the work itself, for it must be done
 */
public record Elsewhere(ExceptionSink sink) implements Executor {

    @Override
    public void execute(Runnable action) {
        try {
            Scheduler.virtualThreads().execute(action);
        } catch (Throwable noThread) {
            sink.report("start of a virtual thread; the caller does the work itself", noThread);
            action.run();
        }
    }
}
