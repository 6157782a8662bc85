package dev.raddle.kernel;

import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.task.UnacceptedValueException;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Calls a callable as often as a retry policy allows, for one run. The runner waits between attempts. A thread that
 * decides the run interrupts the runner, so a delay ends at once when it is no longer needed.
 *
 * @param <T> the type of the value
 */
public final class Attempts<T> implements Callable<T> {

    /** Is notified of a failed attempt that another one follows. */
    @FunctionalInterface
    public interface FailureHook {
        /**
         * Called in the runner, before the delay.
         *
         * @param failure the exception of the attempt
         * @throws Exception if no other attempt may follow
         */
        void accept(Exception failure) throws Exception;
    }

    /**
     * One attempt.
     *
     * @param <T> the type of the value
     */
    @FunctionalInterface
    public interface Attempt<T> {
        /**
         * Calls the user's code by {@link Attempts#callOnce(Callable)}.
         *
         * @param attempts the attempts of which this is the current one
         * @return the value
         * @throws Exception the failure of the attempt
         */
        T call(Attempts<T> attempts) throws Exception;
    }

    private static final int KEPT = 8; // of the first failures, and as many of the latest

    private final Attempt<T> attempt;
    private final RetryPolicy policy;
    private final BooleanSupplier isDecided;
    private final TimeSource time;
    private final String task;
    private final @Nullable TimeLimit limit;
    private final Executor elsewhere;
    private int failedBefore; // attempts that failed in an earlier process
    private FailureHook onFailure = failure -> {};
    private volatile @Nullable Signal delayEnd; // of the latest delay
    private volatile boolean ranOutOfTime;
    private volatile int current; // the number of the current attempt, 0 before the first

    /**
     * Creates attempts of which none has begun.
     *
     * @param attempt the attempt
     * @param policy the retry policy
     * @param isDecided returns whether the run is decided, or ends otherwise, so that no further attempt begins
     * @param time the time source for delays
     * @param task the name of the run
     * @param limit the time limit, beyond which no attempt begins, or null
     * @param elsewhere the executor that interrupts an attempt which takes too long
     */
    public Attempts(
            Attempt<T> attempt,
            RetryPolicy policy,
            BooleanSupplier isDecided,
            TimeSource time,
            String task,
            @Nullable TimeLimit limit,
            Executor elsewhere) {
        this.attempt = attempt;
        this.policy = policy;
        this.isDecided = isDecided;
        this.time = time;
        this.task = task;
        this.limit = limit;
        this.elsewhere = elsewhere;
    }

    /**
     * Continues attempts of an earlier process. Called before {@link #call}, by the same thread.
     *
     * @param failed the number of attempts that have failed, less than {@link #most}
     * @param hook the receiver of further failures
     */
    public void continueAfter(int failed, FailureHook hook) {
        failedBefore = failed;
        onFailure = hook;
    }

    /**
     * Returns the number of the current attempt.
     *
     * @return 1 for the first; 0 if none has begun
     */
    public int current() {
        return current;
    }

    /**
     * Returns the maximum number of attempts.
     *
     * @return a number, at least 1
     */
    public int most() {
        return policy.maxAttempts();
    }

    /**
     * Returns whether {@link #call} has thrown a {@link TaskTimeoutException}, because the next attempt would have
     * begun after the limit.
     *
     * @return false before the end of {@link #call}
     */
    public boolean ranOutOfTime() {
        return ranOutOfTime;
    }

    @Override
    @SuppressWarnings({"unchecked", "NullAway"}) // the value that an attempt has returned
    public T call() throws Exception {
        List<Throwable> earlier = new ArrayList<>();
        Thread self = Thread.currentThread();
        ClassLoader loader = self.getContextClassLoader();
        for (int number = failedBefore + 1; ; number++) {
            current = number;
            try {
                return attempt.call(this);
            } catch (Error failure) {
                throw withEarlier(failure, earlier);
            } catch (Exception failure) {
                boolean isLast = isDecided.getAsBoolean();
                if (isLast && failure instanceof UnacceptedValueException last) {
                    return (T) last.value();
                }
                long delay = isLast ? -1 : delayAfter(policy, number, failure, earlier);
                if (delay < 0) {
                    throw withEarlier(failure, earlier);
                }
                requireTimeFor(delay, number, failure, earlier);
                onFailure.accept(failure);
                keep(failure, earlier);
                await(delay, earlier);
                if (self.getContextClassLoader() != loader) { // the attempt has set another
                    self.setContextClassLoader(loader);
                }
            }
        }
    }

    /**
     * Calls a callable once, in the time that the policy allows for an attempt. Called in an attempt.
     *
     * @param <V> the type of the value
     * @param callable the callable
     * @return the value
     * @throws Exception the failure of the attempt
     */
    public <V extends @Nullable Object> V callOnce(Callable<? extends V> callable) throws Exception {
        return callOnce(callable, policy, current, time, task, elsewhere);
    }

