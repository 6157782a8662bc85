package dev.raddle.kernel;

import dev.raddle.task.Scheduler;
import org.jspecify.annotations.Nullable;

/**
 * Starts granted runs whose scheduler may run them in the calling thread.
 *
 * <p>Some schedulers run a task before {@code execute} returns: {@code Runnable::run}, or a full pool whose handler
 * makes the caller run it. A task may submit the next one, and the end of a task makes others possible. If the same
 * thread started all of these at once, the stack would grow with each of them.
 */
public final class Dispatch {

    /*
     * Overview.
     *
     * A dispatch is a loop in one thread, which passes runs to their schedulers, one after the other. A run that its
     * scheduler runs in this thread does two things that lead to further starts:
     *
     *   its user code submits    The callable or a listener may wait for the run that it submits, in any way. So that
     *                            is started at once: by a nested loop, or by a virtual thread if DEEPEST loops are
     *                            nested already.
     *   it releases permits      The runs that become possible are collected, and started when the scheduler has
     *                            returned. So none of them runs inside another one, or inside the scheduler's actions
     *                            around another one.
     *
     * `collects` says which: it is true while the thread is inside a scheduler or releases permits.
     *
     * A thread of a scheduler opens a loop when it releases the permits of its run, and settles the run after it has
     * started the runs that became possible. If one of these is to run in this thread, it settles its own before that
     * (`unsettled`), because that has ended.
     */

    private static final int DEEPEST = 16;
    private static final ThreadLocal<@Nullable Dispatch> INNERMOST = new ThreadLocal<>();

    private final @Nullable Dispatch around;
    private final int depth;
    private @Nullable GrantedPermits collected; // null until there is one
    private @Nullable TaskRun<?> unsettled; // the run whose thread has opened this, until it is settled
    boolean collects = true;

    private Dispatch(@Nullable Dispatch around) {
        this.around = around;
        this.depth = around == null ? 1 : around.depth + 1;
    }

    /**
     * Starts a run, unless the calling thread is to start it when its scheduler has returned.
     *
     * @param granted a run that holds its permits and whose scheduler may run it in the calling thread
     */
    public static void start(TaskRun<?> granted) {
        granted.mayRunInPlace();
        Dispatch innermost = INNERMOST.get();
        if (innermost != null && innermost.collects) {
            innermost.collect(granted);
        } else if (innermost == null || innermost.depth < DEEPEST || !startElsewhere(granted)) {
            Dispatch mine = open();
            try {
                granted.startGranted();
            } finally {
                mine.closeAfter(null);
            }
        }
    }

    /** Starts a run on a virtual thread. Returns false if no thread can be started. */
    private static boolean startElsewhere(TaskRun<?> granted) {
        try {
            Scheduler.virtualThreads().execute(() -> {
                Thread.currentThread().setName(granted.owner());
                start(granted);
            });
            return true;
        } catch (Throwable noThread) {
            return false;
        }
    }

    /** Opens a loop of the calling thread, which collects runs until it is closed. */
    static Dispatch open() {
        Dispatch opened = new Dispatch(INNERMOST.get());
        INNERMOST.set(opened);
        return opened;
    }

    /**
     * Begins a run in the calling thread.
     *
     * @return the loop that is starting the run, or null if the calling thread is not inside a scheduler
     */
    static @Nullable Dispatch enter() {
        Dispatch innermost = INNERMOST.get();
        if (innermost == null || !innermost.collects) {
            return null;
        }
        innermost.collects = false;
        innermost.settle();
        return innermost;
    }

    /**
     * Starts the collected runs, and those that become possible by them, and closes this.
     *
     * @param ended the run to settle before one of these runs in the calling thread, or else after all are started; or
     *     null
     */
    void closeAfter(@Nullable TaskRun<?> ended) {
        unsettled = ended;
        collects = true;
        try {
            for (TaskRun<?> run; (run = poll()) != null; ) {
                run.startGranted();
            }
        } finally {
            collects = false;
            try {
                settle();
            } finally {
                INNERMOST.set(around);
            }
        }
    }

    private void settle() {
        TaskRun<?> ended = unsettled;
        unsettled = null;
        if (ended != null) {
            ended.settle();
        }
    }

    private void collect(TaskRun<?> run) {
        GrantedPermits all = collected == null ? new GrantedPermits() : collected;
        collected = all;
        all.add(run);
    }

    private @Nullable TaskRun<?> poll() {
        return collected == null ? null : (TaskRun<?>) collected.poll();
    }
}
