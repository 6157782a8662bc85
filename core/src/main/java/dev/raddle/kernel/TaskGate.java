package dev.raddle.kernel;

import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A gate of task runs that records which of them wait for which. A task that waits for another task of its own gate,
 * while every task that runs there does the same, would wait for ever; such a wait is refused.
 */
public abstract class TaskGate extends Gate {

    /** The largest number of slots in use with which hopeless waits are detected. */
    private static final int LARGEST_SCAN = 4096;

    /** The largest number of slots in use with which every wait examines all held permits. */
    private static final int SHORT_SCAN = 64;

    /**
     * Creates an empty gate.
     *
     * @param bounds the limits; bounds without slots admit nothing until they are replaced
     * @param cap the cap that this gate shares with others
     */
    protected TaskGate(Bounds bounds, FairCap cap) {
        super(bounds, cap);
    }

    /**
     * Returns the map from each thread that waits without a timeout to the run that it waits for.
     *
     * @return the map, always the same
     */
    protected abstract ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns();

    /**
     * Returns the kind of this gate, for messages.
     *
     * @return a noun such as {@code group}
     */
    protected abstract String kind();

    /**
     * Records that a thread waits for a run of this gate, if the thread may run a task here. Does not record a wait for
     * a run whose time is bounded, because such a wait ends.
     *
     * @param self the thread
     * @param awaited the run
     * @return true if the wait was recorded: the caller calls {@link #endWait} after it
     * @throws IllegalStateException if that thread runs a task here, and every task that runs here waits like this, so
     *     that none of the waits could end
     */
    public final boolean beginWait(Thread self, TaskRun<?> awaited) {
        if (awaited.isTimeBounded()) {
            return false;
        }
        lock();
        try {
            if (!owns(awaited) || awaited.place == Permit.NOWHERE || !mayRunHere(self, awaited)) {
                return false;
            }
            awaitedRuns().put(self, awaited);
            if (!couldNeverEnd(awaited, self)) {
                return true;
            }
            awaitedRuns().remove(self);
            throw new IllegalStateException("task \"" + awaited.name() + "\" in " + this + " would never "
                    + (isWaiting(awaited) ? "begin" : "end") + ": " + running + " of " + bounds().slots()
                    + " running, and each of these waits for another task of the " + kind()
                    + "; raise the limit, use another " + kind() + ", or do not wait");
        } finally {
            unlock();
        }
    }

    /**
     * Removes the record of a wait.
     *
     * @param self the thread that waited
     * @param awaited the run that it waited for
     */
    public final void endWait(Thread self, TaskRun<?> awaited) {
        awaitedRuns().remove(self, awaited);
    }

    /**
     * Returns whether the limits of this gate and of the cap decide when a run continues.
     *
     * @param run any run
     * @return true if it holds slots here, or waits here for slots and not for limits, a resume or permits from
     *     elsewhere
     */
    public final boolean isSubjectToLimits(TaskRun<?> run) {
        lock();
        try {
            return isHeld(run) || (isWaiting(run) && isBound() && isFirstSubjectToLimits());
        } finally {
            unlock();
        }
    }

    private boolean isFirstSubjectToLimits() {
        return switch (obstacle(GrantedPermits.NO_TIME)) {
            case PAUSED, HOLD, FLEET_LIMIT -> false;
            case BREAKER -> !isStopped(BROKEN);
            default -> true;
        };
    }

    /** Returns whether a thread may run a task here. (A runner that is being interrupted cannot be identified.) */
    private boolean mayRunHere(Thread thread, TaskRun<?> awaited) {
        if (running > SHORT_SCAN) {
            return true;
        }
        Permit permit = held;
        while (permit != null) { // without a lambda, because most waits come here
            Thread runner = ((TaskRun<?>) permit).runnerThread();
            if (runner == thread || (runner == null && permit != awaited)) {
                return true;
            }
            permit = permit.previous == held ? null : permit.previous;
        }
        return false;
    }

    private boolean runsHere(Thread thread) {
        return anyHeld(permit -> ((TaskRun<?>) permit).runnerThread() == thread);
    }

    private boolean couldNeverEnd(TaskRun<?> awaited, Thread waiter) {
        if (!isBound() || isFirstKeptByOthers() || running() > LARGEST_SCAN) {
            return false;
        }
        if (isHeld(awaited) && !waitsHere(awaited.runnerThread())) {
            return false;
        }
        return runsHere(waiter) && !anyHeld(permit -> mayEnd((TaskRun<?>) permit));
    }

    /** Returns whether the first permit in the queue waits for something else than the end of a task here. */
    private boolean isFirstKeptByOthers() {
        return switch (obstacle(GrantedPermits.NO_TIME)) {
            case GROUP_LIMIT, BULKHEAD, NOTHING -> false;
            case HOLD -> running() < bounds().slots(); // when it ends, as it will
            case BREAKER -> isStopped(BROKEN); // else it waits for the end of the probes
            default -> true;
        };
    }

    private boolean mayEnd(TaskRun<?> held) {
        return !waitsHere(held.runnerThread()) || held.isTimeBounded();
    }

    /** Returns whether a thread waits for a run of this gate that has not released its permits. */
    private boolean waitsHere(@Nullable Thread runner) {
        TaskRun<?> awaited = runner == null ? null : awaitedRuns().get(runner);
        return awaited != null && (isWaiting(awaited) || isHeld(awaited));
    }
}
