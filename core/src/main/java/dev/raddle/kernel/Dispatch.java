package dev.raddle.kernel;

import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * Starts granted runs whose scheduler may run them in the calling thread, in a loop at the outermost level.
 *
 * <p>Some schedulers run a task before {@code execute} returns: {@code Runnable::run}, or a full pool whose handler
 * makes the caller run it. The end of such a task makes other tasks possible. If they were started at once, the stack
 * would grow with each of them. So they are collected here, and started by the loop that started the first one.
 */
public final class Dispatch {

    /*
     * Overview.
     *
     * A dispatch belongs to one thread. It is that thread's innermost one from its opening until its loop has started
     * all collected runs. The thread is in one of three situations:
     *
     *   starting   the thread is inside a scheduler, or in the code around it. A run that is entered now runs in place,
     *              and runs that become possible now are collected: the stack does not grow.
     *   in a task  the thread is inside the callable of a run in place. That is user code, which may wait for tasks
     *              that it submits. So a start from there opens a nested dispatch, and this one waits for it. From the
     *              depth DEEPEST on, the run is collected nevertheless: a task that submits the next one, and so on,
     *              needs no stack.
     *   waiting    the thread is about to wait for a run, in a task or a listener. All runs collected at any level are
     *              started first, because the thread may be waiting for one of them.
     *
     * A runner opens a dispatch when it releases its permits, and is settled when all runs that it has made possible
     * are started. If one of those is to run in place, the runner is settled before that (`unsettled`), because it has
     * ended.
     */

    private static final int DEEPEST = 16;
    private static final ThreadLocal<@Nullable Dispatch> INNERMOST = new ThreadLocal<>();

    private final @Nullable Dispatch around;
    private final int depth;
    private @Nullable ArrayDeque<TaskRun<?>> more; // after the first; most dispatches start at most one run
    private @Nullable TaskRun<?> first;
    private boolean inTask;
    private @Nullable TaskRun<?> unsettled; // the runner that opened this, until it is settled
    private long unsettledEnd;
    private long unsettledWait;
    private Recorder.@Nullable Begun unsettledBegin;

    private Dispatch(@Nullable Dispatch around) {
        this.around = around;
        this.depth = around == null ? 1 : around.depth + 1;
    }

    /**
     * Starts a run, or adds it to the loop of the calling thread that is starting another one.
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
     * Starts the runs that the loops of the calling thread have collected. A thread calls this before it waits for a
     * run, because that may be one of them, or need one of them.
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

    /** Returns the dispatch that collects runs of the calling thread now, or null if there is none. */
    static @Nullable Dispatch current() {
        Dispatch innermost = INNERMOST.get();
        return innermost == null || innermost.inTask ? null : innermost;
    }

    /** Opens a dispatch, which collects runs until it is closed. */
    static Dispatch open() {
        Dispatch opened = new Dispatch(INNERMOST.get());
        INNERMOST.set(opened);
        return opened;
    }

    /** Starts the collected runs, and those that become possible by them, and closes this. */
    void close() {
        try {
            drain();
        } finally {
            INNERMOST.set(around);
        }
    }

    /** Starts the collected runs. Settles the runner, unless null, after that, or before one of them runs in place. */
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
                close(); // starts the runs that listeners have submitted
            }
        }
    }

    /** Settles the runner that opened this, if that is not done yet. Called also when a run is entered in place. */
    void settleRunner() {
        TaskRun<?> ended = unsettled;
        unsettled = null;
        if (ended != null) {
            ended.settle(unsettledEnd, unsettledWait, unsettledBegin);
        }
    }

    /** Enters the callable of a run in place. Returns whether the thread was in a task before. */
    boolean enterTask() {
        boolean before = inTask;
        inTask = depth < DEEPEST;
        return before;
    }

    /** Leaves the callable of a run in place. */
    void leaveTask(boolean before) {
        inTask = before;
    }

    private void drain() {
        for (TaskRun<?> run; (run = poll()) != null; ) {
            run.startGranted();
        }
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
