package dev.raddle.task;

import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Receives exceptions that have no effect on a task: those of listeners, resolvers and propagators, and what a task
 * throws after it was ended from outside, by a cancellation or a timeout. Each is counted and passed to a target. Not
 * reported is a task's answer to its interrupt: {@link InterruptedException}, {@link
 * java.util.concurrent.CancellationException} or {@link java.nio.channels.ClosedByInterruptException}, thrown or as the
 * cause of what is thrown.
 *
 * {@snippet :
 * ExceptionSink sink = ExceptionSink.to((source, error) -> meters.counter("raddle.suppressed", source).increment());
 * }
 */
public final class ExceptionSink {

    private static final long ONE_MINUTE = 60_000_000_000L;
    private static final int LINES_PER_MINUTE = 10;

    private final BiConsumer<String, Throwable> target;
    private final LongAdder count = new LongAdder();

    private ExceptionSink(BiConsumer<String, Throwable> target) {
        this.target = target;
    }

    /**
     * Returns a sink that passes exceptions to a target.
     *
     * @param target the target, which is called with a description of the source and with the exception, in the thread
     *     in which it was thrown; an exception from the target goes to the {@linkplain #logging() log}, and one from
     *     the log to the uncaught exception handler of that thread
     * @return a new sink
     */
    public static ExceptionSink to(BiConsumer<String, Throwable> target) {
        return new ExceptionSink(Objects.requireNonNull(target, "target"));
    }

    /**
     * Returns a sink that writes to the {@link System.Logger} {@code dev.raddle}, at most ten messages a minute. The
     * first message after a pause includes the number of omitted ones.
     *
     * @return a new sink
     */
    public static ExceptionSink logging() {
        return new ExceptionSink(new Log(TimeSource.system()));
    }

    /**
     * Returns a sink that passes at most ten exceptions a minute to a target, such as a log. The source of the first
     * one after a pause includes the number of omitted ones.
     *
     * @param target the target, as in {@link #to}
     * @param time the clock that measures the minutes
     * @return a new sink, which counts omitted exceptions, too
     */
    public static ExceptionSink limited(BiConsumer<String, Throwable> target, TimeSource time) {
        return new ExceptionSink(
                new Log(Objects.requireNonNull(time, "time"), Objects.requireNonNull(target, "target")));
    }

    /**
     * Counts an exception and passes it to the target. Never throws.
     *
     * @param source a description of the source, such as {@code concurrencyResolver of group "vip"}
     * @param error the exception
     */
    public void report(String source, Throwable error) {
        count.increment();
        try {
            target.accept(source, error);
        } catch (Throwable failure) {
            UserCode.addSuppressed(failure, error);
            Log.write("exception sink, reporting " + source, failure);
        }
    }

    /**
     * Calls user code whose exceptions have no effect, in the calling thread and under the context class loader that it
     * has. Whatever the code throws, an {@link Error} included, is {@linkplain #report reported}. Never throws.
     *
     * @param source the supplier of a description of the source, called only if the code throws
     * @param userCode the code
     */
    public void guard(Supplier<String> source, Runnable userCode) {
        try {
            userCode.run();
        } catch (Throwable failure) {
            UserCode.run(() -> report(source.get(), failure)); // a supplier may throw, too
        }
    }

    /**
     * Returns the number of reported exceptions.
     *
     * @return the number of calls to {@link #report}
     */
    public long count() {
        return count.sum();
    }

    @Override
    public String toString() {
        return "exception sink, " + count() + " so far";
    }

    /** Limits the rate: a listener that throws for every task must not fill the disk. */
    static final class Log implements BiConsumer<String, Throwable> {

        private final TimeSource time;
        private final @Nullable BiConsumer<String, Throwable> target; // null for the log
        private final AtomicLong minute = new AtomicLong(Long.MIN_VALUE); // the minute that `written` counts
        private final AtomicLong written = new AtomicLong();
        private final LongAdder omitted = new LongAdder();

        Log(TimeSource time) {
            this(time, null);
        }

        Log(TimeSource time, @Nullable BiConsumer<String, Throwable> target) {
            this.time = time;
            this.target = target;
        }

        @Override
        public void accept(String source, Throwable error) {
            long now = Math.floorDiv(time.nanoTime(), ONE_MINUTE);
            long before = minute.get();
            if (now != before && minute.compareAndSet(before, now)) {
                written.set(0);
            }
            if (written.incrementAndGet() > LINES_PER_MINUTE) {
                omitted.increment();
                return;
            }
            long left = omitted.sumThenReset();
            String text = left == 0 ? source : source + " (and " + left + " more that were not written)";
            if (target == null) {
                write(text, error);
            } else {
                target.accept(text, error);
            }
        }

        static void write(String source, Throwable error) {
            UserCode.warn("dev.raddle", "suppressed exception from " + source, error);
        }
    }
}
