package dev.raddle.pool;

import dev.raddle.kernel.InterruptWindow;
import dev.raddle.lock.Fields;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A worker of a pool: one thread and its current activity. */
class Worker extends InterruptWindow implements Runnable {

    /*
     * Overview.
     *
     * The window for interrupts is open while the worker waits for a task, so an interrupt that ends the wait does not
     * reach the next task. The worker opens it before it waits, and then checks the pool's settings once more; a thread
     * that has changed the settings interrupts the workers whose window is open. All accesses are volatile or atomic.
     * So either the worker's check follows the change, or the thread that made it sees the worker idle. An interrupt
     * received while idle is cleared before the next task begins.
     *
     * The activity is written by the worker's thread only, and read by any thread:
     *
     *   current     the running task; set before `begun` is incremented, cleared after `completed` is
     *   begun       the number of tasks begun
     *   completed   the number of tasks ended; one less than `begun` while a task runs
     *   startedAt   the start time of `current`, if the pool records times
     *
     * So a reader that finds `completed` unchanged before and after it reads `begun` knows whether a task was running
     * at that time, and no task is counted twice or missed.
     *
     * The first task is claimed once, by the worker or by stop() (`firstTaskClaimed`). It stays in `firstTask` until it
     * has begun, so a thread that reads `firstTask` and then the fields above finds it in one of the two places.
     */

    private static final VarHandle FIRST_TASK_CLAIMED =
            Fields.handle(MethodHandles.lookup(), "firstTaskClaimed", boolean.class);
    private static final VarHandle CURRENT = Fields.handle(MethodHandles.lookup(), "current", Runnable.class);
    private static final VarHandle BEGUN = Fields.handle(MethodHandles.lookup(), "begun", long.class);
    private static final VarHandle COMPLETED = Fields.handle(MethodHandles.lookup(), "completed", long.class);

    final TaskBuffer.Timestamp queuedAt = new TaskBuffer.Timestamp();
    private final Workers workers;
    private @Nullable Thread thread; // set before the thread is started
    private volatile @Nullable Runnable firstTask; // null once it has begun or stop() has claimed it
    private volatile boolean firstTaskClaimed; // whether `firstTask` has been claimed
    private volatile @Nullable Runnable current;
    private volatile long begun;
    private volatile long completed;
    volatile long startedAt;

    @Nullable
    Object event; // the event of the current task, if a recording is on

    volatile long reportedTask = -1; // the number of the task last reported as stuck; written by the watchdog
    volatile long reportedAt; // the time of that report; written by the watchdog

    private Worker(Workers workers, @Nullable Runnable firstTask) {
        this.workers = workers;
        this.firstTask = firstTask;
        closeWindow();
    }

    static Worker of(Workers workers, @Nullable Runnable firstTask) {
        return new Padded(workers, firstTask);
    }

    /**
     * A worker padded to its own cache line, since it is written for each task. (The JVM lays out inherited fields
     * first.)
     */
    private static final class Padded extends Worker {
        @SuppressWarnings("unused")
        private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

        Padded(Workers workers, @Nullable Runnable firstTask) {
            super(workers, firstTask);
        }
    }

    void setThread(Thread thread) {
        this.thread = thread;
    }

    /** Returns the worker's thread, which must have been set. */
    Thread thread() {
        if (thread == null) {
            throw new IllegalStateException("the worker has no thread yet");
        }
        return thread;
    }

    /** Claims the first task for the worker's thread. Returns null if there is none or stop() has claimed it. */
    @Nullable
    Runnable claimFirstTask() {
        Runnable task = firstTask;
        return task != null && !firstTaskClaimed && FIRST_TASK_CLAIMED.compareAndSet(this, false, true) ? task : null;
    }

    /**
     * Claims the first task for another thread. Returns null if there is none or the worker's thread has started to
     * run.
     */
    @Nullable
    Runnable withdrawFirstTask() {
        Runnable task = claimFirstTask();
        if (task != null) {
            firstTask = null;
        }
        return task;
    }

    /** Returns whether the worker has a first task that has not begun. */
    boolean hasFirstTask() {
        return firstTask != null;
    }

    @Override
    public void run() {
        workers.runWorker(this);
    }

    void becomeIdle() {
        openWindow();
    }

    void becomeBusy() {
        closeWindow();
    }

    boolean interruptIfIdle() {
        return interrupt(thread(), false, null);
    }

    void begin(Runnable task) {
        CURRENT.setRelease(this, task);
        BEGUN.setRelease(this, begun + 1);
        if (firstTask != null) {
            firstTask = null;
        }
    }

    void end() {
        COMPLETED.setRelease(this, completed + 1);
        CURRENT.setRelease(this, null);
    }

    /** A worker's activity at one time: the running task, if any, and the number of tasks that had ended before. */
    record Activity(Worker worker, @Nullable Runnable task, long completed) {

        boolean isRunning() {
            return task != null;
        }

        /** Returns the running task, which must exist. */
        Runnable requireTask() {
            return Objects.requireNonNull(task);
        }

        /** Returns the thread that runs the task, or null if the task has ended. */
        @Nullable
        Thread runner() {
            return worker.assignedActivity().isSameTask(this) ? worker.thread() : null;
        }

        /** Returns whether both activities have the same task. */
        boolean isSameTask(Activity other) {
            return worker == other.worker && completed == other.completed;
        }
    }

    Activity activity() {
        while (true) {
            long ended = completed;
            long started = begun;
            Runnable task = current;
            if (ended == completed && (started == ended || task != null)) {
                return new Activity(this, started == ended ? null : task, ended);
            }
        }
    }

    /** Returns the current activity; a first task that has not begun counts as running. */
    Activity assignedActivity() {
        Runnable pending = firstTask;
        Activity activity = activity();
        boolean hasNotBegun = pending != null && !activity.isRunning() && activity.completed == 0;
        return hasNotBegun ? new Activity(this, pending, 0) : activity;
    }

    long completed() {
        return completed;
    }
}
