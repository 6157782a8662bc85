package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.kernel.Entry;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.RateLimit;
import dev.raddle.kernel.TaskGate;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.Rejection;
import dev.raddle.task.Scheduler;
import dev.raddle.task.WaitReason;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongPredicate;
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
     * one alarm for both, which fires at the later of the two moments or before. The ends of holds and the pending
     * alarms are in maps of the engine, which are changed under the lock; alarms are armed after it. A group that could
     * not yet start a whole burst remembers what has started: it is not removed, whatever the bounds on idle groups
     * are, even if it was evicted or shut down.
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

    private long idleSince; // guarded by this
    private int timesEmptied; // guarded by this
    private boolean isAwaited; // whether emptySignals has an entry for this; guarded by this
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
     * Makes a change under the lock, at this moment, and afterwards what it makes necessary. Only entering, releasing
     * and withdrawing are written by hand, because every task passes them.
     *
     * @param change receives the moment, and returns whether it has changed this group
     * @return the result of the change
     */
    boolean change(GrantedPermits grants, LongPredicate change) {
        long now = engine.time.nanoTime();
        grants.setNow(now);
        Signal empty = null;
        boolean changed;
        lock();
        try {
            changed = change.test(now);
            if (changed) {
                checkDemand(now, false);
                empty = recordIfEmpty(now);
            }
        } finally {
            unlock();
        }
        signalEmpty(empty);
        reportDemand();
        return changed;
    }

    Entry admit(GroupRun<?> run) {
        Entry entry;
        long now;
        do {
            now = engine.usesRates ? GrantedPermits.moment(engine.time.nanoTime()) : GrantedPermits.NO_TIME;
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
                entry = enter(run, now);
                checkDemand(now, false);
                if (entry == Entry.WAITING && bounds() instanceof GroupBounds.Unknown) {
                    entry = Entry.UNRESOLVED;
                }
            } finally {
                unlock();
            }
        } while (now == GrantedPermits.NO_TIME
                && engine.usesRates // since
                && (entry == Entry.RATE_FULL || entry == Entry.COMMON_QUEUE_FULL));
        reportDemand();
        return entry;
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
        boolean applied = change(grants, now -> {
            if (!(bounds() instanceof GroupBounds.Known known) || known.adaptation() != adaptation) {
                return false;
            }
            bind(known.withAdapted(decision.limit()), grants);
            adaptation.applied(new LimitChange(key, known.concurrency(), decision.limit(), decision.reason()));
            return true;
        });
        return applied ? adaptation.latest() : null;
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
        return locked(() ->
                life == RETIRED || bounds() instanceof GroupBounds.Known || !lookup().tryBegin() ? null : lookup());
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

    /** Returns why permits that waited for the lookup are refused, in order; none if its result is dropped. */
    Map<Permit, Entry> endLookup(GroupBounds.Pending lookup, GroupBounds.Known found, GrantedPermits grants) {
        Map<Permit, Entry> refused = new LinkedHashMap<>();
        change(grants, now -> {
            if (bounds() != lookup) {
                return false; // evicted meanwhile
            }
            bindEarly(lookup.apply(found), grants, refused);
            return true;
        });
        return refused;
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
    private boolean retireIfShutDown() {
        if (engine.isShutdown() && isEmpty()) { // whatever permits of a source it holds
            retire();
        }
        return life == RETIRED;
    }

    /** Pauses or resumes this group; returns false if this group is retired. */
    boolean pauseOrResume(boolean pause, GrantedPermits grants) {
        return change(grants, now -> {
            if (retireIfShutDown()) {
                return false;
            }
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
        @Nullable GroupAlarm[] next = {null};
        change(grants, now -> {
            if (fired != null && !engine.alarms.pending.remove(this, fired)) {
                return false;
            }
            Long until = engine.alarms.holds.get(this);
            if (until != null && until - now <= 0) {
                engine.alarms.holds.remove(this);
                stop(SUSPENDED, false, grants);
                until = null;
            }
            long moment = until == null ? allowedAt(now) : until;
            if (moment - now <= 0) {
                proceed(grants);
            } else if (life != RETIRED) {
                next[0] = alarmAt(moment, now);
            }
            return true;
        });
        return next[0];
    }

    private @Nullable GroupAlarm alarmAt(long moment, long now) {
        GroupAlarm pending = engine.alarms.pending.get(this);
        if (pending != null && pending.moment - now > 0 && pending.moment - moment <= 0) {
            return null;
        }
        GroupAlarm next = new GroupAlarm(moment, pending);
        engine.alarms.pending.put(this, next);
        return next;
    }

    /** Forgets an alarm that could not be armed. */
    void forget(GroupAlarm unarmed) {
        locked(() -> engine.alarms.pending.remove(this, unarmed));
    }

    /** Starts nothing before some moment. Has no effect if a hold that ends later is in force, or this is retired. */
    void hold(Duration length) {
        GrantedPermits none = new GrantedPermits(); // nothing is granted under a hold
        change(none, now -> {
            long until = now + Deadline.nanos(length);
            Long before = engine.alarms.holds.get(this);
            if (retireIfShutDown() || (before != null && before - until >= 0)) {
                return false;
            }
            engine.alarms.holds.put(this, until);
            stop(SUSPENDED, true, none);
            return true;
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
            if (closedUntil != null && engine.emptySignals.get(this) != closedUntil) {
                return false;
            }
            forEachHeld(permit -> running.add((GroupRun<?>) permit));
            drain(permit -> waited.add((GroupRun<?>) permit));
            unbind(GroupBounds.Unknown.UNKNOWN);
            if (closedUntil != null && engine.closings.computeIfPresent(this, Group::oneLess) == null) {
                life = OPEN;
            }
            return true;
        });
    }

    private static @Nullable Integer oneLess(Group group, int closings) {
        return closings == 1 ? null : closings - 1;
    }

    /**
     * Admits no more tasks until this group is empty, when it is retired, or until each call of this method that has
     * returned a signal was ended by {@link #evict}.
     *
     * @return a signal that is set when this group is empty, or null if it is
     */
    @Nullable
    Signal close() {
        @Nullable Signal[] untilEmpty = {null};
        change(new GrantedPermits(), now -> {
            life = life == RETIRED ? RETIRED : CLOSING;
            if (!isEmpty()) {
                untilEmpty[0] = awaited();
                engine.closings.merge(this, 1, Integer::sum);
            }
            return true;
        });
        return untilEmpty[0];
    }

    /** Records that this group is idle, or retires it, if it is empty. */
    void retireIfEmpty() {
        change(new GrantedPermits(), now -> true);
    }

    /** Makes a cap that was introduced count the slots that are held here; a changed one changes what tasks cost. */
    void recountForCap(GrantedPermits grants) {
        change(grants, now -> {
            recount(grants);
            return !isEmpty();
        });
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
        timesEmptied++;
        boolean wasListed = nextIdle != null;
        if (life == CLOSING) {
            engine.closings.remove(this);
        }
        boolean isClosed = life == CLOSING && isRestored(nowNanos) && !isStopped(SUSPENDED) && !keepsPermits();
        boolean isUnknown = !isBound() && isRestored(nowNanos) && !isRetained();
        if (life == RETIRED || engine.isShutdown() || isClosed || isUnknown) {
            retire();
        } else {
            if (life == CLOSING) { // it has to remember what has started, so it is now as one that was evicted
                unbind(GroupBounds.Unknown.UNKNOWN);
                life = OPEN;
            }
            idleSince = nowNanos;
            if (nextIdle == null && !isRetained() && !engine.idleGroups.add(this, !isRestored(nowNanos))) {
                retire();
            }
        }
        Signal awaited = isAwaited ? engine.emptySignals.remove(this) : null;
        isAwaited = false;
        boolean isKnown = wasListed && life != RETIRED; // as an idle group
        return awaited != null ? awaited : isKnown ? null : NO_WAITER;
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
            if (life != RETIRED && (isYoung || !isRestored(now))) {
                return Sweep.KEEP;
            }
            retire();
            nextIdle = null; // a handle may refer to this group for longer than the groups below it are in use
            return Sweep.REMOVE;
        } finally {
            unlock();
        }
    }

    /** Returns after how many milliseconds this idle group may be removed. */
    int removableInMillis(long now) {
        return locked(() -> {
            int idle = engine.idleGroups.leftMillis(idleSince, now);
            long restored = (restoredAt(now) - now + 999_999) / 1_000_000;
            return restored <= idle
                    ? Math.max(1, idle)
                    : Math.clamp(restored, SHORTEST_PAUSE_MILLIS, Integer.MAX_VALUE / 2);
        });
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
        isAwaited = true;
        return engine.emptySignals.computeIfAbsent(this, group -> new Signal());
    }

    /** Returns how often this group was found empty after a change; the number wraps around. */
    int timesEmptied() {
        return locked(() -> timesEmptied);
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
     * Records that a thread awaits a run of this group, if the wait may keep this run or others from running.
     *
     * @return whether the wait was recorded, so that {@link #endWait} must be called
     * @throws IllegalStateException if the wait could never end
     */
    boolean noteWait(Thread waiter, GroupRun<?> run) {
        return beginWait(waiter, run) || (engine.cap.isFull() && engine.noteWaitForCap(waiter, run));
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
        return nextIdle != null && isEmpty() && engine.idleGroups.hasPassed(idleSince, now) && isRestored(now);
    }

    Optional<GroupStats> stats() {
        long now = engine.time.nanoTime();
        return locked(() -> isActiveUnderLock(now) ? Optional.of(statsUnderLock(now)) : Optional.empty());
    }

    private GroupStats statsUnderLock(long now) {
        RateLimit limit = bounds().rate();
        Long hold = engine.alarms.holds.get(this);
        return new GroupStats(
                key,
                running(),
                waiting(),
                bounds().concurrency(),
                bounds().maxWaiting(),
                limit == null ? null : limit.rate(),
                hold == null ? null : Duration.ofNanos(Math.max(0, hold - now)),
                latestChange(),
                permitStats(now),
                isStopped(PAUSED));
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
        return engine.onlyScheduler != null
                || (bounds() instanceof GroupBounds.Known known && known.scheduler() == Scheduler.virtualThreads());
    }

    Scheduler scheduler() {
        return bounds() instanceof GroupBounds.Known known
                ? known.scheduler()
                : engine.policy.resolveScheduler(key); // evicted between the grant and the start
    }

    Explanation explain(GroupRun<?> run) {
        long now = engine.time.nanoTime();
        return locked(() -> reasonToWait(run, now));
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
            return isFull || !tasks.add(((GroupRun<?>) permit).stats(isWaiting(permit), now));
        };
        locked(() -> anyHeld(add) || firstWaiting(add) != null);
        return Collections.unmodifiableList(tasks);
    }

    private Explanation reasonToWait(GroupRun<?> run, long now) {
        return isWaiting(run) ? obstacle(ahead(run), slotsOf(run), now) : Explanation.NOTHING;
    }

    /** Returns what keeps a permit waiting that needs a number of slots and has a number of permits before it. */
    private Explanation obstacle(int place, int slots, long now) {
        if (isStopped(PAUSED)) {
            return new Explanation(WaitReason.PAUSED, place, 0);
        }
        Long hold = engine.alarms.holds.get(this);
        if (hold != null) {
            Duration rest = Duration.ofNanos(Math.max(0, hold - now));
            return new Explanation(WaitReason.HOLD, place, 0).withNextStart(null, rest);
        }
        RateLimit limit = bounds().rate();
        long allowed = allowedAt(now);
        if (limit != null && waitsForRate() && allowed - now > 0) {
            return waitForRate(limit, place, allowed - now);
        }
        boolean hasSlots = place < bounds().slots() - running();
        if (hasSlots && waitsForMore()) {
            return new Explanation(WaitReason.FLEET_LIMIT, place, 0).withPermits(slots, PermitStatus.UNKNOWN);
        }
        return hasSlots && waitsForCap()
                ? new Explanation(WaitReason.GLOBAL_CAP, place, 0)
                : new Explanation(WaitReason.GROUP_LIMIT, place, 0).withLimitChange(latestChange());
    }

    private static Explanation waitForRate(RateLimit limit, int place, long nanos) {
        return new Explanation(WaitReason.GROUP_RATE, place, 0)
                .withNextStart(limit.rate(), Duration.ofNanos(Math.max(0, nanos)));
    }

    long tagAtCap() {
        return locked(this::tag);
    }

    boolean isBeforeAtCap(long tag) {
        return locked(() -> waitsForCap() && tag() - tag < 0);
    }

    /** Describes why a task is refused, with the load that leaves no room for it. */
    Rejection refusal(Rejection.Reason reason) {
        long now = engine.time.nanoTime();
        return locked(() -> switch (reason) {
            case RATE -> {
                RateLimit own = bounds().rate();
                Explanation why = own == null
                        ? GroupMonitor.waitForGlobalRate(engine, waiting())
                        : waitForRate(own, waiting(), (waiting() == 0 ? allowedAt(1, now) : allowedAt(now)) - now);
                yield rejection(reason, rateText(why) + ", " + waitingText(), why, bounds().slots());
            }
            case PERMITS -> {
                GroupStats.Permits permits = permitStats(now);
                int leased = permits == null ? 0 : permits.leased();
                String text = leased + " permits of the fleet, " + running() + " running, " + waitingText();
                yield rejection(reason, text, new Explanation(WaitReason.FLEET_LIMIT, waiting(), 0), leased);
            }
            default -> rejection(reason, loadText(), obstacle(waiting(), 1, now), bounds().slots());
        });
    }

    /** Describes the end of a queue timeout, with what kept the task waiting until then. */
    Rejection queueTimeout(Duration longest, Explanation why) {
        String text = "queue timeout after " + MILLISECONDS.convert(longest) + " ms, ";
        return locked(() -> rejection(
                Rejection.Reason.QUEUE_TIMEOUT, text + obstacleText(why) + loadText(), why, bounds().slots()));
    }

    private Rejection rejection(Rejection.Reason reason, String text, Explanation why, int limit) {
        return new Rejection(
                reason,
                reason + ": " + text,
                engine.policy.name(),
                why.waitingFor(),
                why.nextStart(),
                new Rejection.Load(running(), limit, waiting(), bounds().maxWaiting()));
    }

    private static String obstacleText(Explanation why) {
        return switch (why.waitingFor()) {
            case GROUP_LIMIT, NOTHING -> "";
            case GLOBAL_CAP -> "waits for a slot of the global cap, ";
            default -> why.waitText() + ", ";
        };
    }

    private static String rateText(Explanation why) {
        return why.rate() + (why.waitingFor() == WaitReason.GLOBAL_RATE ? " in all groups" : "") + why.nextStartText();
    }

    private String loadText() {
        return running() + " of " + bounds().slots() + " running, " + waitingText();
    }

    private String waitingText() {
        int most = bounds().maxWaiting();
        return waiting() + " of " + (most == Integer.MAX_VALUE ? "unlimited" : most) + " waiting";
    }

    @Override
    public String toString() {
        return "group \"" + key + "\"";
    }
}
