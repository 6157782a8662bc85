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
 * The tasks of one scope that have not ended: those that wait for its limit, and those that are placed or run. A task is in
 * here from its submission until its runner is through with it, also if it was ended from outside before.
 */
final class ScopeGate extends TaskGate {

    /** What became of a task that wanted to enter. */
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

    private final ThreadScope scope;
    private final ScopeMeter meter = new ScopeMeter();
    private @Nullable ConcurrentHashMap<Thread, TaskRun<?>>
            waits; // null without a limit; written before the first task
    private int errands; // guarded by this
    private @Nullable Signal empty; // to be set when all is over; guarded by this
    private volatile @Nullable CancelledException closed; // why nobody enters any more; written under this

    ScopeGate(ThreadScope scope) {
        super(UNLIMITED);
        this.scope = scope;
    }

    void limit(int concurrency) {
        waits = new ConcurrentHashMap<>();
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

    /** Lets a run enter, or wait, unless the gate is closed; counts it as submitted unless that was done before. */
    Admission admit(ScopeRun<?> run, boolean counts) {
        lock();
        try {
            if (counts) {
                meter.submitted();
            }
            if (closed != null) {
                return Admission.CANCELLED;
            }
            return enter(run) == Entry.HELD ? Admission.HELD : Admission.WAITING;
        } finally {
            unlock();
        }
    }

    /** Counts a submission that will be admitted later. */
    void submitted() {
        lock();
        try {
            meter.submitted();
        } finally {
            unlock();
        }
    }

    /** Counts how a run ended that was ended from outside, and still runs. */
    void count(ScopeRun<?> run) {
        Signal nobody;
        lock();
        try {
            run.countIn(meter);
            nobody = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        tell(nobody);
    }

    /** Returns who counts starts. */
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

    /** Gives back what a run holds, or its place if it waits; does nothing if it has neither. Counts how it ended, if its runner has found that. */
    void release(ScopeRun<?> run, boolean counts, long ranNanos, GrantedPermits grants) {
        Signal nobody;
        lock();
        try {
            if (counts) {
                run.countIn(meter);
            }
            if (!super.withdraw(run, grants)) {
                leave(run, ranNanos, grants);
            }
            nobody = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        tell(nobody);
    }

    /** Takes a run out of those that wait; false if it does not wait. */
    boolean withdraw(ScopeRun<?> run, GrantedPermits grants) {
        Signal nobody;
        lock();
        try {
            if (!super.withdraw(run, grants)) {
                return false;
            }
            nobody = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        tell(nobody);
        return true;
    }

    /**
     * Begins an errand for the scope, which is not over until {@link #endErrand}: an alarm's thread, on its way to submit
     * something.
     *
     * @return false if nobody enters any more, so that there is nothing to do
     */
    boolean beginErrand() {
        lock();
        try {
            errands += closed == null ? 1 : 0;
            return closed == null;
        } finally {
            unlock();
        }
    }

    void endErrand() {
        Signal nobody;
        lock();
        try {
            errands--;
            nobody = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        tell(nobody);
    }

    /** Lets nobody enter any more; false if that was so before. */
    boolean close(CancelledException cause) {
        lock();
        try {
            if (closed != null) {
                return false;
            }
            closed = cause;
            return true;
        } finally {
            unlock();
        }
    }

    /** Returns why nobody enters any more, or null if that is not so. */
    @Nullable
    CancelledException closed() {
        return closed;
    }

    /** Takes out all who wait, and returns them and all who are placed or run, oldest first. */
    List<ScopeRun<?>> takeAll() {
        List<ScopeRun<?>> all = new ArrayList<>();
        int held;
        Signal nobody;
        lock();
        try {
            forEachHeld(permit -> all.add((ScopeRun<?>) permit));
            held = all.size();
            drain().forEach(permit -> all.add((ScopeRun<?>) permit));
            nobody = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        all.subList(held, all.size()).forEach(ScopeRun::left);
        tell(nobody);
        return all;
    }

    /** Returns all who are placed or run, oldest first, and then all who wait. */
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

    /** Returns all who are placed or run, oldest first. */
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

    /** Returns a signal that is set when nobody is in here or on an errand, and everybody was told of and counted. */
    Signal untilEmpty() {
        Signal signal;
        Signal nobody;
        lock();
        try {
            signal = empty == null ? new Signal() : empty;
            empty = signal;
            nobody = takeSignalIfEmpty();
        } finally {
            unlock();
        }
        tell(nobody);
        return signal;
    }

    private @Nullable Signal takeSignalIfEmpty() {
        if (empty == null || !isEmpty() || errands > 0 || meter.unsettled() > 0) {
            return null;
        }
        Signal signal = empty;
        empty = null;
        return signal;
    }

    private static void tell(@Nullable Signal nobody) {
        if (nobody != null) {
            nobody.set();
        }
    }

    @Override
    protected FairCap cap() {
        return NO_CAP;
    }

    @Override
    protected ConcurrentHashMap<Thread, TaskRun<?>> waits() {
        return Objects.requireNonNull(waits, "waits are noted only under a limit");
    }

    @Override
    protected String kind() {
        return "scope";
    }

    @Override
    protected String label() {
        return scope.name();
    }
}
