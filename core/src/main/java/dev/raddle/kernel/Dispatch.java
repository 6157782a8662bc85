package dev.raddle.kernel;

import dev.raddle.task.Scheduler;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Starts granted runs whose scheduler may run them in the calling thread, in a loop at the outermost level.
 *
 * <p>Some schedulers run a task before {@code execute} returns: {@code Runnable::run}, or a full pool whose handler
 * makes the caller run it. When such a task ends, it makes others possible. Starting these at once would put one task
 * above the other on the stack. So they are collected here, and started by the loop that started the first one.
 */
public final class Dispatch {

    /*
     * Overview.
     *
     * A dispatch belongs to one thread, and is that thread's innermost one from its opening until its loop has started
     * everything that was collected. Three things can be going on in it:
     *
     *   starting   the thread is inside a scheduler, or in the code around it. A run that is entered now runs in place,
     *              and whatever becomes possible now is collected: the stack does not grow.
     *   in a task  the thread is inside the callable of a run that runs in place. That is user code, which may wait for
     *   what
     *              it submits. So a start from there opens a dispatch of its own, around which this one waits. From the
     *              depth DEEPEST on it is collected nevertheless: a task that submits the next one, and so on, needs no
     *              stack.
     *   waiting    the thread is about to wait for a run, in a task or a listener. Everything collected in it, at any
     *              level, is started before, because the thread may be waiting for that.
     *
     * A runner opens a dispatch when it gives its permits back, and is settled when all is started that it has made
     * possible. If one of those is to run in place, the runner is settled before that (`unsettled`), for it has ended.
     *
     * If the machinery itself fails in a start, by an exhausted stack for example, the run that was being started is
     * broken: it is ended with that failure here; or, if that fails as well, by the loop around this one, which has
     * more stack; or in another thread if there is none.
     */

    private static final int DEEPEST = 16;
    private static final ThreadLocal<@Nullable Dispatch> INNERMOST = new ThreadLocal<>();

    private final @Nullable Dispatch around;
    private final int depth;
    private @Nullable ArrayDeque<TaskRun<?>> more; // after the first; most dispatches start one run or none
    private @Nullable TaskRun<?> first;
    private boolean inTask;
    private @Nullable TaskRun<?> inPlace; // one that was entered in place, until it is left as it should be
    private @Nullable Throwable leftBy; // what the last one was left by that was not
    private @Nullable ArrayDeque<Runnable> broken; // what could not be repaired by a dispatch inside this one
    private @Nullable TaskRun<?> unsettled; // the runner that has opened this, until it is settled
    private long unsettledEnd;
    private long unsettledWait;
    private Recorder.@Nullable Begun unsettledBegin;

    private Dispatch(@Nullable Dispatch around) {
        this.around = around;
        this.depth = around == null ? 1 : around.depth + 1;
    }

    /**
     * Starts a run, or leaves it to the loop of the calling thread that is starting another one.
     *
     * @param granted a run that holds its permits
     */
    public static void start(TaskRun<?> granted) {
        Dispatch current = current();
        if (current != null) {
            current.add(granted);
            return;
        }
        Dispatch mine = open();
        mine.add(granted);
        mine.close();
    }

    /**
     * Starts what the calling thread has left to its loops. A thread calls this before it waits for a run, because that
     * may be one of these, or need one of them.
     */
    public static void startAll() {
        for (Dispatch each = INNERMOST.get(); each != null; each = each.around) {
            if (each.first != null) {
                Dispatch mine = open();
                for (TaskRun<?> run; (run = each.poll()) != null; ) {
                    mine.add(run);
                }
                mine.close();
            }
        }
    }

    /** Returns the dispatch that collects what becomes possible in the calling thread now, or null if there is none. */
    static @Nullable Dispatch current() {
        Dispatch innermost = INNERMOST.get();
        return innermost == null || innermost.inTask ? null : innermost;
    }

    /** Opens a dispatch, which collects until it is closed. */
    static Dispatch open() {
        Dispatch opened = new Dispatch(INNERMOST.get());
        INNERMOST.set(opened);
        return opened;
    }

    /** Starts what was collected, and what that makes possible, and closes this. */
    void close() {
        try {
            drain();
        } finally {
            INNERMOST.set(around);
        }
    }

    /**
     * Starts what was collected, on behalf of a runner that is settled now, or before one of these runs in place,
     * unless null.
     */
    void closeAfter(@Nullable TaskRun<?> runner, long end, long waited, Recorder.@Nullable Begun begun) {
        unsettled = runner;
        unsettledEnd = end;
        unsettledWait = waited;
        unsettledBegin = begun;
        try {
            drain();
        } finally {
            try {
                settleRunner();
            } finally {
                close(); // starts what listeners have submitted
            }
        }
    }

    /**
     * Notes that a run is entered in place, and settles the runner that has opened this before anything else runs here.
     */
    void enterRun(TaskRun<?> run) {
        settleRunner();
        inPlace = run;
    }

    /** Notes that the run was left as it should be. */
    void leaveRun() {
        inPlace = null;
    }

    /** Notes what a run is left by that is not left as it should be. */
    void leaveRunBy(Throwable failure) {
        leftBy = failure;
    }

    private void settleRunner() {
        TaskRun<?> ended = unsettled;
        unsettled = null;
        if (ended != null) {
            ended.settle(unsettledEnd, unsettledWait, unsettledBegin);
        }
    }

    /** Enters the callable of a run that runs in place. Returns whether that was in a task already. */
    boolean enterTask() {
        boolean before = inTask;
        inTask = depth < DEEPEST;
        return before;
    }

    /** Leaves the callable of a run that runs in place. */
    void leaveTask(boolean before) {
        inTask = before;
    }

    private void drain() {
        for (TaskRun<?> run; (run = poll()) != null; ) {
            try {
                run.startGranted();
            } catch (Throwable failure) {
                repair(run, failure, null);
            }
            TaskRun<?> left = inPlace;
            if (left != null) {
                inPlace = null;
                repair(
                        left,
                        new IllegalStateException(left + " was left by its thread", leftBy),
                        Thread.currentThread());
            }
            for (Runnable repair; broken != null && (repair = broken.poll()) != null; ) {
                repair.run();
            }
        }
    }

    private void repair(TaskRun<?> run, Throwable failure, @Nullable Thread left) {
        try {
            run.breakOff(failure, left);
        } catch (Throwable again) {
            repairElsewhere(() -> run.breakOff(failure, left));
        }
    }

    private void repairElsewhere(Runnable repair) {
        if (around == null) {
            Scheduler.virtualThreads().execute(repair);
            return;
        }
        ArrayDeque<Runnable> known = around.broken;
        if (known == null) {
            known = new ArrayDeque<>();
            around.broken = known;
        }
        known.add(repair);
    }

    private void add(TaskRun<?> run) {
        if (first == null) {
            first = run;
            return;
        }
        ArrayDeque<TaskRun<?>> rest = more;
        if (rest == null) {
            rest = new ArrayDeque<>();
            more = rest;
        }
        rest.add(run);
    }

    private @Nullable TaskRun<?> poll() {
        TaskRun<?> oldest = first;
        if (oldest != null) {
            first = more == null ? null : more.poll();
        }
        return oldest;
    }
}
