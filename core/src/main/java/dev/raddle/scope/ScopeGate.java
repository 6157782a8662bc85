package dev.raddle.scope;

import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.Entry;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.TaskGate;
import dev.raddle.kernel.TaskRun;
import java.util.concurrent.ConcurrentHashMap;

/** The limit of a scope. A run waits here for a permit, or holds one until its runner has finished with it. */
final class ScopeGate extends TaskGate {

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

    private static final FairCap NO_CAP = new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED);

    private final String scope; // its name
    private final ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns = new ConcurrentHashMap<>();

    ScopeGate(String scope, int concurrency) {
        super(new Limit(concurrency), NO_CAP);
        this.scope = scope;
    }

    /** Admits a run, or queues it, unless it is decided. Returns whether it holds a permit. */
    boolean admit(ScopeRun<?> run) {
        lock();
        try {
            return !run.isDecided() && enter(run, GrantedPermits.NO_TIME) == Entry.HELD;
        } finally {
            unlock();
        }
    }

    /** Removes a run, whether it waits or holds a permit. Does nothing if it is not here. */
    void leave(ScopeRun<?> run, GrantedPermits grants) {
        lock();
        try {
            if (!super.withdraw(run, grants)) {
                leave(run, NEVER_RAN, GrantedPermits.NO_TIME, grants); // it has no cap, and so needs no time
            }
        } finally {
            unlock();
        }
    }

    /** Removes a run from the queue. Returns false if it does not wait. */
    boolean withdraw(ScopeRun<?> run, GrantedPermits grants) {
        return locked(() -> super.withdraw(run, grants));
    }

    /** Removes all runs from the queue. */
    void removeWaiting() {
        lock();
        try {
            drain(run -> {});
        } finally {
            unlock();
        }
    }

    @Override
    protected ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns() {
        return awaitedRuns;
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
