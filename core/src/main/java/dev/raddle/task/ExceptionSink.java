package dev.raddle.task;

import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.BiConsumer;

/**
 * Where exceptions go that must not change what happens to a task: those of listeners, resolvers, propagators. Each is
 * counted and handed on.
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
     * Returns a sink that hands exceptions to an action.
     *
     * @param target receives what threw, for people, and what it threw, in the thread in which it was thrown; what the
     *     target throws itself goes to the {@linkplain #logging() log}, and what the log throws to the uncaught exception
     *     handler of that thread
     * @return a new sink
     */
    public static ExceptionSink to(BiConsumer<String, Throwable> target) {
        return new ExceptionSink(Objects.requireNonNull(target, "target"));
    }

    /**
     * Returns a sink that writes to the {@link System.Logger} {@code dev.raddle}, ten messages a minute at most; the first
     * after a pause says how many were left out.
     *
     * @return a new sink
     */
    public static ExceptionSink logging() {
        return new ExceptionSink(new Log(TimeSource.system()));
    }

    /**
     * Returns a sink that hands exceptions to an action that writes a log: ten a minute at most; the source of the first
     * after a pause says how many were left out.
     *
     * @param target as of {@link #to}
     * @param time what says when a minute is over
     * @return a new sink; it counts also what was left out
     */
    public static ExceptionSink limited(BiConsumer<String, Throwable> target, TimeSource time) {
        return new ExceptionSink(
                new Log(Objects.requireNonNull(time, "time"), Objects.requireNonNull(target, "target")));
    }

    /**
     * Counts an exception and hands it on. Never throws.
     *
     * @param source what threw, for people, such as {@code concurrencyResolver of group "vip"}
     * @param error what was thrown
     */
    public void report(String source, Throwable error) {
        count.increment();
        try {
            target.accept(source, error);
        } catch (Throwable failure) {
            if (failure != error) {
                failure.addSuppressed(error);
            }
            Log.write("exception sink, told of " + source, failure);
        }
    }

    /**
     * Returns how many exceptions have come here.
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

    /** Rate limited: a listener that throws for every task must not fill the disk. */
    static final class Log implements BiConsumer<String, Throwable> {

        private final TimeSource time;
        private final BiConsumer<String, Throwable> target;
        private final AtomicLong minute = new AtomicLong(Long.MIN_VALUE); // which one `written` is about
        private final AtomicLong written = new AtomicLong();
        private final LongAdder omitted = new LongAdder();

        Log(TimeSource time) {
            this(time, Log::write);
        }

        Log(TimeSource time, BiConsumer<String, Throwable> target) {
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
            target.accept(left == 0 ? source : source + " (and " + left + " more that were not written)", error);
        }

        static void write(String source, Throwable error) {
            UserCode.warn("dev.raddle", "suppressed exception from " + source, error);
        }
    }
}
