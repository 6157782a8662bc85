package dev.raddle.kernel;

import dev.raddle.task.TaskTimeoutException;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/** One attempt whose runner is interrupted if it takes too long. */
final class TimedAttempt extends InterruptWindow {

    /*
     * Overview.
     *
     * The window is open from the creation until the callable has ended. The alarm interrupts the runner in it, which
     * closes it; so the runner knows whether it was in time, and no interrupt of the alarm reaches what it does next.
     *
     * The interrupt status is cleared after an interrupt of the alarm. Another interrupt that arrives at the same time
     * is lost with it. One that belongs to the end of the run does no harm: that is decided, or noted in the run,
     * before the interrupt is sent, and no attempt begins after that.
     */
    private final Thread runner = Thread.currentThread();

    /**
     * Calls a callable.
     *
     * @param longest the longest time
     * @param elsewhere the executor that sends the interrupt, which may run user code
     * @param name the name of the task
     * @param attempt the number of the attempt
     * @param most the maximum number of attempts
     * @return the value
     * @throws TaskTimeoutException if it took longer, whatever it did then, except an Error
     * @throws Exception the exception of the callable
     */
    @SuppressWarnings("NullAway") // T says whether the value may be null
    <T extends @Nullable Object> T call(
            Callable<? extends T> callable,
            Duration longest,
            TimeSource time,
            Executor elsewhere,
            String name,
            int attempt,
            int most)
            throws Exception {
        Alarm alarm = Deadline.after(time, longest).alarm(() -> elsewhere.execute(this::expire));
        T value = null;
        Exception failure = null;
        boolean isInTime;
        try {
            value = callable.call();
        } catch (Exception thrown) {
            failure = thrown;
        } finally {
            isInTime = closeWindow();
            if (!isInTime) {
                Thread.interrupted();
            }
            alarm.cancel();
        }
        if (!isInTime) {
            throw new TaskTimeoutException(
                    "attempt " + attempt + " of " + most + " of task \"" + name + "\" ran out of time after "
                            + TimeLimit.text(longest) + " (the timeout of an attempt)",
                    name,
                    longest,
                    attempt,
                    failure);
        }
        if (failure != null) {
            throw failure;
        }
        return value;
    }

    private void expire() {
        interrupt(runner, true, UserCode::uncaught);
    }
}
