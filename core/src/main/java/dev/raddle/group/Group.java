package dev.raddle.group;

import dev.raddle.kernel.Entry;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.RateLimit;
import dev.raddle.kernel.TaskGate;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.Rate;
import dev.raddle.task.Rejection;
import dev.raddle.task.Scheduler;
import dev.raddle.task.WaitReason;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** All tasks of one key: a gate that is created on demand and removed when it is idle. */
class Group extends TaskGate {

    /*
     * Overview.
     *
     * A group is created by the first call that uses its key, and is in the executor's map until it is RETIRED. A
     * thread that finds a retired group removes it from the map and uses or creates another, so a task never enters a
     * retired group. A group is retired under its lock, and only when no task runs or waits in it. So there are never
     * two groups of one key with running tasks, and the limit holds across removal and re-creation.
     *
     * A run belongs to one group at a time. Alarms and cancelling threads refer to the run and read its group without a
     * lock, at any time, even before the run enters. Four rules ensure that they never unlink it under the lock of the
     * wrong group:
     *
     *   (1)  The submitter moves a run from a retired group to the next one under the lock of the retired one, before
     *        the run enters (`moveTo`). After the run has entered, its group never changes.
     *   (2)  Every action on a run under a group's lock first checks that the run belongs to that group (`owns`).
     *   (3)  A withdrawal that did not find the run in the queue reads the run's group again, and if the group has
     *        changed, repeats the attempt there (GroupRun.withdraw).
     *   (4)  A decided run does not enter: `admit` checks this, under the lock. A thread that decides a run from
     *        outside withdraws it before the decision, so that the run has left the queue when it is settled, and once
     *        more after it, in case the run entered in between. If an entry did not see the decision, the withdrawal
     *        after the decision follows that entry.
     *
     * So a run leaves the queue in one of these ways: granted; withdrawn by a cancel, a queue timeout, a task's timeout
     * or the deadline of a scope; drained by an eviction or shutdown; refused when the limits have been looked up.
     *
     * The limits have states of their own:
     *
     *   UNKNOWN ──► Pending ──► Known          a submitter looks them up, outside the lock
     *      ▲───────────┴──────────┘            evicted, or shut down
     *
     * While the limits are not known, tasks wait in the gate. The thread that looked the limits up decides about
     * these tasks. If the group was evicted during the lookup, the field holds another object than the one that the
     * lookup began with, and the result is dropped: the tasks that waited for it have been rejected, and later tasks
     * have begun a lookup of their own.
     *
     * So an eviction does not create a second group: running tasks go on in this one and count against the limits that
     * are looked up next.
     *
     * During a hold the gate is suspended. A hold needs an alarm, and so does a rate that keeps the first task waiting:
     * one alarm for both, which fires at the later of the two moments or before. It is armed after the lock was
     * released. What few groups have at a time, such as this alarm, is in an object of its own (GroupExtras), which an
     * idle group does not keep. A group that could not yet start a whole burst remembers what has started: it is not
     * removed, whatever the bounds on idle groups are, even if it was evicted or shut down.
     *
     * If the policy has a permit source, all groups are of the subclass LeasedGroup. It overrides methods whose bodies
     * are trivial here, so that groups without a source pay nothing: each section that may have changed the demand for
     * permits ends with `checkDemand`, and after it has released the lock, the thread calls `reportDemand` (see
     * `change`).
     *
     * A group without tasks is idle, unless it is retained because it is paused, on hold, or was changed at run time,
     * or holds permits of a source.
     * An idle group records since when, and enters the list of idle groups unless it is in the list already. If the
     * list does not accept it, it is retired at once. A group stays in the list when it becomes busy; a sweep that
     * finds it busy removes it from the list.
     */

    /** What a sweep does with a group of the list of idle groups. */
    enum Sweep {
        KEEP,
        UNLIST,
        REMOVE
    }

    private static final byte OPEN = 0;
    private static final byte CLOSING = 1; // admits no tasks until it is empty
    private static final byte RETIRED = 2;
    private static final int SHORTEST_PAUSE_MILLIS = 1_000; // between sweeps for groups whose buckets fill
    private static final Signal NO_WAITER = new Signal(); // the group is empty, and no thread waits for that

