package dev.raddle.task;

import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;

/**
 * How often a task is tried, and how long it rests in between. Immutable; one policy serves any number of tasks.
 *
 * {@snippet :
 * RetryPolicy policy = RetryPolicy.builder()
 *         .maxAttempts(4)
 *         .exponentialBackoff(Duration.ofMillis(50), 2, Duration.ofSeconds(1))
 *         .fullJitter()
 *         .retryIf((attempt, failure) -> failure instanceof IOException)
 *         .build();
 * }
 *
 * <p>An {@link InterruptedException}, a {@link CancellationException} and an {@link Error} are never retried. When no
 * attempt is left, the last failure is the task's, with the earlier ones as suppressed exceptions, oldest first.
 *
 * @see <a href="https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/">Brooker, "Timeouts,
 *     retries, and backoff with jitter"</a>
 */
public final class RetryPolicy {

    /** Decides whether an attempt that failed is followed by another. */
    @FunctionalInterface
    public interface RetryCondition {
        /**
         * Decides. Called in the task's thread; what it throws is the task's failure.
         *
         * @param attempt which attempt failed, 1 for the first
         * @param failure what it threw
         * @return true if another attempt may follow
         */
        boolean shouldRetry(int attempt, Throwable failure);
    }

    /** Says how long to rest after an attempt that failed. */
    @FunctionalInterface
    public interface BackoffStrategy {
        /**
         * Returns the delay. Called in the task's thread; what it throws is the task's failure.
         *
         * @param attempt which attempt failed, 1 for the first
         * @param failure what it threw
         * @return how long to rest; zero or less does not
         */
        Duration nextDelay(int attempt, Throwable failure);
    }

    private static final RetryPolicy NO_RETRY = new RetryPolicy(new Builder());

    private final int maxAttempts;
    private final RetryCondition condition;
    private final BackoffStrategy backoff;
    private final boolean jitter;

    private RetryPolicy(Builder builder) {
        this.maxAttempts = builder.maxAttempts;
        this.condition = builder.condition;
        this.backoff = builder.backoff;
        this.jitter = builder.jitter;
    }

    /**
     * Tries once.
     *
     * @return the same policy at every call
     */
    public static RetryPolicy noRetry() {
        return NO_RETRY;
    }

    /**
     * Tries several times, without a rest.
     *
     * @param most how often in all, at least 1
     * @return a new policy
     * @throws IllegalArgumentException if it is less than 1
     */
    public static RetryPolicy attempts(int most) {
        return builder().maxAttempts(most).build();
    }

    /**
     * Tries several times, with the same rest in between.
     *
     * @param most how often in all, at least 1
     * @param delay the rest, not negative
     * @return a new policy
     * @throws IllegalArgumentException if one of them is too small
     */
    public static RetryPolicy fixedDelay(int most, Duration delay) {
        return builder().maxAttempts(most).fixedDelay(delay).build();
    }

    /**
     * Tries several times, with rests that grow.
     *
     * @param most how often in all, at least 1
     * @param first the first rest, not negative
     * @param factor by which each rest is longer than the one before, at least 1
     * @param max the longest rest, not negative
     * @return a new policy
     * @throws IllegalArgumentException if one of them is too small
     */
    public static RetryPolicy exponentialBackoff(int most, Duration first, double factor, Duration max) {
        return builder()
                .maxAttempts(most)
                .exponentialBackoff(first, factor, max)
                .build();
    }

    /**
     * Begins a policy that tries once.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns how often a task is tried.
     *
     * @return the number of attempts in all, at least 1
     */
    public int maxAttempts() {
        return maxAttempts;
    }

    /**
     * Returns whether another attempt follows a failed one.
     *
     * @param attempt the number of the failed attempt, 1 for the first
     * @param failure what it threw
     * @return false after the last attempt, an {@code Error}, an interrupt, a cancellation, or if the condition says so
     */
    public boolean allowsRetry(int attempt, Throwable failure) {
        return attempt < maxAttempts
                && !(failure instanceof Error)
                && !(failure instanceof InterruptedException)
                && !(failure instanceof CancellationException)
                && condition.shouldRetry(attempt, failure);
    }

