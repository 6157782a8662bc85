package dev.raddle.kernel;

import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports tasks that have not ended, with the stacks of their threads, once in each interval.
 *
 * @param <T> the type of a task
 */
public final class OverdueReports<T> {

    /*
     * Overview.
     *
     * An alarm starts each report and arms the next one. The report is made outside the alarm's action, because reading
     * a stack takes time and the receiver is user code.
     *
     * A stack is read between two reads of the task's thread. If both return the same thread, the stack is that of the
     * task; otherwise the task has begun or ended meanwhile and is not reported. So a report never shows the stack of
     * another task.
     */

    /**
     * A receiver of reports.
     *
     * @param <T> the type of a task
     */
    @FunctionalInterface
    public interface Receiver<T> {
        /**
         * Reports one task.
         *
         * @param task the task
         * @param thread the thread that runs it, or null if none does
         * @param stack the stack of the thread, empty if there is none
         */
        void report(T task, @Nullable Thread thread, StackTraceElement[] stack);
    }

    private static final StackTraceElement[] NO_STACK = {};

    private final TimeSource time;
    private final Duration interval;
    private final OffloadExecutor elsewhere;
    private final Supplier<List<T>> overdue;
    private final Function<T, @Nullable Thread> threadOf;
    private final Receiver<T> receiver;
    private volatile PendingAlarm alarm = new PendingAlarm(); // of the next report
    private volatile boolean over; // read after `alarm` is written, and written before `alarm` is read

    /**
     * Creates reports that are not armed.
     *
     * @param time the time source
     * @param interval the time between two reports, positive
     * @param elsewhere the executor of the reports
     * @param overdue returns the tasks to report
     * @param threadOf returns the thread that runs a task, or null; called again after its stack was read
     * @param receiver the receiver
     */
    public OverdueReports(
            TimeSource time,
            Duration interval,
            OffloadExecutor elsewhere,
            Supplier<List<T>> overdue,
            Function<T, @Nullable Thread> threadOf,
            Receiver<T> receiver) {
        this.time = time;
        this.interval = interval;
        this.elsewhere = elsewhere;
        this.overdue = overdue;
        this.threadOf = threadOf;
        this.receiver = receiver;
    }

    /**
     * Arms the alarm of the next report. That report may begin, and arm the alarm of its successor, before this ends.
     */
    public void arm() {
        PendingAlarm next = new PendingAlarm();
        alarm = next;
        if (!over) {
            try {
                next.arm(time, interval, () -> elsewhere.execute(this::report));
            } catch (Throwable noTime) { // the caller waits for the tasks, whether they are reported or not
                elsewhere.sink().report("alarm for reports of tasks that have not ended", noTime);
            }
        }
    }

    private void report() {
        if (over) {
            return;
        }
        for (T task : overdue.get()) {
            Thread thread = threadOf.apply(task);
            StackTraceElement[] stack = thread == null ? NO_STACK : thread.getStackTrace();
            if (threadOf.apply(task) == thread) {
                receiver.report(task, thread, stack);
            }
        }
        arm();
    }

    /** Ends the reports. */
    public void end() {
        over = true;
        alarm.disarm();
    }
}
