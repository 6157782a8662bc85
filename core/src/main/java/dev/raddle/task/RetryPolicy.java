package dev.raddle.task;

import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;

/**
 * The maximum number of attempts of a task, and the delays between them. Immutable; a policy may be shared by any
 * number of tasks.
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
 * <p>A task is never retried after an {@link InterruptedException}, a {@link CancellationException} or an {@link
 * Error}. If the last attempt fails, the task fails with its exception, and the earlier ones are suppressed exceptions,
 * oldest first; of more than 32 earlier ones, the first 16 and the latest 16.
 *
 * @see <a href="https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/">Brooker, "Timeouts,
 *     retries, and backoff with jitter"</a>
 */
public final class RetryPolicy {

    private static final RetryPolicy NO_RETRY = new RetryPolicy(new Builder());

    private final int maxAttempts;
    private final BiPredicate<Integer, Throwable> condition;
    private final BiFunction<Integer, Throwable, Duration> backoff;
    private final boolean jitter;

    private RetryPolicy(Builder builder) {
        this.maxAttempts = builder.maxAttempts;
        this.condition = builder.condition;
        this.backoff = builder.backoff;
        this.jitter = builder.jitter;
    }

    /**
     * Returns the policy of a single attempt.
     *
     * @return the policy, always the same object
     */
    public static RetryPolicy noRetry() {
        return NO_RETRY;
    }

    /**
     * Returns a policy of several attempts without delays.
     *
     * @param maxAttempts the maximum number of attempts, at least 1
     * @return a new policy
     * @throws IllegalArgumentException if {@code maxAttempts} is less than 1
     */
    public static RetryPolicy attempts(int maxAttempts) {
        return builder().maxAttempts(maxAttempts).build();
    }

    /**
     * Returns a policy of several attempts with a constant delay between them.
     *
     * @param maxAttempts the maximum number of attempts, at least 1
     * @param delay the delay, not negative
     * @return a new policy
     * @throws IllegalArgumentException if an argument is too small
     */
    public static RetryPolicy fixedDelay(int maxAttempts, Duration delay) {
        return builder().maxAttempts(maxAttempts).fixedDelay(delay).build();
    }

    /**
     * Returns a policy of several attempts with growing delays between them.
     *
     * @param maxAttempts the maximum number of attempts, at least 1
     * @param first the first delay, not negative
     * @param factor the growth factor from one delay to the next, at least 1
     * @param max the longest delay, not negative
     * @return a new policy
     * @throws IllegalArgumentException if an argument is too small
     */
    public static RetryPolicy exponentialBackoff(int maxAttempts, Duration first, double factor, Duration max) {
        return builder()
                .maxAttempts(maxAttempts)
                .exponentialBackoff(first, factor, max)
                .build();
    }

    /**
     * Returns a builder whose policy is initially a single attempt.
     *
     * @return a new builder
     */
    public static Builder builder() {
        return new Builder();
    }

    /**
     * Returns the maximum number of attempts.
     *
     * @return the number, including the first attempt, at least 1
     */
    public int maxAttempts() {
        return maxAttempts;
    }

    /**
     * Returns whether another attempt follows a failed one.
     *
     * @param attempt the number of the failed attempt, 1 for the first
     * @param failure the exception that the attempt threw
     * @return false after the last attempt, an {@code Error}, an interrupt or a cancellation, or if the condition
     *     returns false
     */
    public boolean allowsRetry(int attempt, Throwable failure) {
        return attempt < maxAttempts
                && !(failure instanceof Error)
                && !(failure instanceof InterruptedException)
                && !(failure instanceof CancellationException)
                && condition.test(attempt, failure);
    }

    /**
     * Returns the delay between a failed attempt and the next one. With jitter, each call returns a new random delay.
     *
     * @param attempt the number of the failed attempt, 1 for the first
     * @param failure the exception that the attempt threw
     * @return the delay in nanoseconds, at least 0
     */
    public long delayNanos(int attempt, Throwable failure) {
        long nanos = Math.max(0, Deadline.nanos(backoff.apply(attempt, failure)));
        return jitter && nanos > 0 ? ThreadLocalRandom.current().nextLong(nanos + 1) : nanos;
    }

    @Override
    public String toString() {
        return "retry policy, " + maxAttempts + (maxAttempts == 1 ? " attempt" : " attempts at most");
    }

    /** Builds a policy. Not thread-safe. */
    public static final class Builder {
        private int maxAttempts = 1;
        private BiPredicate<Integer, Throwable> condition = (attempt, failure) -> true;
        private BiFunction<Integer, Throwable, Duration> backoff = (attempt, failure) -> Duration.ZERO;
        private boolean jitter;

        private Builder() {}

        /**
         * Sets the maximum number of attempts. The default is 1.
         *
         * @param maxAttempts the maximum number of attempts, at least 1
         * @return this builder
         * @throws IllegalArgumentException if {@code maxAttempts} is less than 1
         */
        public Builder maxAttempts(int maxAttempts) {
            if (maxAttempts < 1) {
                throw new IllegalArgumentException("maxAttempts must be at least 1, was " + maxAttempts);
            }
            this.maxAttempts = maxAttempts;
            return this;
        }

        /**
         * Sets which failures are retried. By default all are, except those that are never retried.
         *
         * @param condition the condition on the number of the failed attempt, 1 for the first, and its exception;
         *     evaluated in the task's thread after each failed attempt except the last. If it throws, the task fails
         *     with that exception
         * @return this builder
         */
        public Builder retryIf(BiPredicate<Integer, Throwable> condition) {
            this.condition = Objects.requireNonNull(condition, "condition");
            return this;
        }

        /**
         * Sets the function that computes the delays.
         *
         * @param backoff the function of the number of the failed attempt, 1 for the first, and its exception; zero or
         *     less means no delay. Called in the task's thread after each failed attempt that is retried. If it throws,
         *     the task fails with that exception
         * @return this builder
         */
        public Builder backoff(BiFunction<Integer, Throwable, Duration> backoff) {
            this.backoff = Objects.requireNonNull(backoff, "backoff");
            return this;
        }

        /**
         * Sets a constant delay.
         *
         * @param delay the delay, not negative
         * @return this builder
         * @throws IllegalArgumentException if the delay is negative
         */
        public Builder fixedDelay(Duration delay) {
            requireNotNegative("delay", delay);
            return backoff((attempt, failure) -> delay);
        }

        /**
         * Sets growing delays: {@code first * factor^(attempt - 1)}, at most {@code max}.
         *
         * @param first the first delay, not negative
         * @param factor the growth factor from one delay to the next, at least 1
         * @param max the longest delay, not negative
         * @return this builder
         * @throws IllegalArgumentException if an argument is too small, or the factor is NaN
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
         * Makes each delay random, uniformly between zero and its full length, so that clients that failed at the same
         * time do not retry at the same time.
         *
         * @return this builder
         */
        public Builder fullJitter() {
            jitter = true;
            return this;
        }

        /**
         * Builds the policy.
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
