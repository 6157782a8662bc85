package dev.raddle.group;

import dev.raddle.task.CheckReturnValue;
import java.util.Objects;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * A limit of a group that follows what the callee of its tasks can bear. The limit moves between {@link #min(int) min}
 * and {@link #max(int) max}, by the run times of the group's tasks and by the tasks that were dropped. Immutable, and
 * usable for any number of groups.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .adaptiveLimit(host -> AdaptiveLimit.gradient().max(200).dropWhen(error -> error instanceof BusyException))
 *         .build();
 * }
 *
 * <p>By Little's law a callee of c servers with a service time s has the throughput c / s from c concurrent calls on;
 * each further call only lengthens the others. So the limit that is sought is the smallest one at which the run time
 * is still that of an unloaded callee, plus a small surplus that keeps a queue in front of the callee's servers.
 *
 * <p>A task counts only if the group was near its limit when it ended: otherwise nothing is known about a higher limit.
 * A task is <i>dropped</i> if it ran into its timeout, unless it had spent most of it in the group's queue, or if it
 * has thrown an exception that {@link #dropWhen} accepts. Other tasks that fail, are cancelled or were repeated by a
 * retry policy do not count.
 *
 * <p>{@link #gradient()} and {@link #vegas()} compare run times with those of an unloaded callee. They lower the limit
 * for a moment, at most a tenth of the time, to measure these again, so that they follow a callee that becomes faster
 * or slower and do not take a permanent overload for normal.
 *
 * @see <a href="https://github.com/Netflix/concurrency-limits">Netflix concurrency-limits</a>
 * @see <a href="https://doi.org/10.1109/49.464716">L. Brakmo, L. Peterson, "TCP Vegas", 1995</a>
 * @see <a href="https://doi.org/10.1287/opre.9.3.383">J. Little, "A Proof for the Queuing Formula L = λW", 1961</a>
 */
@CheckReturnValue
public final class AdaptiveLimit {

    /**
     * Computes the next limit of a group from the measurements of one window. One object may serve several groups, and
     * is then called concurrently; for one group it is called by one thread at a time.
     */
    @FunctionalInterface
    public interface Algorithm {
        /**
         * Returns the next limit. Called at most once per window, by the thread that ended the last task of the window,
         * outside every lock, before that task is settled. If it throws, the limit stays, and the exception is reported
         * to the policy's sink.
         *
         * @param sample the measurements of the window
         * @return the next limit; a number outside of min and max is replaced by the nearer of the two
         */
        int next(Sample sample);
    }

    /** An algorithm that says why it has changed the limit. */
    abstract static class Explained implements Algorithm {
        double limit; // with a fraction
        String reason = "";
    }

    /**
     * The measurements of one window: of the tasks of a group that have ended since the last decision while the group
     * was near its limit. Times are in nanoseconds, and are 0 if no task was counted.
     *
     * @param limit the limit in force
     * @param count the number of tasks whose run time was measured
     * @param drops the number of dropped tasks, which are not part of {@code count}
     * @param meanNanos the mean of the run times, where each counts at most eight times the baseline
     * @param baselineNanos the mean run time of an unloaded callee, as far as it is known: measured when the limit was
     *     lowered for a moment, or else the smallest mean of the windows so far
     * @param maxRunning the largest number of slots that were taken when a task ended
     */
    public record Sample(int limit, int count, int drops, long meanNanos, long baselineNanos, int maxRunning) {

        /** Returns the same measurements with another baseline. */
        Sample withBaseline(long nanos) {
            return new Sample(limit, count, drops, meanNanos, nanos, maxRunning);
        }

        /** Returns whether more than one task in a hundred was dropped. */
        boolean isDropping() {
            return drops * 100L > count + drops;
        }
    }

    private static final int DEFAULT_MAX = 1_000;
    private static final int DEFAULT_INITIAL = 10;

    private final String name;
    private final Supplier<Algorithm> algorithm;
    private final boolean probes;
    final int min;
    final int max;
    final int initial;
    private final Predicate<Throwable> dropWhen;

    private AdaptiveLimit(
            String name,
            Supplier<Algorithm> algorithm,
            boolean probes,
            int min,
            int max,
            int initial,
            Predicate<Throwable> dropWhen) {
        this.name = name;
        this.algorithm = algorithm;
        this.probes = probes;
        this.min = min;
        this.max = max;
        this.initial = initial;
        this.dropWhen = dropWhen;
    }

    private AdaptiveLimit(String name, Supplier<Algorithm> algorithm, boolean probes) {
        this(name, algorithm, probes, 1, DEFAULT_MAX, DEFAULT_INITIAL, error -> false);
    }

    /**
     * Returns a limit that is multiplied by the ratio of the unloaded run time to the current one, and grows by a part
     * of its square root. The first choice if the callee does not refuse calls by itself.
     *
     * @return a limit between 1 and 1000 that begins at 10
     */
    public static AdaptiveLimit gradient() {
        return new AdaptiveLimit("gradient", GradientAlgorithm::new, true);
    }

    /**
     * Returns a limit that grows while no tasks are dropped, and is multiplied by 0.9 if more than one in a hundred is:
     * additive increase, multiplicative decrease. For callees that refuse calls when they are full.
     *
     * @return a limit between 1 and 1000 that begins at 10
     */
    public static AdaptiveLimit aimd() {
        return new AdaptiveLimit("aimd", AimdAlgorithm::new, false);
    }

    /**
     * Returns a limit that moves by small steps, so that a small number of calls waits inside the callee.
     *
     * @return a limit between 1 and 1000 that begins at 10
     */
    public static AdaptiveLimit vegas() {
        return new AdaptiveLimit("vegas", VegasAlgorithm::new, true);
    }

    /**
     * Returns a limit that follows an algorithm of the caller. The limit is not lowered to measure the baseline.
     *
     * @param algorithm the algorithm
     * @return a limit between 1 and 1000 that begins at 10
     */
    public static AdaptiveLimit custom(Algorithm algorithm) {
        Objects.requireNonNull(algorithm, "algorithm");
        return new AdaptiveLimit("custom", () -> algorithm, false);
    }

    /**
     * Returns this limit with another smallest value. If the other values are smaller, they become equal to it.
     *
     * @param limit the smallest limit, at least 1
     * @return a changed copy
     * @throws IllegalArgumentException if it is less than 1
     */
    public AdaptiveLimit min(int limit) {
        GroupExecutor.requireAtLeastOne("min", limit);
        return new AdaptiveLimit(
                name, algorithm, probes, limit, Math.max(limit, max), Math.max(limit, initial), dropWhen);
    }

    /**
     * Returns this limit with another largest value. If the other values are larger, they become equal to it. The
     * bulkhead {@code maxInFlight} of the group is a second bound.
     *
     * @param limit the largest limit, at least 1
     * @return a changed copy
     * @throws IllegalArgumentException if it is less than 1
     */
    public AdaptiveLimit max(int limit) {
        GroupExecutor.requireAtLeastOne("max", limit);
        return new AdaptiveLimit(
                name, algorithm, probes, Math.min(limit, min), limit, Math.min(limit, initial), dropWhen);
    }

    /**
     * Returns this limit with another first value, which each life of a group begins with.
     *
     * @param limit the first limit, at least 1; if it is outside of min and max, the nearer of the two is used
     * @return a changed copy
     * @throws IllegalArgumentException if it is less than 1
     */
    public AdaptiveLimit initial(int limit) {
        GroupExecutor.requireAtLeastOne("initial", limit);
        return new AdaptiveLimit(name, algorithm, probes, min, max, Math.clamp(limit, min, max), dropWhen);
    }

    /**
     * Returns this limit with another notion of a drop, besides timeouts.
     *
     * @param isDrop returns whether a task that has thrown an exception was dropped because the callee is overloaded;
     *     called by the thread that ran the task, outside every lock and before the task's slots are free, so it must
     *     not wait for tasks of the group; if it throws, the task does not count, and the
     *     exception is reported to the policy's sink
     * @return a changed copy
     */
    public AdaptiveLimit dropWhen(Predicate<Throwable> isDrop) {
        return new AdaptiveLimit(name, algorithm, probes, min, max, initial, Objects.requireNonNull(isDrop, "isDrop"));
    }

    Algorithm newAlgorithm() {
        return algorithm.get();
    }

    boolean probes() {
        return probes;
    }

    /** Returns whether a failure that is not a timeout was a drop. Calls user code. */
    boolean isDrop(Throwable error) {
        return dropWhen.test(error);
    }

    @Override
    public String toString() {
        return name + " limit from " + min + " to " + max;
    }
}
