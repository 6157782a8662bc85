package dev.raddle.scope;

import dev.raddle.kernel.InterruptWindow;
import dev.raddle.task.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * What a scope and its container know of a subtask: a node in the scope's list of pending subtasks, with a phase, a
 * thread, and with a scheduler a placement. The container calls it in that thread.
 */
abstract class PendingSubtask extends InterruptWindow implements Callable<@Nullable Object> {

    /*
     * Overview.
     *
     * `phase` only increases, and determines which thread counts this subtask as ended:
     *
     *   WAITING ──► RUNNING ──► ENDED     by the thread that runs it, or by the scheduler that rejects it
     *   WAITING ──────────────► ENDED     abandoned: by its forker, if the container did not start the thread; by the
     *                                     owner, if that thread has terminated; by a shutdown that withdraws it from a
     *                                     scheduler's queue
     *
     * Both transitions out of WAITING are a compare-and-set, so exactly one thread counts the end, once.
     */
    static final byte WAITING = 0;
    static final byte RUNNING = 1;
    static final byte ENDED = 2;

    static final VarHandle PHASE;

    static {
        try {
            PHASE = MethodHandles.lookup().findVarHandle(PendingSubtask.class, "phase", byte.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    @Nullable
    PendingSubtask next; // the next older subtask, null once this is unlinked; for writers see PendingSubtasks

    volatile @Nullable Thread thread; // from its creation to the subtask's end
    volatile Scheduler.@Nullable Placement placement; // from when a scheduler has accepted this to the end
    final int forkedMillis; // the lower half of the time source's milliseconds
    volatile byte phase;

    PendingSubtask(int forkedMillis) {
        this.forkedMillis = forkedMillis;
    }

    /**
     * Runs this in a thread that has inherited its scoped values. Never throws: the JDK's scope must not see failures.
     */
    @Override
    public abstract @Nullable Object call();

    /** Runs this with scoped values. Never throws. */
    abstract void run(ScopedValue.Carrier values);

    /** Fails this instead of running it. */
    abstract void fail(Throwable failure);

    /**
     * Ends this without running it. The caller must ensure that no thread will run it. Returns false if it has begun.
     */
    abstract boolean abandon();

    /** Withdraws this from its scheduler's queue, or interrupts its thread. Called when the scope is shut down. */
    abstract void cancel();

    /** Notifies the listener, if there is one, of the submission. Called by the forker before the start. */
    abstract void observe();

    /** Returns the name of the task, or that of its class. */
    abstract String taskName();

    /** Returns the name of the thread, or else that of the task, for messages and dumps. */
    final String name() {
        Thread runner = thread;
        String name = runner == null ? "" : runner.getName();
        return name.isEmpty() ? taskName() : name;
    }

    final boolean isWaiting() {
        return phase == WAITING;
    }

    final boolean hasEnded() {
        return phase == ENDED;
    }

    /** Returns whether the thread has terminated without running this subtask. */
    final boolean isDead() {
        Thread runner = thread;
        return runner != null && isWaiting() && runner.getState() == Thread.State.TERMINATED && isWaiting();
    }

    /**
     * Returns whether the container has not started the thread, which is then terminated if virtual, and new if not.
     */
    final boolean isRefused() {
        Thread runner = thread;
        if (runner == null || phase != WAITING) {
            return false;
        }
        Thread.State state = runner.getState();
        return (state == Thread.State.TERMINATED || state == Thread.State.NEW) && phase == WAITING;
    }

    /** Stores the placement, which a shutdown withdraws. After an earlier shutdown, the forker cancels this subtask. */
    final void setPlacement(Scheduler.Placement accepted) {
        placement = accepted;
        if (hasEnded()) {
            placement = null;
        }
    }

    /**
     * Registers that a thread waits for this subtask, as {@link Scheduler.Placement#beginWait} does.
     *
     * @return the placement that has recorded the wait, or null; the caller ends the wait there
     */
    final Scheduler.@Nullable Placement beginWait(Thread waiter) {
        Scheduler.Placement place = placement;
        return place != null && isWaiting() && place.beginWait(waiter) ? place : null;
    }
}
