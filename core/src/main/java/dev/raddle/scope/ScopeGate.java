package dev.raddle.scope;

import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.Entry;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import dev.raddle.time.Signal;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one scope that have not ended: those that wait for the limit, and those that are placed or running. A
 * task is in the gate from its submission until its runner has finished with it, even if it was ended from outside
 * before.
 */
final class ScopeGate extends ScopeMeter {

    /** The result of an attempt to enter. */
    enum Admission {
        HELD,
        WAITING,
        CANCELLED
    }

    private record Limit(int concurrency) implements Bounds {
        @Override
        public int maxInFlight() {
            return concurrency;
        }

        @Override
        public int maxWaiting() {
            return Integer.MAX_VALUE;
        }

        @Override
        public int weight() {
            return 1;
        }

        @Override
        public int slots() {
            return concurrency;
        }
    }

    private static final Limit UNLIMITED = new Limit(Integer.MAX_VALUE);
    private static final FairCap NO_CAP = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);

    private final String scope; // its name
    private @Nullable ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns; // null without a limit; set before any task
    private int timerSubmissions; // guarded by this
    private @Nullable Signal empty; // set when the gate is empty; null if no thread waits for it; guarded by this
    volatile boolean closed; // written under this, after the other two
    private volatile @Nullable CancelledException closeCause; // null if every task had ended; written under this
    volatile boolean ended; // whether close() has waited for every task; written by the owner
    private volatile @Nullable DeadlineExpiry expiry; // if the deadline closed the gate; written under this

    ScopeGate(String scope) {
        super(UNLIMITED, NO_CAP);
        this.scope = scope;
    }

    void setLimit(int concurrency) {
        awaitedRuns = new ConcurrentHashMap<>();
        change(() -> bind(new Limit(concurrency), new GrantedPermits()));
    }

    boolean isLimited() {
        return awaitedRuns != null;
    }

    /** Admits a run, or queues it, unless the gate is closed. Counts it unless it is counted. */
    Admission admit(ScopeRun<?> run, boolean counted) {
        lock();
        try {
            if (!counted) {
                addSubmission();
            }
            if (closed) {
                return Admission.CANCELLED;
            }
            return enter(run, GrantedPermits.NO_TIME) == Entry.HELD ? Admission.HELD : Admission.WAITING;
        } finally {
            unlock();
        }
    }

    /** Counts a submission that will be admitted later. */
    void countSubmission() {
        change(this::addSubmission);
    }

    /** Counts the end of a run that was ended from outside and still runs. */
    void countEnd(ScopeRun<?> run) {
        change(() -> run.countEnd());
    }

    ScopeMetrics metrics() {
        return locked(this::readMetrics);
    }

    /**
     * Releases the permit of a run that its runner has left.
     *
     * @param ownOutcome the outcome to count if the runner has decided the run, or null
     */
    void release(ScopeRun<?> run, @Nullable Outcome<?> ownOutcome, long ranNanos, GrantedPermits grants) {
        lock();
        try {
            leave(run, ranNanos, GrantedPermits.NO_TIME, grants); // it has no cap
            if (ownOutcome != null) {
                run.countOwnEnd(ownOutcome, ranNanos);
            }
        } finally {
            unlockAndSignal();
        }
    }

    /**
     * Removes a run that did not begin, whether it waits or is held; has no effect if it is not here. Counts its end if
     * {@code counts}.
     */
    void remove(ScopeRun<?> run, boolean counts, GrantedPermits grants) {
        change(() -> {
            if (!super.withdraw(run, grants)) {
                leave(run, NEVER_RAN, GrantedPermits.NO_TIME, grants);
            }
            if (counts) {
                run.countEnd();
            }
        });
    }

    /** Removes a run from the queue. Returns false if it does not wait. */
    boolean withdraw(ScopeRun<?> run, GrantedPermits grants) {
        lock();
        try {
            return super.withdraw(run, grants);
        } finally {
            unlockAndSignal();
        }
    }

    /**
     * Begins a submission by a timer. The gate is not empty until {@link #endTimerSubmission} is called.
     *
     * @return false if the gate is closed; the submission is then neither begun nor necessary
     */
    boolean beginTimerSubmission() {
        return locked(() -> {
            timerSubmissions += closed ? 0 : 1;
            return !closed;
        });
    }

    void endTimerSubmission() {
        change(() -> timerSubmissions--);
    }

    /**
     * Closes the gate to further runs. Returns false if it was closed before.
     *
     * @param passed the expiry with this cause if the deadline closes the gate, or null
     */
    boolean close(CancelledException cause, @Nullable DeadlineExpiry passed) {
        return locked(() -> {
            if (closed) {
                return false;
            }
            expiry = passed;
            closeCause = cause;
            closed = true;
            return true;
        });
    }

    /** Closes the gate if it is open and empty and every end was counted. Returns false if it is not. */
    boolean closeIfEmpty() {
        lock();
        try {
            boolean closing = !closed && hasNone();
            closed |= closing;
            return closing;
        } finally {
            unlock();
        }
    }

    /** Returns why the gate was closed, or null if it is open. */
    @Nullable
    CancelledException closeCause() {
        if (!closed) {
            return null;
        }
        CancelledException cause = closeCause;
        return cause == null ? endOfScope() : cause;
    }

    /** Returns the cause of tasks that the end of the scope cancels. */
    CancelledException endOfScope() {
        return new CancelledException("scope \"" + scope + "\" was closed");
    }

    /**
     * Returns the exception of waits for a task with this cancellation cause if that is the deadline's, or else null.
     */
    @Nullable
    ScopeTimeoutException expiredBy(Throwable cause) {
        DeadlineExpiry passed = expiry;
        return passed != null && passed.cause() == cause ? passed.exception() : null;
    }

    /** Returns the exception of a wait that the closing of the gate has ended, or null if the gate is open. */
    @Nullable
    RuntimeException closeException() {
        CancelledException cause = closeCause();
        ScopeTimeoutException expired = cause == null ? null : expiredBy(cause);
        return expired != null ? expired : cause;
    }

    /** Adds the placed and running runs to a list, oldest first, and then all waiting ones, which it removes. */
    void takeAll(List<ScopeRun<?>> all) {
        List<ScopeRun<?>> waiting = new ArrayList<>();
        change(() -> {
            forEachHeld(permit -> all.add((ScopeRun<?>) permit));
            drain(permit -> waiting.add((ScopeRun<?>) permit));
        });
        all.addAll(waiting);
        waiting.forEach(ScopeRun::leftScope);
    }

    /** Returns all placed and running runs, oldest first, and then all waiting ones. */
    List<ScopeRun<?>> all() {
        List<ScopeRun<?>> all = new ArrayList<>();
        change(() -> {
            forEachHeld(permit -> all.add((ScopeRun<?>) permit));
            forEachWaiting(permit -> all.add((ScopeRun<?>) permit));
        });
        return all;
    }

    /** Returns all placed and running runs, oldest first. */
    List<ScopeRun<?>> placed() {
        List<ScopeRun<?>> held = new ArrayList<>();
        change(() -> forEachHeld(permit -> held.add((ScopeRun<?>) permit)));
        return held;
    }

    /** Returns a signal that is set when no run and no timer's submission is in the gate and every end was counted. */
    Signal untilEmpty() {
        Signal signal = new Signal(); // only the owner waits
        change(() -> empty = signal);
        return signal;
    }

    private boolean hasNone() {
        return isEmpty() && timerSubmissions == 0 && unsettled() <= 0;
    }

    /** Runs a section under the lock. What every task or scope passes does the same by hand. */
    private void change(Runnable section) {
        lock();
        try {
            section.run();
        } finally {
            unlockAndSignal();
        }
    }

    /** Ends a section that may have emptied this gate, and sets the signal if a thread waits for that. */
    private void unlockAndSignal() {
        Signal emptied = null;
        if (empty != null && hasNone()) {
            emptied = empty;
            empty = null;
        }
        unlock();
        if (emptied != null) {
            emptied.set();
        }
    }

    @Override
    protected ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns() {
        return Objects.requireNonNull(awaitedRuns, "waits are registered only under a limit");
    }

    @Override
    protected String kind() {
        return "scope";
    }

    @Override
    public String toString() {
        return "scope \"" + scope + "\"";
    }
}
