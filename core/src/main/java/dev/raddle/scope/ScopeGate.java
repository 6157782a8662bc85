package dev.raddle.scope;

import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.TaskGate;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.CancelledException;
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
final class ScopeGate extends TaskGate {

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
    }

    private static final Limit UNLIMITED = new Limit(Integer.MAX_VALUE);
    private static final FairCap NO_CAP = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);

    private final String scope; // its name
    private final ScopeMeter meter = new ScopeMeter();
    private @Nullable ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns; // null without a limit; set before any task
    private int timerSubmissions; // guarded by this
    private @Nullable Signal empty; // set when the gate is empty; null if no thread waits for it; guarded by this
    private volatile @Nullable CancelledException closeCause; // why the gate was closed, or null; written under this
    private volatile @Nullable DeadlineExpiry expiry; // if the deadline closed the gate; written before closeCause

    ScopeGate(String scope) {
        super(UNLIMITED);
        this.scope = scope;
    }

    void setLimit(int concurrency) {
        awaitedRuns = new ConcurrentHashMap<>();
        lock();
        try {
            bind(new Limit(concurrency), new GrantedPermits());
        } finally {
            unlock();
        }
    }

    boolean isLimited() {
        return bounds() != UNLIMITED;
    }

    /** Admits a run, or queues it, unless the gate is closed. If {@code counts}, counts it as submitted. */
    Admission admit(ScopeRun<?> run, boolean counts) {
        lock();
        try {
            if (counts) {
                meter.countSubmission();
            }
            if (closeCause != null) {
                return Admission.CANCELLED;
            }
            return enter(run) == Entry.HELD ? Admission.HELD : Admission.WAITING;
        } finally {
            unlock();
        }
    }

    /** Counts a submission that will be admitted later. */
    void countSubmission() {
        lock();
        try {
            meter.countSubmission();
        } finally {
            unlock();
        }
    }

    /** Counts the end of a run that was ended from outside and still runs. */
    void countEnd(ScopeRun<?> run) {
        Signal emptied;
        lock();
        try {
            run.countIn(meter);
            emptied = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        setIfPresent(emptied);
    }

    /** Returns the meter of this scope. */
    ScopeMeter meter() {
        return meter;
    }

    ScopeMetrics metrics() {
        lock();
        try {
            return meter.read();
        } finally {
            unlock();
        }
    }

    /**
     * Releases a run's permit, or removes it from the queue; has no effect if it is not here. Counts its end if
     * {@code counts}.
     */
    void release(ScopeRun<?> run, boolean counts, long ranNanos, GrantedPermits grants) {
        Signal emptied;
        lock();
        try {
            if (counts) {
                run.countIn(meter);
            }
            if (!super.withdraw(run, grants)) {
                leave(run, ranNanos, grants);
            }
            emptied = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        setIfPresent(emptied);
    }

    /** Removes a run from the queue. Returns false if it does not wait. */
    boolean withdraw(ScopeRun<?> run, GrantedPermits grants) {
        Signal emptied;
        lock();
        try {
            if (!super.withdraw(run, grants)) {
                return false;
            }
            emptied = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        setIfPresent(emptied);
        return true;
    }

    /**
     * Begins a submission by a timer. The gate is not empty until {@link #endTimerSubmission} is called.
     *
     * @return false if the gate is closed; the submission is then neither begun nor necessary
     */
    boolean beginTimerSubmission() {
        lock();
        try {
            timerSubmissions += closeCause == null ? 1 : 0;
            return closeCause == null;
        } finally {
            unlock();
        }
    }

    void endTimerSubmission() {
        Signal emptied;
        lock();
        try {
            timerSubmissions--;
            emptied = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        setIfPresent(emptied);
    }

    /** Closes the gate to further runs. Returns false if it was closed before. */
    boolean close(CancelledException cause) {
        return close(cause, null);
    }

    /** Closes the gate because the deadline has passed. Returns false if it was closed before. */
    boolean close(DeadlineExpiry passed) {
        return close(passed.cause(), passed);
    }

    private boolean close(CancelledException cause, @Nullable DeadlineExpiry passed) {
        lock();
        try {
            if (closeCause != null) {
                return false;
            }
            expiry = passed;
            closeCause = cause;
            return true;
        } finally {
            unlock();
        }
    }

    /** Returns why the gate was closed, or null if it is open. */
    @Nullable
    CancelledException closeCause() {
        return closeCause;
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
        CancelledException cause = closeCause;
        ScopeTimeoutException expired = cause == null ? null : expiredBy(cause);
        return expired != null ? expired : cause;
    }

    /** Removes all waiting runs. Returns the placed and running runs, oldest first, and then the removed ones. */
    List<ScopeRun<?>> takeAll() {
        ArrayList<ScopeRun<?>> all = new ArrayList<>();
        int held;
        Signal emptied;
        lock();
        try {
            forEachHeld(permit -> all.add((ScopeRun<?>) permit));
            held = all.size();
            all.ensureCapacity(held + waiting()); // before the first run leaves, because it may fail
            drain(permit -> all.add((ScopeRun<?>) permit));
            emptied = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        all.subList(held, all.size()).forEach(ScopeRun::leftScope);
        setIfPresent(emptied);
        return all;
    }

    /** Returns all placed and running runs, oldest first, and then all waiting ones. */
    List<ScopeRun<?>> all() {
        List<ScopeRun<?>> all = new ArrayList<>();
        lock();
        try {
            forEachHeld(permit -> all.add((ScopeRun<?>) permit));
            forEachWaiting(permit -> all.add((ScopeRun<?>) permit));
        } finally {
            unlock();
        }
        return all;
    }

    /** Returns all placed and running runs, oldest first. */
    List<ScopeRun<?>> placed() {
        List<ScopeRun<?>> held = new ArrayList<>();
        lock();
        try {
            forEachHeld(permit -> held.add((ScopeRun<?>) permit));
        } finally {
            unlock();
        }
        return held;
    }

    /** Returns a signal that is set when no run and no timer's submission is in the gate and every end was counted. */
    Signal untilEmpty() {
        Signal signal;
        Signal emptied;
        lock();
        try {
            signal = empty == null ? new Signal() : empty;
            empty = signal;
            emptied = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        setIfPresent(emptied);
        return signal;
    }

    private @Nullable Signal takeSignalIfEmpty() {
        if (empty == null || !isEmpty() || timerSubmissions > 0 || meter.unsettled() > 0) {
            return null;
        }
        Signal signal = empty;
        empty = null;
        return signal;
    }

    private static void setIfPresent(@Nullable Signal emptied) {
        if (emptied != null) {
            emptied.set();
        }
    }

    @Override
    protected FairCap cap() {
        return NO_CAP;
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
    protected String label() {
        return scope;
    }
}