    /**
     * Returns the delay between a failed attempt and the next one. With jitter, each call draws another.
     *
     * @param attempt the number of the failed attempt, 1 for the first
     * @param failure what it threw
     * @return the delay in nanoseconds, at least 0
     */
    public long delayNanos(int attempt, Throwable failure) {
        long nanos = Math.max(0, Deadline.nanos(backoff.nextDelay(attempt, failure)));
        return jitter && nanos > 0 ? ThreadLocalRandom.current().nextLong(nanos + 1) : nanos;
    }

    @Override
    public String toString() {
        return "retry policy, " + maxAttempts + (maxAttempts == 1 ? " attempt" : " attempts at most");
    }

    /** Collects a policy's rules. Not thread-safe. */
    public static final class Builder {
        private int maxAttempts = 1;
        private RetryCondition condition = (attempt, failure) -> true;
        private BackoffStrategy backoff = (attempt, failure) -> Duration.ZERO;
        private boolean jitter;

        private Builder() {}

        /**
         * Sets how often a task is tried; once unless set.
         *
         * @param most how often in all, at least 1
         * @return this builder
         * @throws IllegalArgumentException if it is less than 1
         */
        public Builder maxAttempts(int most) {
            if (most < 1) {
                throw new IllegalArgumentException("maxAttempts must be at least 1, was " + most);
            }
            maxAttempts = most;
            return this;
        }

        /**
         * Sets which failures are retried; all unless set, except those that never are.
         *
         * @param decides asked after each failure that is not the last
         * @return this builder
         */
        public Builder retryIf(RetryCondition decides) {
            condition = Objects.requireNonNull(decides, "condition");
            return this;
        }

        /**
         * Sets the rest by a function.
         *
         * @param delays asked before each rest
         * @return this builder
         */
        public Builder backoff(BackoffStrategy delays) {
            backoff = Objects.requireNonNull(delays, "backoff");
            return this;
        }

        /**
         * Sets the same rest after every failure.
         *
         * @param delay not negative
         * @return this builder
         * @throws IllegalArgumentException if it is negative
         */
        public Builder fixedDelay(Duration delay) {
            requireNotNegative("delay", delay);
            return backoff((attempt, failure) -> delay);
        }

        /**
         * Sets rests that grow: {@code first * factor^(attempt - 1)}, at most {@code max}.
         *
         * @param first the first rest, not negative
         * @param factor at least 1
         * @param max the longest rest, not negative
         * @return this builder
         * @throws IllegalArgumentException if one of them is too small, or the factor is not a number
         */
        public Builder exponentialBackoff(Duration first, double factor, Duration max) {
            requireNotNegative("first", first);
            requireNotNegative("max", max);
            if (!(factor >= 1)) {
                throw new IllegalArgumentException("factor must be at least 1, was " + factor);
            }
            double firstNanos = Deadline.nanos(first);
            long longest = Deadline.nanos(max);
            // A double too large for a long becomes the largest long, and 0 * infinity becomes 0.
            return backoff((attempt, failure) ->
                    Duration.ofNanos(Math.min(longest, (long) (firstNanos * Math.pow(factor, attempt - 1.0)))));
        }

        /**
         * Makes each rest a random part of what it would be, from none to all of it, so that clients that failed together do
         * not come back together.
         *
         * @return this builder
         */
        public Builder fullJitter() {
            jitter = true;
            return this;
        }

        /**
         * Makes the policy.
         *
         * @return a new policy
         */
        public RetryPolicy build() {
            return new RetryPolicy(this);
        }

        private static void requireNotNegative(String name, Duration length) {
            if (length.isNegative()) {
                throw new IllegalArgumentException(name + " must not be negative, was " + length);
            }
        }
    }
}
