package dev.raddle.task;

import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BiFunction;
import java.util.function.BiPredicate;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The maximum number of attempts of a task, the delays between them, and the longest time of each. Immutable; a policy
 * may be shared by any number of tasks.
 *
 * {@snippet :
 * RetryPolicy policy = RetryPolicy.builder()
 *         .maxAttempts(4)
 *         .exponentialBackoff(Duration.ofMillis(50), 2, Duration.ofSeconds(1))
 *         .fullJitter()
 *         .attemptTimeout(Duration.ofMillis(300))
 *         .retryIf((attempt, failure) -> failure instanceof IOException)
 *         .build();
 * }
 *
 * <p>A task is never retried after an {@link InterruptedException}, a {@link CancellationException} or an {@link
 * Error}. If the last attempt fails, the task fails with its exception, and the earlier ones are suppressed exceptions,
 * oldest first; of more than 16 earlier ones, the first 8 and the latest 8.
 *
 * @see <a href="https://aws.amazon.com/builders-library/timeouts-retries-and-backoff-with-jitter/">Brooker, "Timeouts,
 *     retries, and backoff with jitter"</a>
 */
public final class RetryPolicy {

    private static final RetryPolicy NO_RETRY = new RetryPolicy(new Builder());

    private final int maxAttempts;
    private final @Nullable BiPredicate<Integer, Throwable> condition; // null if every failure is retried
    private final @Nullable BiFunction<Integer, Throwable, Duration> backoff; // null for no delay
    private final boolean jitter;
    private final @Nullable Duration attemptTimeout;
    private final @Nullable Predicate<@Nullable Object> unaccepted;

    private RetryPolicy(Builder builder) {
        this.maxAttempts = builder.maxAttempts;
        this.condition = builder.condition;
        this.backoff = builder.backoff;
        this.jitter = builder.jitter;
        this.attemptTimeout = builder.attemptTimeout;
        this.unaccepted = builder.unaccepted;
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
     * Returns whether a task is as it would be without this policy: called once, for as long as it takes.
     *
     * @return false if there may be a second attempt, or an attempt has a time limit
     */
    public boolean hasNoEffect() {
        return maxAttempts == 1 && attemptTimeout == null;
    }

    /**
     * Returns the longest time of an attempt.
     *
     * @return the time, or null if there is no limit
     */
    public @Nullable Duration attemptTimeout() {
        return attemptTimeout;
    }

    /**
     * Returns whether another attempt follows one that has returned a value.
     *
     * @param attempt the number of the attempt, 1 for the first
     * @param value the value
     * @return false after the last attempt, or if the policy has no condition on values or it returns false
     */
    public boolean allowsRetryAfter(int attempt, @Nullable Object value) {
        return unaccepted != null && attempt < maxAttempts && unaccepted.test(value);
    }

    /**
     * Returns whether another attempt follows a failed one.
     *
     * @param attempt the number of the failed attempt, 1 for the first
     * @param failure the exception that the attempt threw
     * @return false after the last attempt, an {@code Error}, an interrupt or a cancellation, or if the condition
     *     returns false, which does not matter after an {@link UnacceptedValueException}
     */
    public boolean allowsRetry(int attempt, Throwable failure) {
        return attempt < maxAttempts
                && !(failure instanceof Error)
                && !(failure instanceof InterruptedException)
                && !(failure instanceof CancellationException)
                && (failure instanceof UnacceptedValueException
                        || condition == null
                        || condition.test(attempt, failure));
    }

    /**
     * Returns the delay between a failed attempt and the next one. With jitter, each call returns a new random delay.
     *
     * @param attempt the number of the failed attempt, 1 for the first
     * @param failure the exception that the attempt threw
     * @return the delay in nanoseconds, at least 0
     */
    public long delayNanos(int attempt, Throwable failure) {
        long nanos = backoff == null ? 0 : Math.max(0, Deadline.nanos(backoff.apply(attempt, failure)));
        return jitter && nanos > 0 ? ThreadLocalRandom.current().nextLong(nanos + 1) : nanos;
    }

    @Override
    public String toString() {
        return "retry policy, " + maxAttempts + (maxAttempts == 1 ? " attempt" : " attempts at most");
    }

    /** Builds a policy. Not thread-safe. */
    public static final class Builder {
        private int maxAttempts = 1;
        private @Nullable BiPredicate<Integer, Throwable> condition;
        private @Nullable BiFunction<Integer, Throwable, Duration> backoff;
        private boolean jitter;
        private @Nullable Duration attemptTimeout;
        private @Nullable Predicate<@Nullable Object> unaccepted;

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
         * Sets which values are not accepted, so that another attempt follows. The value of the last attempt is always
         * accepted. By default all values are.
         *
         * @param condition the condition on the value of an attempt, evaluated in the task's thread after each attempt
         *     that returns, except the last. If it throws, that is the failure of the attempt
         * @return this builder
         */
        public Builder retryWhen(Predicate<@Nullable Object> condition) {
            this.unaccepted = Objects.requireNonNull(condition, "condition");
            return this;
        }

        /**
         * Sets the longest time of each attempt. An attempt that takes longer is interrupted and fails with a {@link
         * TaskTimeoutException}. The next one begins when that attempt has ended: one that ignores its interrupt is
         * bounded only by the timeout of the task, and its value does not count. By default there is no limit.
         *
         * @param longest the longest time, more than zero
         * @return this builder
         * @throws IllegalArgumentException if it is zero or negative
         */
        public Builder attemptTimeout(Duration longest) {
            if (longest.compareTo(Duration.ZERO) <= 0) {
                throw new IllegalArgumentException("attemptTimeout must be more than zero, was " + longest);
            }
            this.attemptTimeout = longest;
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
