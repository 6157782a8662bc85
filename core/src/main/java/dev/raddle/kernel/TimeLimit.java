package dev.raddle.kernel;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * The deadline of a task: that of its own timeout or that of the scope in which it was submitted, whichever is earlier.
 *
 * @param deadline the deadline
 * @param budget the time from the submission to the deadline
 * @param enclosure the scope that has this deadline, or null if it is that of the task's own timeout
 */
public record TimeLimit(
        Deadline deadline, Duration budget, @Nullable EnclosingScope enclosure) {

    /**
     * Returns the limit of a task that is submitted now.
     *
     * @param time the time source
     * @param timeout the task's own timeout, or null
     * @param enclosure the scope in which it is submitted, or null
     * @return the limit with the earlier deadline, or null if there is none
     */
    public static @Nullable TimeLimit of(
            TimeSource time, @Nullable Duration timeout, @Nullable EnclosingScope enclosure) {
        TimeLimit own = timeout == null ? null : new TimeLimit(Deadline.after(time, timeout), timeout, null);
        Deadline outer = enclosure == null ? null : enclosure.deadline();
        if (outer == null) {
            return own;
        }
        Duration left = outer.remaining();
        return own != null && own.budget.compareTo(left) <= 0
                ? own
                : new TimeLimit(Deadline.after(time, left), left, enclosure);
    }

    /**
     * Returns the outcome of a task whose deadline has passed: failed if the timeout was its own, else cancelled.
     *
     * @param <T> the type of the value
     * @param task the name of the task
     * @param attempts its attempts, or null if it has only one
     * @param begun whether it has started
     * @return the outcome
     */
    public <T> Outcome<T> outcome(String task, @Nullable Attempts<?> attempts, boolean begun) {
        if (enclosure != null) {
            return new Outcome.Cancelled<>(new CancelledException(
                    "task \"" + task + "\" was cancelled: the time of " + enclosure.label() + " is over"));
        }
        int attempt = attempts != null ? attempts.current() : begun ? 1 : 0;
        String where = attempt == 0 ? "before it began" : "attempt " + attempt + " of " + most(attempts);
        return new Outcome.Failure<>(new TaskTimeoutException(
                "task \"" + task + "\" ran out of time after " + text(budget) + " (its timeout), " + where,
                task,
                budget,
                attempt,
                null));
    }

    private static int most(@Nullable Attempts<?> attempts) {
        return attempts == null ? 1 : attempts.most();
    }

    /**
     * Returns a duration as text, for messages.
     *
     * @param length any duration
     * @return a text such as {@code 200 ms}, {@code 1.5 ms} or {@code 800 ns}
     */
    public static String text(Duration length) {
        long nanos = Deadline.nanos(length);
        if (nanos % 1_000_000 == 0) {
            return nanos / 1_000_000 + " ms";
        }
        return Math.abs(nanos) < 1_000_000 ? nanos + " ns" : nanos / 1e6 + " ms";
    }
}