    final String key;
    final GroupEngine engine;

    @Nullable
    Group nextIdle; // null if not in the list of idle groups, itself if last; owned by the list

    private long idleSince = GrantedPermits.NO_TIME; // increases whenever this is found empty; guarded by this
    private @Nullable GroupExtras extras; // null for most groups; guarded by this
    private volatile byte life; // OPEN, CLOSING or RETIRED; written under this

    Group(String key, GroupEngine engine) {
        super(GroupBounds.Unknown.UNKNOWN, engine.cap);
        this.key = key;
        this.engine = engine;
    }

    @Override
    protected boolean owns(Permit permit) {
        return ((GroupRun<?>) permit).group == this;
    }

    /** Moves a run that found this group retired to another group of the key. */
    void moveTo(GroupRun<?> run, Group next) {
        locked(() -> run.group = next);
    }

    /**
     * Makes a change under the lock, at this moment, and afterwards what it makes necessary. Written by hand is what
     * every task passes, and what the first task of a JVM passes, which a lambda would delay: entering, releasing,
     * withdrawing, a lookup, and retiring an empty group.
     *
     * @param change receives the moment
     * @return the result of the change
     */
    <T> T change(GrantedPermits grants, LongFunction<T> change) {
        long now = engine.time.nanoTime();
        grants.setNow(now);
        T result;
        Signal empty;
        lock();
        try {
            result = change.apply(now);
            empty = afterChange(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        reportDemand();
        return result;
    }

    // What a group with a circuit breaker adds. These bodies are trivial, so that they cost nothing without one.

    /** Lets probes start if they are due. Called without the lock, before a task enters. */
    void probeIfDue() {}

    /** Returns whether the breaker refuses a task that enters now. Called under the lock. */
    boolean isBroken() {
        return false;
    }

    /** Returns why the breaker refuses the next attempt of a running task, or null. */
    @Nullable
    Refusal attemptRefusal(GroupRun<?> run) {
        return null;
    }

    /** Returns the state of the breaker, or null. Called under the lock. */
    GroupStats.@Nullable Breaker breakerStats(long now) {
        return null;
    }

    /** Records that the limits were looked up. Called under the lock. */
    void limitsFound(GroupBounds.Known found) {}

    /** Records that the limits are discarded. Called under the lock. */
    void limitsDiscarded() {}

    private @Nullable Signal afterChange(long now) {
        checkDemand(now, false);
        return recordIfEmpty(now);
    }

    private GroupExtras extras() {
        GroupExtras own = extras;
        if (own == null) {
            own = new GroupExtras();
            extras = own;
        }
        return own;
    }

    /**
     * Lets a run enter, or rejects it if a queue is full or the breaker open. If the time was not needed so far, tries
     * once more with it: a new rate needs it, and so does the description of a rejection.
     */
    Entry admit(GroupRun<?> run) {
        probeIfDue();
        long now = engine.usesRates ? GrantedPermits.moment(engine.time.nanoTime()) : GrantedPermits.NO_TIME;
        for (; ; ) {
            Entry entry;
            boolean isFull;
            Refusal full = null;
            lock();
            try {
                if (life == RETIRED) {
                    return Entry.RETIRED;
                }
                if (life == CLOSING || engine.isShutdown()) {
                    return Entry.CLOSED;
                }
                if (run.isDecided()) {
                    return Entry.ENDED;
                }
                entry = isBroken() ? Entry.BROKEN : enter(run, now);
                checkDemand(now, false);
                if (entry == Entry.WAITING && bounds() instanceof GroupBounds.Unknown) {
                    entry = Entry.UNRESOLVED;
                }
                isFull = entry == Entry.QUEUE_FULL || entry == Entry.COMMON_QUEUE_FULL || entry == Entry.BROKEN;
                if (isFull && now != GrantedPermits.NO_TIME) {
                    full = refusal(run, entry, now);
                }
            } finally {
                unlock();
            }
            reportDemand();
            if (!isFull) {
                return entry;
            }
            if (full != null) {
                run.reject(full.of(run, ""), entry != Entry.BROKEN);
                return entry;
            }
            now = GrantedPermits.moment(engine.time.nanoTime());
        }
    }

    /**
     * Releases the permit of a run, and counts the run for an adaptive limit unless its kind is null.
     *
     * @return whether the calling thread decides about that limit now
     */
    boolean release(
            GroupRun<?> run,
            long ranNanos,
            long grantedNanos,
            long nowNanos,
            GrantedPermits grants,
            @Nullable Adaptation adaptation,
            Adaptation.@Nullable Kind kind) {
        Signal empty;
        boolean decides = false;
        grants.setNow(nowNanos);
        lock();
        try {
            if (adaptation != null && kind != null && adaptation == adaptation() && isHeld(run)) {
                decides = adaptation.record(run, kind, ranNanos, nowNanos, running(), isNearLimit());
            }
            leave(run, ranNanos, grantedNanos, grants);
            checkDemand(nowNanos, true);
            empty = recordIfEmpty(nowNanos);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        reportDemand();
        return decides;
    }

    /** Returns the adaptation in force, or null. The lock need not be held. */
    @Nullable
    Adaptation adaptation() {
        return bounds() instanceof GroupBounds.Known known ? known.adaptation() : null;
    }

    /** Returns the concurrency, or 0 if an adaptation is not in force any more. */
    int limitUnder(Adaptation adaptation) {
        return bounds() instanceof GroupBounds.Known known && known.adaptation() == adaptation
                ? known.concurrency()
                : 0;
    }

    /** Applies a decision of an adaptation; returns null if that is not in force any more. */
    @Nullable
    LimitChange adapt(Adaptation adaptation, Adaptation.Decision decision, GrantedPermits grants) {
        return change(grants, now -> {
            if (!(bounds() instanceof GroupBounds.Known known) || known.adaptation() != adaptation) {
                return null;
            }
            bind(known.withAdapted(decision.limit()), grants);
            adaptation.applied(new LimitChange(key, known.concurrency(), decision.limit(), decision.reason()));
            return adaptation.latest();
        });
    }

    private @Nullable LimitChange latestChange() {
        Adaptation adaptation = adaptation();
        return adaptation == null ? null : adaptation.latest();
    }

    boolean withdraw(GroupRun<?> run, GrantedPermits grants) {
        lock();
        try {
            boolean staysBusy = running() > 0 || waiting() > 1;
            if (!isWaiting(run) || (staysBusy && !engine.usesRates)) { // no need to read the time
                boolean withdrawn = super.withdraw(run, grants);
                checkDemand(GrantedPermits.NO_TIME, false);
                return withdrawn;
            }
        } finally {
            unlock();
            reportDemand();
        }
        return change(grants, now -> super.withdraw(run, grants));
    }

    // The limits.

    /** Returns the lookup that the calling thread is to make, or null if there is none. */
    GroupBounds.@Nullable Pending beginLookup() {
        lock();
        try {
            boolean isNeeded = life != RETIRED && !(bounds() instanceof GroupBounds.Known);
            return isNeeded && lookup().tryBegin() ? lookup() : null;
        } finally {
            unlock();
        }
    }

    /** Returns the lookup of the limits, which are not known. */
    private GroupBounds.Pending lookup() {
        if (bounds() instanceof GroupBounds.Pending known) {
            return known;
        }
        GroupBounds.Pending lookup = new GroupBounds.Pending();
        bind(lookup, new GrantedPermits());
        return lookup;
    }

    /** Returns why runs that waited for the lookup are refused, in order; none if its result is dropped. */
    Map<GroupRun<?>, Refusal> endLookup(GroupBounds.Pending lookup, GroupBounds.Known found, GrantedPermits grants) {
        long now = engine.time.nanoTime();
        grants.setNow(now);
        Map<GroupRun<?>, Refusal> refusals;
        Signal empty;
        lock();
        try {
            refusals = bounds() == lookup ? bindFound(lookup.apply(found), grants) : Map.of(); // else it was evicted
            empty = afterChange(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        reportDemand();
        return refusals;
    }

    private Map<GroupRun<?>, Refusal> bindFound(GroupBounds.Known found, GrantedPermits grants) {
        limitsFound(found);
        Map<Permit, Entry> refused = bindEarly(found, grants);
        if (refused.isEmpty()) {
            return Map.of();
        }
        Map<GroupRun<?>, Refusal> refusals = new LinkedHashMap<>();
        refused.forEach((permit, entry) -> {
            GroupRun<?> run = (GroupRun<?>) permit;
            refusals.put(run, refusal(run, entry, grants.now()));
        });
        return refusals;
    }

    /**
     * Changes the limits now, or, if they are unknown, when they have been looked up. The caller begins that lookup.
     *
     * @return false if this group is retired
     */
    boolean adjust(UnaryOperator<GroupBounds.Known> change, GrantedPermits grants) {
        return change(grants, now -> {
            if (retireIfShutDown()) {
                return false;
            }
            if (bounds() instanceof GroupBounds.Known known) {
                bind(change.apply(known), grants);
            } else {
                lookup().addChange(change);
            }
            return true;
        });
    }

    /** Retires this group if it is empty and the executor is shut down; returns whether this group is retired. */
    boolean retireIfShutDown() {
        if (engine.isShutdown() && isEmpty()) { // whatever permits of a source it holds
            retire();
        }
        return life == RETIRED;
    }

    /** Pauses or resumes this group, and sets whether it was paused; returns false if this group is retired. */
    boolean pauseOrResume(boolean pause, AtomicBoolean wasPaused, GrantedPermits grants) {
        return change(grants, now -> {
            if (retireIfShutDown()) {
                return false;
            }
            wasPaused.set(isStopped(PAUSED));
            stop(PAUSED, pause, grants);
            return true;
        });
    }

    // Rates and holds.

    /**
     * Grants what the rate and the hold allow now, and finds when they will allow the next task.
     *
     * @param fired the alarm that has fired, or null; this method has no effect if that was replaced
     * @return the alarm that the caller arms; null if there is nothing to wait for, or an earlier alarm is pending
     */
    @Nullable
    GroupAlarm proceedOrAlarm(@Nullable GroupAlarm fired, GrantedPermits grants) {
        return change(grants, now -> {
            if (fired != null && !removeAlarm(fired)) {
                return null;
            }
            if (isStopped(SUSPENDED) && extras().holdEnd - now <= 0) {
                stop(SUSPENDED, false, grants);
            }
            long moment = nextMoment(now);
            if (moment - now > 0 && life != RETIRED) {
                return alarmAt(moment, now);
            }
            proceed(grants);
            return null;
        });
    }

    /** Returns the moment for which an alarm is armed, unless that has passed. Called under the lock. */
    long nextMoment(long now) {
        return isStopped(SUSPENDED) ? extras().holdEnd : allowedAt(now);
    }

    private @Nullable GroupAlarm alarmAt(long moment, long now) {
        GroupExtras own = extras();
        GroupAlarm pending = own.alarm;
        if (pending != null && pending.moment - now > 0 && pending.moment - moment <= 0) {
            return null;
        }
        own.alarm = new GroupAlarm(moment, pending);
        return own.alarm;
    }

    /** Forgets an alarm that could not be armed. */
    void forget(GroupAlarm unarmed) {
        locked(() -> removeAlarm(unarmed));
    }

    /** Removes an alarm; returns false if it was replaced. */
    private boolean removeAlarm(GroupAlarm alarm) {
        if (extras == null || extras.alarm != alarm) {
            return false;
        }
        extras.alarm = null;
        return true;
    }

    /** Removes and returns the pending alarm of this retired group, or null. */
    @Nullable
    GroupAlarm takeAlarm() {
        lock();
        try {
            GroupAlarm pending = extras == null ? null : extras.alarm;
            extras = null;
            return pending;
        } finally {
            unlock();
        }
    }

    /**
     * Starts nothing before some moment. Has no effect if a hold that ends later is in force, or this is retired.
     *
     * @return the time that was left of the hold before, zero if there was none; null if this had no effect
     */
    @Nullable
    Duration hold(Duration length) {
        GrantedPermits none = new GrantedPermits(); // nothing is granted under a hold
        return change(none, now -> {
            long until = now + Deadline.nanos(length);
            boolean isHeld = isStopped(SUSPENDED);
            if (retireIfShutDown() || (isHeld && extras().holdEnd - until >= 0)) {
                return null;
            }
            Duration before = isHeld ? holdLeft(now) : Duration.ZERO;
            extras().holdEnd = until;
            stop(SUSPENDED, true, none);
            return before;
        });
    }

    /**
     * Discards the limits and all changes to them, and drains the queue. Running tasks go on.
     *
     * @param running the list to which the runs that hold slots are added
     * @param waited the list to which the runs that waited are added
     * @param closedUntil the result of {@link #close} if this call ends it, and then has no effect if this group has
     *     been empty since; or null
     */
    void evict(List<GroupRun<?>> running, List<GroupRun<?>> waited, @Nullable Signal closedUntil) {
        change(new GrantedPermits(), now -> {
            if (closedUntil != null && (extras == null || extras.empty != closedUntil)) {
                return null;
            }
            forEachHeld(permit -> running.add((GroupRun<?>) permit));
            drain(permit -> waited.add((GroupRun<?>) permit));
            discardLimits();
            if (closedUntil != null && --extras().closings == 0) {
                life = OPEN;
            }
            return null;
        });
    }

    private void discardLimits() {
        unbind(GroupBounds.Unknown.UNKNOWN);
        limitsDiscarded();
    }

    /**
     * Admits no more tasks until this group is empty, when it is retired, or until each call of this method that has
     * returned a signal was ended by {@link #evict}.
     *
     * @return a signal that is set when this group is empty, or null if it is
     */
    @Nullable
    Signal close() {
        return change(new GrantedPermits(), now -> {
            life = life == RETIRED ? RETIRED : CLOSING;
            if (isEmpty()) {
                return null;
            }
            extras().closings++;
            return awaited();
        });
    }

    /** Records that this group is idle, or retires it, if it is empty. */
    void retireIfEmpty() {
        long now = engine.time.nanoTime();
        Signal empty;
        lock();
        try {
            empty = afterChange(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        reportDemand();
    }

    /** Makes a cap that was introduced count the slots that are held here; a changed one changes what tasks cost. */
    void recountForCap(GrantedPermits grants) {
        grants.setNow(engine.time.nanoTime());
        locked(() -> {
            recount(grants);
            checkDemand(grants.now(), false);
            return null;
        });
        reportDemand();
    }

    // Permits of a source: what LeasedGroup adds.

    /**
     * Records that the demand for permits is to be reported, if it is. Called under the lock.
     *
     * @param now the current time in nanoseconds, or {@link GrantedPermits#NO_TIME}
     * @param byEnd whether it may have changed only because a task has ended
     */
    void checkDemand(long now, boolean byEnd) {}

    /** Reports the demand if {@link #checkDemand} has recorded that it is to be reported. Called without the lock. */
    void reportDemand() {}

    /** Returns whether this group holds permits. Called under the lock. */
    boolean keepsPermits() {
        return false;
    }

    /** Prepares the removal of this retired group. */
    void beforeRemoval() {}

    /** Returns the fencing number of a running task, which is the one that it was granted. */
    OptionalLong fenceOf(GroupRun<?> run) {
        return OptionalLong.empty();
    }

    /** Returns the reason for which a running task is cancelled because it has lost its permit, or null. */
    @Nullable
    String lossOf(GroupRun<?> run) {
        return null;
    }

    /** Returns the statistics of the permits, or null if tasks need none. Called under the lock. */
    GroupStats.@Nullable Permits permitStats(long now) {
        return null;
    }

    // Idleness.

    /**
     * If this group is empty, retires it or records that it is idle. Called under the lock.
     *
     * @return null if nothing else is to be done, else the argument for {@link #signalEmpty}, to be called outside the
     *     lock
     */
    @Nullable
    Signal recordIfEmpty(long nowNanos) {
        if (!isEmpty()) {
            return null;
        }
        idleSince = idleSince == GrantedPermits.NO_TIME || idleSince - nowNanos < 0 ? nowNanos : idleSince + 1;
        boolean wasListed = nextIdle != null;
        boolean isClosed = life == CLOSING && isRestored(nowNanos) && !isStopped(SUSPENDED) && !keepsPermits();
        boolean isUnknown = !isBound() && isForgettable(nowNanos) && !isRetained();
        if (life == RETIRED || engine.isShutdown() || isClosed || isUnknown) {
            retire();
        } else {
            if (life == CLOSING) { // it has to remember what has started, so it is now as one that was evicted
                discardLimits();
                life = OPEN;
            }
            if (nextIdle == null && !isRetained() && !engine.idleGroups.add(this, !isForgettable(nowNanos))) {
                retire();
            }
        }
        Signal awaited = extras == null ? null : endWaits(extras);
        boolean isKnown = wasListed && life != RETIRED; // as an idle group
        return awaited != null ? awaited : isKnown ? null : NO_WAITER;
    }

    /** Ends the waits for this group, which is empty; returns their signal, or null. */
    private @Nullable Signal endWaits(GroupExtras own) {
        Signal awaited = own.empty;
        own.empty = null;
        own.closings = 0;
        if (own.alarm == null && !isStopped(SUSPENDED)) {
            extras = null;
        }
        return awaited;
    }

    /** Notifies the executor and the waiting threads that this group is empty, if {@link #recordIfEmpty} found that. */
    void signalEmpty(@Nullable Signal empty) {
        if (empty == null) {
            return;
        }
        if (life == RETIRED) {
            engine.remove(this);
        } else {
            engine.idleGroups.arm();
        }
        if (empty != NO_WAITER) {
            empty.set();
        }
    }

    /**
     * Retires this group. The thread that does that calls {@link GroupEngine#remove} after it has released the lock.
     */
    private void retire() {
        assert isLocked() && isEmpty();
        life = RETIRED;
    }

    private boolean isRetained() {
        return isStopped(PAUSED | SUSPENDED) || ((GroupBounds) bounds()).isAdjusted() || keepsPermits();
    }

    /** Decides whether this group, just taken from the list of idle groups, is put back or removed. */
    Sweep sweep(long now, boolean isCrowded) {
        lock();
        try {
            if (!isEmpty() || isRetained()) {
                nextIdle = null;
                return Sweep.UNLIST;
            }
            boolean isYoung = !isCrowded && !engine.idleGroups.hasPassed(idleSince, now);
            if (life != RETIRED && (isYoung || !isForgettable(now))) {
                return Sweep.KEEP;
            }
            retire();
            nextIdle = null; // a handle may refer to this group for longer than the groups below it are in use
            return Sweep.REMOVE;
        } finally {
            unlock();
        }
    }

    private boolean isForgettable(long now) {
        return forgettableAt(now) - now <= 0;
    }

    /** Returns the moment from which nothing is left to remember, or {@code now}. Called under the lock. */
    long forgettableAt(long now) {
        return restoredAt(now);
    }

    /** Returns after how many milliseconds this idle group may be removed. */
    int removableInMillis(long now) {
        int idle;
        long restored;
        lock();
        try {
            idle = engine.idleGroups.leftMillis(idleSince, now);
            restored = (forgettableAt(now) - now + 999_999) / 1_000_000;
        } finally {
            unlock();
        }
        return restored <= idle
                ? Math.max(1, idle)
                : Math.clamp(restored, SHORTEST_PAUSE_MILLIS, Integer.MAX_VALUE / 2);
    }

    boolean isRetired() {
        return life == RETIRED;
    }

    /** Returns a signal that is set when no task runs or waits here, or null if that is so now. */
    @Nullable
    Signal untilEmpty() {
        return locked(() -> isEmpty() ? null : awaited());
    }

    private Signal awaited() {
        GroupExtras own = extras();
        Signal empty = own.empty == null ? new Signal() : own.empty;
        own.empty = empty;
        return empty;
    }

    /** Returns since when this group is empty, if it is; the same as before only if it was not emptied since. */
    long emptySince() {
        return locked(() -> idleSince);
    }

    // Waits of tasks for runs of this group.

    @Override
    protected ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns() {
        return engine.awaitedRuns;
    }

    @Override
    protected String kind() {
        return "group";
    }

    /**
     * Records that a thread awaits a run of this group, if the wait may keep this run or others from running: here, or
     * in all groups that share the cap.
     *
     * @return whether the wait was recorded, so that {@link #endWait} must be called
     * @throws IllegalStateException if the wait could never end
     */
    boolean noteWait(Thread waiter, GroupRun<?> run) {
        boolean noted = beginWait(waiter, run);
        if (engine.cap.max() == FairCap.UNLIMITED || run.isTimeBounded()) {
            return noted;
        }
        if (!noted && engine.cap.used() <= 1 && holds(run)) {
            return false; // the run has the only slot, so the waiter has none
        }
        engine.noteWaitForCap(waiter, run);
        return true;
    }

    // Monitoring.

    boolean holds(GroupRun<?> run) {
        return locked(() -> isHeld(run));
    }

    boolean isActive(long now) {
        return locked(() -> isActiveUnderLock(now));
    }

    private boolean isActiveUnderLock(long now) {
        return life != RETIRED && (isRetained() || (!(bounds() instanceof GroupBounds.Unknown) && !willBeRemoved(now)));
    }

    /** Returns whether the next sweep removes this group, which is not retained. */
    private boolean willBeRemoved(long now) {
        return nextIdle != null && isEmpty() && engine.idleGroups.hasPassed(idleSince, now) && isForgettable(now);
    }

    Optional<GroupStats> stats() {
        long now = engine.time.nanoTime();
        return locked(() -> isActiveUnderLock(now) ? Optional.of(statsUnderLock(now)) : Optional.empty());
    }

    /** Returns this group with what keeps its tasks waiting, if it is active. */
    Optional<GroupState> state() {
        long now = engine.time.nanoTime();
        return locked(() -> isActiveUnderLock(now)
                ? Optional.of(new GroupState(
                        statsUnderLock(now), Math.max(1, bounds().weight()), obstacle(now), oldestWaiting(now)))
                : Optional.empty());
    }

    private @Nullable TaskStats oldestWaiting(long now) {
        List<TaskStats> firsts = new ArrayList<>(1);
        forEachFirst(permit -> firsts.add(taskStats((GroupRun<?>) permit, now)));
        return firsts.stream().max(Comparator.comparing(Group::waited)).orElse(null);
    }

    private static Duration waited(TaskStats task) {
        return task.since() == null ? Duration.ZERO : task.since();
    }

    private TaskStats taskStats(GroupRun<?> run, long now) {
        boolean waits = isWaiting(run);
        return run.stats(waits, waits ? slotsOf(run) : run.taken(), now);
    }

    private GroupStats statsUnderLock(long now) {
        RateLimit limit = bounds().rate();
        return new GroupStats(
                key,
                running(),
                waiting(),
                bounds().concurrency(),
                bounds().maxWaiting(),
                limit == null ? null : limit.rate(),
                isStopped(SUSPENDED) ? holdLeft(now) : null,
                latestChange(),
                permitStats(now),
                isStopped(PAUSED),
                breakerStats(now));
    }

    private Duration holdLeft(long now) {
        return atLeastZero(extras().holdEnd - now);
    }

    private static Duration atLeastZero(long nanos) {
        return Duration.ofNanos(Math.max(0, nanos));
    }

    /** Adds one, if this group is active, its taken slots and its waiting tasks to three sums. */
    void addTo(int[] sums, long now) {
        lock();
        try {
            sums[0] += isActiveUnderLock(now) ? 1 : 0;
            sums[1] += running();
            sums[2] += waiting();
        } finally {
            unlock();
        }
    }

    /** Returns whether each task gets a virtual thread of its own, as far as is known without a call of the policy. */
    boolean usesVirtualThreads() {
        return bounds() instanceof GroupBounds.Known known && known.scheduler() == Scheduler.virtualThreads();
    }

    Scheduler scheduler() {
        return bounds() instanceof GroupBounds.Known known
                ? known.scheduler()
                : engine.policy.resolveScheduler(key); // evicted between the grant and the start
    }

    Explanation explain(GroupRun<?> run) {
        long now = engine.time.nanoTime();
        return locked(() -> isWaiting(run) ? explanation(run, ahead(run), now) : Explanation.NOTHING);
    }

    /** Returns the first waiting run with a task id, or the first of all if the id is null. */
    @Nullable
    GroupRun<?> firstWaiting(@Nullable String taskId) {
        return locked(() -> (GroupRun<?>) firstWaiting(
                permit -> taskId == null || ((GroupRun<?>) permit).taskId().equals(taskId)));
    }

    /** Returns up to a number of tasks: those that hold slots, oldest grant first, then the first waiting ones. */
    List<TaskStats> tasks(int max) {
        long now = engine.time.nanoTime();
        List<TaskStats> tasks = new ArrayList<>();
        Predicate<Permit> add = permit -> {
            boolean isFull = tasks.size() == max;
            return isFull || !tasks.add(taskStats((GroupRun<?>) permit, now));
        };
        locked(() -> anyHeld(add) || firstWaiting(add) != null);
        return Collections.unmodifiableList(tasks);
    }

    /** Explains what keeps a run from starting, or the runs before it: the obstacle with its numbers. */
    private Explanation explanation(GroupRun<?> run, int place, long now) {
        WaitReason obstacle = obstacle(run, place, now);
        Explanation plain = new Explanation(obstacle, place, 0);
        return switch (obstacle) {
            case GROUP_LIMIT -> plain.withLimitChange(latestChange());
            case HOLD -> plain.withNextStart(null, holdLeft(now));
            case GROUP_RATE -> {
                long allowed = waiting() == 0 ? allowedAt(run.cost(), now) : allowedAt(now);
                yield plain.withNextStart(rate(bounds().rate()), atLeastZero(allowed - now));
            }
            case GLOBAL_RATE -> {
                long allowed = engine.cap.isThrottled() ? engine.cap.allowedAt() : now; // else it is unknown
                yield plain.withNextStart(rate(engine.cap.rate()), atLeastZero(allowed - now));
            }
            case BREAKER -> plain.withBreaker(breakerStats(now));
            case FLEET_LIMIT -> plain.withPermits(slotsOf(run), PermitStatus.UNKNOWN);
            case BULKHEAD, GLOBAL_CAP, PAUSED, NOTHING -> plain;
        };
    }

    private static @Nullable Rate rate(@Nullable RateLimit limit) {
        return limit == null ? null : limit.rate();
    }

    long tagAtCap() {
        return locked(this::tag);
    }

    boolean isBeforeAtCap(long tag, long now) {
        return locked(() -> obstacle(now) == WaitReason.GLOBAL_CAP && tag() - tag < 0);
    }

    /** Returns why a run is refused: what keeps the first task waiting, and the load that leaves no room. */
    private Refusal refusal(GroupRun<?> run, Entry entry, long now) {
        if (entry == Entry.BROKEN) {
            return breakerRefusal(now);
        }
        Explanation why = explanation(run, 0, now);
        if (entry == Entry.COMMON_QUEUE_FULL) {
            int threshold = engine.policy.globalQueueThreshold();
            Rejection.Load load = new Rejection.Load(engine.cap.used(), engine.cap.max(), threshold, threshold);
            return new Refusal(Rejection.Reason.GLOBAL_QUEUE, why, load);
        }
        return switch (why.waitingFor()) {
            case GROUP_RATE, GLOBAL_RATE -> new Refusal(Rejection.Reason.RATE, why, load());
            case FLEET_LIMIT -> {
                GroupStats.Permits permits = permitStats(now);
                yield new Refusal(Rejection.Reason.PERMITS, why, load(permits == null ? 0 : permits.leased()));
            }
            case BULKHEAD -> new Refusal(Rejection.Reason.BULKHEAD, why, load());
            default -> new Refusal(Rejection.Reason.GROUP_QUEUE, why, load());
        };
    }

    /** Returns why the breaker refuses a task. Called under the lock. */
    Refusal breakerRefusal(long now) {
        Explanation why = new Explanation(WaitReason.BREAKER, 0, 0).withBreaker(breakerStats(now));
        return new Refusal(Rejection.Reason.BREAKER, why, load());
    }

    /** Returns the end of a run's queue timeout, with what has kept it waiting. */
    Refusal queueTimeout(Explanation why) {
        return locked(() -> new Refusal(Rejection.Reason.QUEUE_TIMEOUT, why, load()));
    }

    Rejection.Load load() {
        return load(bounds().slots());
    }

    private Rejection.Load load(int limit) {
        return new Rejection.Load(running(), limit, waiting(), bounds().maxWaiting());
    }

    @Override
    public String toString() {
        return "group \"" + key + "\"";
    }
}
