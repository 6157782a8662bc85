package dev.raddle.group;

import dev.raddle.kernel.Draft;
import dev.raddle.task.CheckReturnValue;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A rule that stops the tasks of a group when too many of them have failed or were slow, and later lets a few of them
 * find out whether the callee has recovered. Immutable, and usable for any number of groups, each of which has a state
 * of its own.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .breaker(host -> CircuitBreaker.failureRate(0.5).over(100).openFor(Duration.ofSeconds(30)))
 *         .build();
 * }
 *
 * <p>The breaker counts tasks, with their retries inside, when their slots become free. A task that ran into its
 * timeout, or gave up because its next attempt would begin too late, has failed, and so has one that has thrown an
 * exception that {@link #countWhen} accepts; after another exception it has succeeded, because the callee has answered.
 * These do not count: a task that was cancelled, interrupted or rejected; one that has failed with a {@link
 * java.util.concurrent.RejectedExecutionException} of something that it called; one that had waited for more than half
 * of its timeout when that passed, because its callee need not be slow; and one that had begun before the latest
 * change of the state.
 *
 * @see <a href="https://pragprog.com/titles/mnee2/release-it-second-edition/">M. Nygard, "Release It!", 2018</a>
 */
@CheckReturnValue
public final class CircuitBreaker {

    /** What a breaker allows. {@link #toString} returns a word for people and for tags of meters. */
    public enum State {
        /** Tasks start as the other limits allow. */
        CLOSED("closed"),

        /** No task starts until a moment. */
        OPEN("open"),

        /** A few tasks start, and decide which of the other states is next. */
        HALF_OPEN("half-open");

        private final String word;

        State(String word) {
            this.word = word;
        }

        /** Returns the word of this state, such as {@code half-open}. */
        @Override
        public String toString() {
            return word;
        }
    }

    private static final class Values extends Draft<Values> {

        private double failureRate;
        private int count = 100;
        private @Nullable Duration span; // null if the window is a count
        private int atLeast = 20;
        private @Nullable Duration slow; // null if no task is slow
        private double slowRate = 1;
        private Duration openFor = Duration.ofSeconds(30);
        private Duration maxOpen = Duration.ofMinutes(10);
        private int probes = 5;
        private @Nullable Predicate<? super Throwable> countWhen; // null if each failure counts
        private boolean openWaits;
    }

    private final Values values;

    private CircuitBreaker(Values values) {
        this.values = values;
    }

    /**
     * Returns a breaker that opens when a part of the latest tasks has failed. By default these are the last 100, at
     * least 20; it is open for 30 seconds at first and ten minutes at most, and then 5 tasks decide.
     *
     * @param rate the part, more than 0 and at most 1
     * @return a new breaker
     * @throws IllegalArgumentException if the rate is out of its range
     */
    public static CircuitBreaker failureRate(double rate) {
        double checked = requireRate("failureRate", rate);
        return new CircuitBreaker(new Values().with(values -> values.failureRate = checked));
    }

    /**
     * Returns a copy that considers a number of tasks: those that have ended last.
     *
     * @param ends the number, from 1 to a million
     * @return the copy
     * @throws IllegalArgumentException if the number is out of its range
     */
    public CircuitBreaker over(int ends) {
        GroupExecutor.requireAtLeastOne("over", ends);
        if (ends > 1_000_000) {
            throw new IllegalArgumentException("over must be at most 1000000, was " + ends);
        }
        return new CircuitBreaker(values.with(draft -> {
            draft.count = ends;
            draft.span = null;
        }));
    }

    /**
     * Returns a copy that considers the tasks that have ended in the last time, which is measured in tenths of it.
     *
     * @param span the length of the time, positive
     * @return the copy
     * @throws IllegalArgumentException if the time is not positive
     */
    public CircuitBreaker over(Duration span) {
        requirePositive("over", span);
        return new CircuitBreaker(values.with(draft -> draft.span = span));
    }

    /**
     * Returns a copy that opens only after some number of tasks.
     *
     * @param ends the number, at least 1; if it is larger than that of {@link #over(int)}, that number is used
     * @return the copy
     * @throws IllegalArgumentException if it is less than 1
     */
    public CircuitBreaker atLeast(int ends) {
        GroupExecutor.requireAtLeastOne("atLeast", ends);
        return new CircuitBreaker(values.with(draft -> draft.atLeast = ends));
    }

    /**
     * Returns a copy that also opens when a part of the tasks was slow, whether they have failed or not. A slow probe
     * opens it again.
     *
     * @param time the run time of the slowest task that is not slow, without its wait and with all its attempts
     * @param rate the part, more than 0 and at most 1
     * @return the copy
     * @throws IllegalArgumentException if the time is not positive, or the rate out of its range
     */
    public CircuitBreaker slowerThan(Duration time, double rate) {
        requirePositive("slowerThan", time);
        double checked = requireRate("rate of slow tasks", rate);
        return new CircuitBreaker(values.with(draft -> {
            draft.slow = time;
            draft.slowRate = checked;
        }));
    }

    /**
     * Returns a copy with another time from the opening to the first probe. Each round of probes that fails doubles it,
     * up to {@link #maxOpen}, until the breaker closes.
     *
     * @param time the time, positive
     * @return the copy
     * @throws IllegalArgumentException if the time is not positive
     */
    public CircuitBreaker openFor(Duration time) {
        requirePositive("openFor", time);
        return new CircuitBreaker(values.with(draft -> draft.openFor = time));
    }

    /**
     * Returns a copy with another longest time to the next probe.
     *
     * @param time the time, positive; if it is shorter than that of {@link #openFor}, it is not used
     * @return the copy
     * @throws IllegalArgumentException if the time is not positive
     */
    public CircuitBreaker maxOpen(Duration time) {
        requirePositive("maxOpen", time);
        return new CircuitBreaker(values.with(draft -> draft.maxOpen = time));
    }

    /**
     * Returns a copy with another number of probes: the tasks that start in the half-open state. If all succeed, and
     * none of them is slow, the breaker closes; the first that does not opens it again. A probe that never ends keeps
     * the breaker half-open, so give the tasks a timeout.
     *
     * @param tasks the number, at least 1
     * @return the copy
     * @throws IllegalArgumentException if it is less than 1
     */
    public CircuitBreaker probes(int tasks) {
        GroupExecutor.requireAtLeastOne("probes", tasks);
        return new CircuitBreaker(values.with(draft -> draft.probes = tasks));
    }

    /**
     * Returns a copy with another notion of a failure, besides timeouts.
     *
     * @param counts returns whether an exception of a task is a failure of the callee; called by the thread that ran
     *     the task, outside every lock and before the task's slots are free, so it must not wait for tasks of the
     *     group; if it throws, the failure counts, and the exception is reported to the policy's sink
     * @return the copy
     */
    public CircuitBreaker countWhen(Predicate<? super Throwable> counts) {
        Objects.requireNonNull(counts, "counts");
        return new CircuitBreaker(values.with(draft -> draft.countWhen = counts));
    }

    /**
     * Returns a copy with which tasks wait while it is open, up to the queue threshold and the queue timeout, as in a
     * hold. Without this they are rejected.
     *
     * @return the copy
     */
    public CircuitBreaker openWaits() {
        return new CircuitBreaker(values.with(draft -> draft.openWaits = true));
    }

    private static double requireRate(String name, double rate) {
        if (!(rate > 0 && rate <= 1)) {
            throw new IllegalArgumentException(name + " must be more than 0 and at most 1, was " + rate);
        }
        return rate;
    }

    private static void requirePositive(String name, Duration time) {
        if (!time.isPositive()) {
            throw new IllegalArgumentException(name + " must be positive, was " + time);
        }
    }

    EndWindow newWindow() {
        boolean measures = values.slow != null;
        return values.span == null
                ? new EndWindow.Latest(values.count, measures)
                : new EndWindow.Recent(Deadline.nanos(values.span), measures);
    }

    /** Returns whether the ends of a window call for the open state. */
    boolean isReached(EndWindow window) {
        int least = values.span == null ? Math.min(values.atLeast, values.count) : values.atLeast;
        return window.ends() >= least
                && (window.failureRate() >= values.failureRate
                        || (values.slow != null && window.slowRate() >= values.slowRate));
    }

    boolean isSlow(long ranNanos) {
        return values.slow != null && ranNanos > Deadline.nanos(values.slow);
    }

    /** Returns whether an exception that is not a timeout is a failure. Calls user code. */
    boolean counts(Throwable error) {
        return values.countWhen == null || values.countWhen.test(error);
    }

    /** Returns the time to the next probe, after a number of rounds of probes that have failed. */
    long openNanos(int failedRounds) {
        long first = Deadline.nanos(values.openFor);
        long most = Math.max(first, Deadline.nanos(values.maxOpen));
        return failedRounds > Long.numberOfLeadingZeros(first) - 2 ? most : Math.min(most, first << failedRounds);
    }

    int probes() {
        return values.probes;
    }

    boolean waitsWhenOpen() {
        return values.openWaits;
    }

    private List<@Nullable Object> all() {
        return Arrays.asList(
                values.failureRate,
                values.count,
                values.span,
                values.atLeast,
                values.slow,
                values.slowRate,
                values.openFor,
                values.maxOpen,
                values.probes,
                values.countWhen,
                values.openWaits);
    }

    /** Returns whether the other object is a breaker with equal values and the same notion of a failure. */
    @Override
    public boolean equals(@Nullable Object other) {
        return this == other || (other instanceof CircuitBreaker breaker && all().equals(breaker.all()));
    }

    @Override
    public int hashCode() {
        return all().hashCode();
    }

    @Override
    public String toString() {
        String window = values.span == null ? "the last " + values.count + " tasks" : "the last " + values.span;
        return "breaker at " + EndWindow.percent(values.failureRate) + " failures over " + window;
    }
}
