package dev.raddle.pool;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** One thread of a pool, and what it is doing. */
class Worker implements Runnable {

    /*
     * Overview.
     *
     * `presence` keeps an interrupt that is meant for the wait of an idle worker away from its next task:
     *
     *   BUSY -> IDLE            the worker, before it waits for a task; it then looks at the pool's settings once more
     *   IDLE -> INTERRUPTING    whoever wants an idle worker to look at the settings; it interrupts, then
     *   INTERRUPTING -> IDLE    the same
     *   IDLE -> BUSY            the worker, when its wait is over; it lets an interrupter finish first
     *
     * All are volatile or atomic. So either the worker's look at the settings comes after their change, or the changer sees
     * it idle. An interrupt that came while it was idle is cleared before the next task begins.
     *
     * What the worker is doing is written by its thread only, and read by anybody:
     *
     *   current     the task that runs; set before `begun` grows, cleared after `completed` has
     *   begun       how many have begun
     *   completed   how many have ended; one less than `begun` while a task runs
     *   startedAt   since when `current` runs, if the pool looks at the clock for each task
     *
     * So a reader that finds `completed` unchanged around a look at `begun` knows which of the two it was in that moment, and
     * a task is never counted twice or left out.
     *
     * The task that a worker was hired for is taken once, by the worker or by a stop (`claimed`). It stays in `first` until it
     * has begun, so a reader of `first` and then of the three above finds it in one of the two places.
     */

    static final int BUSY = 0;
    static final int IDLE = 1;
    static final int INTERRUPTING = 2;

    private static final VarHandle CLAIMED;
    private static final VarHandle PRESENCE;
    private static final VarHandle CURRENT;
    private static final VarHandle BEGUN;
    private static final VarHandle COMPLETED;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            CLAIMED = lookup.findVarHandle(Worker.class, "claimed", boolean.class);
            PRESENCE = lookup.findVarHandle(Worker.class, "presence", int.class);
            CURRENT = lookup.findVarHandle(Worker.class, "current", Runnable.class);
            BEGUN = lookup.findVarHandle(Worker.class, "begun", long.class);
            COMPLETED = lookup.findVarHandle(Worker.class, "completed", long.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    final Store.Stamp stamp = new Store.Stamp();
    private final Crew crew;
    private @Nullable Thread thread; // set before it is started
    private volatile @Nullable Runnable first; // what it was hired for, until that has begun or was taken by a stop
    private volatile boolean claimed; // `first` has been taken
    private volatile int presence;
    private volatile @Nullable Runnable current;
    private volatile long begun;
    private volatile long completed;
    volatile long startedAt;

    @Nullable
    Object recorded; // an event of the current task, if a recording asks for it

    volatile long reportedTask = -1; // the number of the task that was last found stuck; written by the watch's rounds
    volatile long reportedAt; // when that was; written by the watch's rounds
    volatile boolean leavesWhenIdle; // whether its idle time is bounded
    volatile long idleSince;

    private Worker(Crew crew, @Nullable Runnable first) {
        this.crew = crew;
        this.first = first;
    }

    static Worker of(Crew crew, @Nullable Runnable first) {
        return new Padded(crew, first);
    }

    /** A worker that ends on a cache line of its own: it writes for each task. (The JVM lays inherited fields out first.) */
    private static final class Padded extends Worker {
        @SuppressWarnings("unused")
        private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

        Padded(Crew crew, @Nullable Runnable first) {
            super(crew, first);
        }
    }

    void assign(Thread thread) {
        this.thread = thread;
    }

    /** Returns its thread, once it has been assigned. */
    Thread thread() {
        if (thread == null) {
            throw new IllegalStateException("a worker is registered after it got its thread");
        }
        return thread;
    }

    /** Takes the task that the worker was hired for, in the worker's thread. Returns null if a stop has taken it. */
    @Nullable
    Runnable takeFirst() {
        Runnable task = first;
        return task != null && !claimed && CLAIMED.compareAndSet(this, false, true) ? task : null;
    }

    /** Takes the task that the worker was hired for away from it. Returns null if its thread has begun. */
    @Nullable
    Runnable withdrawFirst() {
        Runnable task = takeFirst();
        if (task != null) {
            first = null;
        }
        return task;
    }

    /** Returns whether it has the task that it was hired for and has not begun with it. */
    boolean hasFirst() {
        return first != null;
    }

    @Override
    public void run() {
        crew.work(this);
    }

    void becomeIdle() {
        presence = IDLE;
    }

    void becomeBusy() {
        while (!PRESENCE.compareAndSet(this, IDLE, BUSY)) {
            Thread.onSpinWait(); // interrupting is a few instructions
        }
    }

    boolean isIdle() {
        return presence != BUSY;
    }

    boolean interruptIfIdle() {
        if (!PRESENCE.compareAndSet(this, IDLE, INTERRUPTING)) {
            return false;
        }
        try {
            thread().interrupt();
        } finally {
            presence = IDLE;
        }
        return true;
    }

    void begin(Runnable task) {
        CURRENT.setRelease(this, task);
        BEGUN.setRelease(this, begun + 1);
        if (first != null) {
            first = null;
        }
    }

    void end() {
        COMPLETED.setRelease(this, completed + 1);
        CURRENT.setRelease(this, null);
    }

    /** What a worker was doing in one moment: the task that ran, if any, and how many had ended before. */
    record Doing(Worker worker, @Nullable Runnable task, long completed) {

        boolean isRunning() {
            return task != null;
        }

        /** Returns the task that ran, where one did. */
        Runnable someTask() {
            return Objects.requireNonNull(task);
        }

        /** Tells whether the task that runs here is the one that runs there. */
        boolean isSameTask(Doing other) {
            return worker == other.worker && completed == other.completed;
        }
    }

    Doing doing() {
        while (true) {
            long ended = completed;
            long started = begun;
            Runnable task = current;
            if (ended == completed && (started == ended || task != null)) {
                return new Doing(this, started == ended ? null : task, ended);
            }
        }
    }

    /** Returns what it is doing, where a task that it was hired for and that has not begun counts as one that runs. */
    Doing inHand() {
        Runnable hiredFor = first;
        Doing doing = doing();
        boolean isBeginning = hiredFor != null && !doing.isRunning() && doing.completed == 0;
        return isBeginning ? new Doing(this, hiredFor, 0) : doing;
    }

    long completed() {
        return completed;
    }
}
