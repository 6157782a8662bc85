package dev.raddle.group;

import dev.raddle.group.CircuitBreaker.State;
import dev.raddle.kernel.Gate;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A group that may have a circuit breaker. */
class BreakerGroup extends Group {

    /*
     * Overview.
     *
     * The state is a Breaker, guarded by this group's lock. To the gate it is two reasons for which nothing is granted:
     *
     *   BROKEN   the breaker is open                                  obstacle BREAKER
     *   PROBED   it is half-open, and all probes have their places    obstacle BREAKER
     *
     * Both are changed in the section that changes the breaker, so the next admission sees them:
     *
     *   CLOSED ─► OPEN, HALF_OPEN ─► any   `recordEnd`, by the runner of the task whose end decides, before its slots
     *                                      are free; so no slot that it frees is granted after an opening
     *   OPEN ─► HALF_OPEN                  `probeIfDue`: if tasks are rejected meanwhile, by the first one that comes
     *                                      when the moment has passed; no alarm is needed, because none waits. If tasks
     *                                      wait, by the alarm of the group, as at the end of a hold
     *   any ─► OPEN or CLOSED              `openByCall`, `reset`
     *
     * A task counts only in the state in which it was granted. Each change of the state marks the tasks that hold slots
     * (`isUncounted`), and so does the step that records an end: each counts at most once. In the state HALF_OPEN, the
     * unmarked tasks that hold slots are the running probes. `took` and `returned` count them in the steps that take
     * and free their slots: at entry, by the cap's combiner, or when another task has ended. So there are never more
     * than the plan has, and a probe that ends without counting, because it was cancelled, rejected by its scheduler or
     * evicted before it ran, gives its place to the next task, whichever way it ends.
     *
     * Unless the plan lets tasks wait, a task is refused if the breaker is open, or half-open with no more places than
     * tasks that wait for slots. So no task waits for the decision of the probes, and the opening drains the queue.
     *
     * A change is reported, and the drained tasks are rejected, after the lock was released and the slots of the task
     * that decided are free (`GroupEngine.apply`). Rejections call user code, which may wait for that task, so another
     * thread makes them.
     *
     * An eviction discards the breaker with the limits; the running tasks are marked.
     */

    /**
     * A change that was made under the lock, and what is to be done about it.
     *
     * @param refused the runs that waited and are rejected, in order
     */
    record Change(Group group, State before, State after, Map<GroupRun<?>, Refusal> refused) {}

    private volatile @Nullable Breaker breaker; // null if the limits are unknown or have none; written under this

    BreakerGroup(String key, GroupEngine engine) {
        super(key, engine);
    }

    /** Returns a new group. The verifier does not load this class for a caller whose groups have no breakers. */
    static Group create(String key, GroupEngine engine) {
        return new BreakerGroup(key, engine);
    }

    // Admission.

    @Override
    void probeIfDue() {
        Breaker own = breaker;
        if (own != null && own.state() == State.OPEN && !own.plan.waitsWhenOpen()) {
            probeIfDue(own, new GrantedPermits()); // no task waits, so none is granted
        }
    }

    private void probeIfDue(Breaker own, GrantedPermits grants) {
        Change change = change(
                grants, now -> own == breaker && own.isProbeDue(now) ? change(own, own::halfOpen, now, grants) : null);
        if (change != null) {
            engine.apply(change, true);
        }
    }

    @Override
    boolean isBroken() {
        Breaker own = breaker;
        return own != null && own.state() != State.CLOSED && !own.plan.waitsWhenOpen() && waiting() >= own.places();
    }

    @Override
    protected void took(Permit permit, int slots) {
        Breaker own = breaker;
        if (own != null && own.state() == State.HALF_OPEN) {
            own.admitProbe();
            if (own.places() == 0) {
                mark(PROBED, true);
            }
        }
    }

    @Override
    protected void returned(Permit permit) {
        Breaker own = breaker;
        if (own != null && own.state() == State.HALF_OPEN && !((GroupRun<?>) permit).isUncounted) {
            own.releaseProbe();
            mark(PROBED, false);
        }
    }

