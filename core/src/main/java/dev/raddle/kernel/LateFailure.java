package dev.raddle.kernel;

import dev.raddle.task.ExceptionSink;
import java.nio.channels.ClosedByInterruptException;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;

/**
 * What a task throws after it was ended from outside. That does not change its outcome and reaches no waiting thread.
 */
public final class LateFailure {

    private LateFailure() {}

    /**
     * Reports an exception as {@link ExceptionSink} describes, unless it is the task's answer to its interrupt.
     *
     * @param sink the sink
     * @param task a description of the task
     * @param thrown the exception
     */
    public static void report(ExceptionSink sink, Object task, Throwable thrown) {
        if (!isAnswer(thrown) && !isAnswer(thrown.getCause())) {
            sink.report(task + ", which had ended before it threw", thrown);
        }
    }

    private static boolean isAnswer(@Nullable Throwable thrown) {
        return thrown instanceof InterruptedException
                || thrown instanceof CancellationException
                || thrown instanceof ClosedByInterruptException;
    }
}
