package dev.raddle.kernel;

import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Reports tasks that have not ended, with the stacks of their threads, when they are due.
 *
 * @param <T> the type of a task
 */
public final class OverdueReports<T> {

    /*
     * Overview.
     *
     * An alarm starts each round of reports, and the round arms the next alarm. It is made outside the alarm's action,
     * because reading a stack takes time and the receiver is user code. So rounds follow each other, and the reports of
     * a task are in order of time. A round first reads all stacks, so that a slow receiver delays none.
     *
     * `isArmed` from arm() until no round will follow. A round that finds no next one clears it and then looks again;
     * a caller of arm() has first made what that look must see. So the one or the other arms the alarm.
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
    private final OffloadExecutor elsewhere;
    private final Supplier<@Nullable Duration> untilNext;
    private final Supplier<List<T>> overdue;
    private final Function<T, @Nullable Thread> threadOf;
    private final Receiver<T> receiver;
    private final AtomicBoolean isArmed = new AtomicBoolean();
    private volatile PendingAlarm alarm = new PendingAlarm(); // of the next round
    private volatile boolean over; // read after `alarm` is written, and written before `alarm` is read

    /**
     * Creates reports that are not armed.
     *
     * @param time the time source
     * @param untilNext returns the time until the next report is due, or null if none will be
     * @param elsewhere the executor of the reports
     * @param overdue returns the tasks to report
     * @param threadOf returns the thread that runs a task, or null; called again after its stack was read
     * @param receiver the receiver
     */
    public OverdueReports(
            TimeSource time,
            Supplier<@Nullable Duration> untilNext,
            OffloadExecutor elsewhere,
            Supplier<List<T>> overdue,
            Function<T, @Nullable Thread> threadOf,
            Receiver<T> receiver) {
        this.time = time;
        this.untilNext = untilNext;
        this.elsewhere = elsewhere;
        this.overdue = overdue;
        this.threadOf = threadOf;
        this.receiver = receiver;
    }

    /** Arms the alarm of the first report, unless it is armed. */
    public void arm() {
        try {
            while (!over && isArmed.compareAndSet(false, true)) {
                Duration delay = untilNext.get();
                if (delay != null) {
                    arm(delay);
                    return;
                }
                isArmed.set(false);
                if (untilNext.get() == null) {
                    return;
                }
            }
        } catch (Throwable noTime) { // the tasks do not depend on it
            isArmed.set(false);
            elsewhere.sink().report("alarm for reports of tasks that have not ended", noTime);
        }
    }

    /** Arms the next alarm. Its round may begin, and arm the alarm of its successor, before this ends. */
    private void arm(Duration delay) {
        PendingAlarm next = new PendingAlarm();
        alarm = next;
        if (!over) {
            next.arm(time, delay, () -> elsewhere.execute(this::report));
        }
    }

    private void report() {
        if (over) {
            return;
        }
        try {
            readStacks().forEach(Runnable::run);
        } finally {
            isArmed.set(false);
            arm();
        }
    }

    private List<Runnable> readStacks() {
        List<Runnable> reports = new ArrayList<>();
        for (T task : overdue.get()) {
            Thread thread = threadOf.apply(task);
            StackTraceElement[] stack = thread == null ? NO_STACK : thread.getStackTrace();
            if (threadOf.apply(task) == thread) {
                reports.add(() -> receiver.report(task, thread, stack));
            }
        }
        return reports;
    }

    /** Ends the reports. */
    public void end() {
        over = true;
        alarm.disarm();
    }
}
