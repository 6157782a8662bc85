package dev.raddle.kernel;

import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A callable that is tried as often as a policy allows, for one run. The runner's thread rests between attempts;
 * whoever decides the run interrupts it, so a rest ends at once when it has become pointless.
 *
 * @param <T> the type of the value
 */
public final class Attempts<T> implements Callable<T> {

    private final Callable<? extends T> callable;
    private final RetryPolicy policy;
    private final BooleanSupplier isDecided;
    private final TimeSource time;
    private final String task;
    private final @Nullable TimeLimit limit;
    private volatile @Nullable Signal restEnd; // of the latest rest
    private volatile boolean ranOutOfTime;
    private volatile int current; // which attempt it is at, 0 before the first

    /**
     * Creates attempts of which none has begun.
     *
     * @param callable what to try
     * @param policy how often
     * @param isDecided tells whether what they are attempts at is decided: none begins then
     * @param time what rests are measured with
     * @param task what the run is called
     * @param limit no rest leads beyond it; null if there is none
     */
    public Attempts(
            Callable<? extends T> callable,
            RetryPolicy policy,
            BooleanSupplier isDecided,
            TimeSource time,
            String task,
            @Nullable TimeLimit limit) {
        this.callable = callable;
        this.policy = policy;
        this.isDecided = isDecided;
        this.time = time;
        this.task = task;
        this.limit = limit;
    }

    /**
     * Returns which attempt this is at.
     *
     * @return 1 for the first; 0 if none has begun
     */
    public int current() {
        return current;
    }

    /**
     * Returns how many attempts there may be.
     *
     * @return at least 1
     */
    public int most() {
        return policy.maxAttempts();
    }

    /**
     * Returns whether the last attempt was not followed by another because that would have begun after the limit. What
     * {@link #call} has thrown then is a {@link TaskTimeoutException}.
     *
     * @return false before the end of {@link #call}
     */
    public boolean ranOutOfTime() {
        return ranOutOfTime;
    }

    @Override
    public T call() throws Exception {
        List<Throwable> earlier = new ArrayList<>();
        for (int attempt = 1; ; attempt++) {
            current = attempt;
            try {
                return callable.call();
            } catch (Error failure) {
                throw withEarlier(failure, earlier);
            } catch (Exception failure) {
                long delay = delayBeforeNext(attempt, failure, earlier);
                if (delay < 0) {
                    throw withEarlier(failure, earlier);
                }
                requireTimeFor(delay, attempt, failure, earlier);
                earlier.add(failure);
                rest(delay, earlier);
            }
        }
    }

    /**
     * Returns how long to rest, or less than nothing if no attempt follows. What the policy throws comes with all
     * failures.
     */
    private long delayBeforeNext(int attempt, Exception failure, List<Throwable> earlier) {
        try {
            return !isDecided.getAsBoolean() && policy.allowsRetry(attempt, failure)
                    ? policy.delayNanos(attempt, failure)
                    : -1;
        } catch (RuntimeException | Error thrown) {
            if (thrown != failure) {
                earlier.add(failure);
            }
            withEarlier(thrown, earlier);
            throw thrown;
        }
    }

    private static <X extends Throwable> X withEarlier(X failure, List<Throwable> earlier) {
        for (Throwable before : earlier) {
            if (before != failure) {
                failure.addSuppressed(before);
            }
        }
        return failure;
    }

    private void requireTimeFor(long delay, int attempt, Throwable failure, List<Throwable> earlier) {
        if (limit == null) {
            return;
        }
        Duration left = limit.deadline().remaining();
        if (delay < left.toNanos()) {
            return;
        }
        TaskTimeoutException late = new TaskTimeoutException(
                "task \"" + task + "\" gave up after attempt " + attempt + " of " + most()
                        + ": the next would begin in "
                        + TimeLimit.text(Duration.ofNanos(delay)) + ", and of its " + TimeLimit.text(limit.budget())
                        + " only " + TimeLimit.text(left) + " are left",
                task,
                limit.budget(),
                attempt,
                failure);
        ranOutOfTime = true;
        throw withEarlier(late, earlier);
    }

    /** Ends a rest that goes on, because what this is at was decided. Who calls this must have decided it before. */
    public void endRest() {
        Signal end = restEnd;
        if (end != null && isDecided.getAsBoolean()) {
            end.set();
        }
    }

    private void rest(long delay, List<Throwable> earlier) throws InterruptedException {
        if (delay > 0) {
            try {
                Signal end = new Signal();
                restEnd = end;
                if (!isDecided.getAsBoolean()) {
                    end.await(Deadline.after(time, Duration.ofNanos(delay)));
                }
            } catch (InterruptedException interrupt) {
                throw withEarlier(interrupt, earlier);
            }
        }
        if (isDecided.getAsBoolean()) {
            throw new CancelledException("task \"" + task + "\" was decided while it rested");
        }
    }
}