    /** Returns why the next attempt of a running task is refused, or null if it may be made. */
    @Override
    @Nullable
    Refusal attemptRefusal(GroupRun<?> run) {
        long now = engine.time.nanoTime();
        return locked(() -> {
            Breaker own = breaker;
            boolean isAllowed = own == null
                    || own.state() == State.CLOSED
                    || (own.state() == State.HALF_OPEN && isHeld(run) && !run.isUncounted);
            return isAllowed ? null : breakerRefusal(now);
        });
    }

    // Changes.

    /**
     * Counts the end of a run, which holds its slots.
     *
     * @return the change that it makes, or null
     */
    @Nullable
    Change recordEnd(GroupRun<?> run, long ranNanos, long now, GrantedPermits grants) {
        Breaker own = breaker;
        Breaker.End end = own == null || ranNanos == Gate.NEVER_RAN ? null : run.endFor(own.plan, ranNanos);
        if (own == null || end == null) {
            return null;
        }
        grants.setNow(now);
        lock();
        try {
            if (own != breaker || !isHeld(run) || run.isUncounted) {
                return null;
            }
            run.isUncounted = true;
            State before = own.state();
            own.record(end, now);
            return own.state() == before ? null : afterChange(own, before, now, grants);
        } finally {
            unlock();
        }
    }

    /**
     * Opens the breaker of this group, which gets one if its limits are not known yet.
     *
     * @return the change; null if this group is retired
     */
    @Nullable
    Change openByCall(CircuitBreaker plan, Duration length, GrantedPermits grants) {
        return change(grants, now -> {
            if (retireIfShutDown()) {
                return null;
            }
            Breaker own = breaker == null ? new Breaker(plan) : breaker;
            breaker = own;
            return change(own, () -> own.openByCall(now, length), now, grants);
        });
    }

    /** Closes the breaker; returns the change, or null if this group has none. */
    @Nullable
    Change reset(GrantedPermits grants) {
        return change(grants, now -> {
            Breaker own = breaker;
            return own == null ? null : change(own, own::close, now, grants);
        });
    }

    private Change change(Breaker own, Runnable step, long now, GrantedPermits grants) {
        State before = own.state();
        step.run();
        return afterChange(own, before, now, grants);
    }

    private Change afterChange(Breaker own, State before, long now, GrantedPermits grants) {
        forEachHeld(permit -> ((GroupRun<?>) permit).isUncounted = true);
        boolean isOpen = own.state() == State.OPEN;
        mark(PROBED, false);
        stop(BROKEN, isOpen, grants);
        Map<GroupRun<?>, Refusal> refused = new LinkedHashMap<>();
        if (isOpen && !own.plan.waitsWhenOpen()) {
            Refusal refusal = breakerRefusal(now);
            drain(permit -> refused.put((GroupRun<?>) permit, refusal));
        }
        return new Change(this, before, own.state(), refused);
    }

    @Override
    void limitsFound(GroupBounds.Known found) {
        if (breaker == null && found.breaker() != null) {
            breaker = new Breaker(found.breaker());
        }
    }

    @Override
    void limitsDiscarded() {
        breaker = null;
        forEachHeld(permit -> ((GroupRun<?>) permit).isUncounted = true);
    }

    // Time.

    @Override
    @Nullable
    GroupAlarm proceedOrAlarm(@Nullable GroupAlarm fired, GrantedPermits grants) {
        Breaker own = breaker;
        if (own != null && own.state() == State.OPEN) {
            probeIfDue(own, grants);
        }
        return super.proceedOrAlarm(fired, grants);
    }

    @Override
    long nextMoment(long now) {
        long moment = super.nextMoment(now);
        Breaker own = breaker;
        if (own == null || !isStopped(BROKEN) || !own.plan.waitsWhenOpen()) {
            return moment;
        }
        boolean endsHoldFirst = isStopped(SUSPENDED) && moment - own.probeAt() < 0;
        return endsHoldFirst ? moment : own.probeAt(); // no rate matters before
    }

    @Override
    long forgettableAt(long now) {
        long moment = super.forgettableAt(now);
        Breaker own = breaker;
        return own != null && own.forgettableAt(now) - moment > 0 ? own.forgettableAt(now) : moment;
    }

    @Override
    GroupStats.@Nullable Breaker breakerStats(long now) {
        Breaker own = breaker;
        return own == null ? null : own.stats(now);
    }
}
