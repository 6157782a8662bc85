package dev.raddle.kernel;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A gate of task runs, which knows who of them waits for whom. A task that waits for another task of its own gate,
 * while every task that runs there does the same, would wait for ever; such a wait is refused.
 */
public abstract class TaskGate extends Gate {

    /** How many slots may be in use for a hopeless wait to be found. */
    private static final int LARGEST_SCAN = 4096;

    /** How many slots are in use at most where every wait may look at all of them. */
    private static final int SHORT_SCAN = 64;

    /**
     * Creates an empty gate.
     *
     * @param bounds its limits; bounds with no slots let nothing run until they are replaced
     */
    protected TaskGate(Bounds bounds) {
        super(bounds);
    }

    /**
     * Returns who waits without a timeout, by thread that may run a task: the run that it waits for.
     *
     * @return the same map at every call
     */
    protected abstract ConcurrentHashMap<Thread, TaskRun<?>> waits();

    /**
     * Returns what kind of gate this is, in messages.
     *
     * @return a word such as {@code group}
     */
    protected abstract String kind();

    /**
     * Returns what this gate is called.
     *
     * @return its key or name
     */
    protected abstract String label();

    /**
     * Notes that a thread, if it may run a task here, waits for a run of this gate. A wait for a run that ends by
     * itself is not noted: it comes to an end.
     *
     * @param self the thread
     * @param awaited the run
     * @return true if it was noted: the caller calls {@link #endWait} when the wait is over
     * @throws IllegalStateException if that thread runs a task here, and every task that runs here waits like this, so
     *     that none of the waits could end
     */
    public final boolean beginWait(Thread self, TaskRun<?> awaited) {
        if (awaited.endsByItself()) {
            return false;
        }
        lock();
        try {
            if ((!isWaiting(awaited) && !isHeld(awaited)) || !mayRunHere(self, awaited)) {
                return false;
            }
            waits().put(self, awaited);
            if (couldNeverEnd(awaited, self)) {
                waits().remove(self);
                throw new IllegalStateException(
                        "task \"" + awaited.name() + "\" in " + kind() + " \"" + label() + "\" would never "
                                + (isWaiting(awaited) ? "begin" : "end") + ": " + running() + " of " + bounds().slots()
                                + " running, and each of these waits for another task of the " + kind()
                                + "; raise the limit, use another " + kind() + ", or do not wait");
            }
            return true;
        } finally {
            unlock();
        }
    }

    /**
     * Notes that a wait is over.
     *
     * @param self the thread that waited
     * @param awaited the run that it waited for
     */
    public final void endWait(Thread self, TaskRun<?> awaited) {
        waits().remove(self, awaited);
    }

    /** Whether a thread runs a task here, as far as can be told: one that is being interrupted does not show. */
    private boolean mayRunHere(Thread thread, TaskRun<?> awaited) {
        return running() > SHORT_SCAN
                || anyHeld(permit -> {
                    Thread runner = runnerOf(permit);
                    return runner == thread || (runner == null && permit != awaited);
                });
    }

    private boolean runsHere(Thread thread) {
        return anyHeld(permit -> runnerOf(permit) == thread);
    }

    private boolean couldNeverEnd(TaskRun<?> awaited, Thread waiter) {
        if (isPaused() || !isBound() || waitsForCap() || running() > LARGEST_SCAN) {
            return false;
        }
        if (isHeld(awaited) && !waitsHere(awaited.runningThread())) {
            return false;
        }
        return runsHere(waiter) && !anyHeld(permit -> mayEnd((TaskRun<?>) permit));
    }

    private boolean mayEnd(TaskRun<?> held) {
        return !waitsHere(held.runningThread()) || held.endsByItself();
    }

    /** Whether a thread waits for a run of this gate that has not given its permits back. */
    private boolean waitsHere(@Nullable Thread runner) {
        TaskRun<?> awaited = runner == null ? null : waits().get(runner);
        return awaited != null && (isWaiting(awaited) || isHeld(awaited));
    }

    private static @Nullable Thread runnerOf(Permit permit) {
        return ((TaskRun<?>) permit).runningThread();
    }
}
