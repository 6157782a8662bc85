package dev.raddle.slf4j;

import dev.raddle.task.ExceptionSink;
import dev.raddle.time.TimeSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Makes sinks that log, as warnings with their stack traces, the exceptions that must not change a task: those of listeners,
 * resolvers, propagators. Ten a minute at most, as {@link ExceptionSink#limited} says: a listener that throws for every
 * task must not fill the disk. All of them are {@linkplain ExceptionSink#count() counted}.
 *
 * {@snippet :
 * GroupPolicy policy =
 *         GroupPolicy.builder().exceptionSink(LoggingSink.create()).build();
 * }
 */
public final class LoggingSink {

    private LoggingSink() {}

    /**
     * Returns a sink that logs to the logger {@code dev.raddle}.
     *
     * @return a new sink, with a limit of its own
     */
    public static ExceptionSink create() {
        return to(LoggerFactory.getLogger("dev.raddle"));
    }

    /**
     * Returns a sink that logs to a given logger.
     *
     * @param logger where to
     * @return a new sink, with a limit of its own
     */
    public static ExceptionSink to(Logger logger) {
        return to(logger, TimeSource.system());
    }

    /**
     * Returns a sink that logs to a given logger, and counts minutes by a given clock.
     *
     * @param logger where to
     * @param time what says when a minute is over
     * @return a new sink, with a limit of its own
     */
    public static ExceptionSink to(Logger logger, TimeSource time) {
        return ExceptionSink.limited(
                (source, error) -> logger.warn("suppressed exception from {}", source, error), time);
    }
}