    /**
     * Calls a callable once, in the time that a policy allows for an attempt.
     *
     * @param <T> the type of the value
     * @param callable the callable
     * @param policy the retry policy
     * @param attempt the number of the attempt
     * @param time the time source
     * @param task the name of the run
     * @param elsewhere the executor that interrupts the calling thread if the attempt takes too long
     * @return the value
     * @throws UnacceptedValueException if the policy demands another attempt after the value
     * @throws Exception the failure of the attempt
     */
    public static <T extends @Nullable Object> T callOnce(
            Callable<? extends T> callable,
            RetryPolicy policy,
            int attempt,
            TimeSource time,
            String task,
            Executor elsewhere)
            throws Exception {
        Duration longest = policy.attemptTimeout();
        int most = policy.maxAttempts();
        T value = longest == null
                ? callable.call()
                : new TimedAttempt().call(callable, longest, time, elsewhere, task, attempt, most);
        if (policy.allowsRetryAfter(attempt, value)) {
            throw new UnacceptedValueException(
                    "attempt " + attempt + " of " + most + " of task \"" + task
                            + "\" returned a value that its retry policy does not accept",
                    value);
        }
        return value;
    }

    /**
     * Returns the delay before the next attempt. An exception of the policy carries the failures as suppressed
     * exceptions.
     *
     * @param policy the retry policy
     * @param attempt the number of the attempt that has failed
     * @param failure the failure of that attempt
     * @param earlier the failures of the attempts before it
     * @return a length in nanoseconds, or a negative number if no attempt follows
     */
    public static long delayAfter(RetryPolicy policy, int attempt, Throwable failure, List<Throwable> earlier) {
        try {
            return policy.allowsRetry(attempt, failure) ? policy.delayNanos(attempt, failure) : -1;
        } catch (RuntimeException | Error thrown) {
            if (thrown != failure) {
                keep(failure, earlier);
            }
            withEarlier(thrown, earlier);
            throw thrown;
        }
    }

    /**
     * Adds a failure to those of earlier attempts, of which the first and the latest are kept.
     *
     * @param failure the failure of an attempt
     * @param earlier the failures of the attempts before it
     */
    public static void keep(Throwable failure, List<Throwable> earlier) {
        if (earlier.size() == 2 * KEPT) {
            earlier.remove(KEPT); // a task may be attempted any number of times
        }
        earlier.add(failure);
    }

    /**
     * Adds the failures of earlier attempts to the last one.
     *
     * @param <X> the type of the failure
     * @param failure the failure of the last attempt
     * @param earlier the failures of the attempts before it
     * @return the failure
     */
    public static <X extends Throwable> X withEarlier(X failure, List<Throwable> earlier) {
        earlier.forEach(before -> UserCode.addSuppressed(failure, before));
        return failure;
    }

    private void requireTimeFor(long delay, int attempt, Throwable failure, List<Throwable> earlier) {
        if (limit != null && delay >= limit.deadline().remaining().toNanos()) {
            ranOutOfTime = true;
            throw noTimeFor(Duration.ofNanos(delay), task, attempt, most(), limit, failure, earlier);
        }
    }

    /**
     * Returns the exception of a task whose next attempt would begin after its limit.
     *
     * @param delay the time until the next attempt
     * @param task the name of the task
     * @param attempt the number of the attempt that has failed
     * @param most the maximum number of attempts
     * @param limit the time limit
     * @param failure the failure of that attempt
     * @param earlier the failures of the attempts before it
     * @return a new exception
     */
    public static TaskTimeoutException noTimeFor(
            Duration delay,
            String task,
            int attempt,
            int most,
            TimeLimit limit,
            Throwable failure,
            List<Throwable> earlier) {
        Duration left = limit.deadline().remaining(); // negative if the attempt has ended after the limit
        TaskTimeoutException late = new TaskTimeoutException(
                "task \"" + task + "\" gave up after attempt " + attempt + " of " + most
                        + ": the next would begin in " + TimeLimit.text(delay) + ", and of its "
                        + TimeLimit.text(limit.budget()) + " only "
                        + TimeLimit.text(left.isNegative() ? Duration.ZERO : left) + " are left",
                task,
                limit.budget(),
                attempt,
                failure);
        return withEarlier(late, earlier);
    }

    /** Ends a delay because the run is decided. The caller has decided it before. */
    public void endDelay() {
        Signal end = delayEnd;
        if (end != null && isDecided.getAsBoolean()) {
            end.set();
        }
    }

    private void await(long delay, List<Throwable> earlier) throws InterruptedException {
        if (delay > 0) {
            try {
                Signal end = new Signal();
                delayEnd = end;
                if (!isDecided.getAsBoolean()) {
                    end.await(Deadline.after(time, Duration.ofNanos(delay)));
                }
            } catch (InterruptedException interrupt) {
                throw withEarlier(interrupt, earlier);
            }
        }
        if (isDecided.getAsBoolean()) {
            throw new CancelledException("task \"" + task + "\" was decided while it waited for its next attempt");
        }
    }
}
