package dev.raddle.slf4j;

import dev.raddle.task.ExceptionSink;
import dev.raddle.time.TimeSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Creates sinks that log, as warnings with their stack traces, exceptions that must not affect a task: those of
 * listeners, resolvers, propagators. At most ten are logged per minute, as in {@link ExceptionSink#limited}: a listener
 * that throws for every task must not fill the disk. All of them are {@linkplain ExceptionSink#count() counted}.
 *
 * {@snippet :
 * GroupPolicy policy =
 *           GroupPolicy.builder().exceptionSink(LoggingSink.create()).build();
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
     * @param logger the logger for the exceptions
     * @return a new sink, with a limit of its own
     */
    public static ExceptionSink to(Logger logger) {
        return to(logger, TimeSource.system());
    }

    /**
     * Returns a sink that logs to a given logger, and measures minutes with a given time source.
     *
     * @param logger the logger for the exceptions
     * @param time the time source that determines the end of a minute
     * @return a new sink, with a limit of its own
     */
    public static ExceptionSink to(Logger logger, TimeSource time) {
        return ExceptionSink.limited(
                (source, error) -> logger.warn("suppressed exception from {}", source, error), time);
    }
}
