package dev.raddle.group;

import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.StackRoom;
import dev.raddle.kernel.TaskGate;
import dev.raddle.kernel.TaskRun;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Signal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** All tasks of one key: a gate that is created on demand and removed when it is idle. */
final class Group extends TaskGate {

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
     * A group without tasks is idle, unless it is retained because it is paused or its limits were changed at run time.
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
    private static final Signal NO_WAITER = new Signal(); // the group is empty, and no thread waits for that

    final String key;
    final GroupEngine engine;

    @Nullable
    Group nextIdle; // null if not in the list of idle groups, itself if last; owned by the list

    private int idleSinceMillis; // guarded by this
    private int timesEmptied; // guarded by this
    private boolean isAwaited; // whether emptySignals has an entry for this; guarded by this
    private volatile byte life; // OPEN, CLOSING or RETIRED; written under this

    Group(String key, GroupEngine engine) {
        super(GroupBounds.UNKNOWN, engine.cap);
        this.key = key;
        this.engine = engine;
    }

    @Override
    protected boolean owns(Permit permit) {
        return ((GroupRun<?>) permit).group == this;
    }

    /** Moves a run that found this group retired to another group of the key. */
    void moveTo(GroupRun<?> run, Group next) {
        StackRoom.ensure();
        lock();
        try {
            run.group = next;
        } finally {
            unlock();
        }
    }

    Entry admit(GroupRun<?> run) {
        StackRoom.ensure();
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
            Entry entry = enter(run);
            return entry == Entry.WAITING && bounds() == GroupBounds.UNKNOWN ? Entry.UNRESOLVED : entry;
        } finally {
            unlock();
        }
    }

    void release(GroupRun<?> run, long ranNanos, long nowNanos, GrantedPermits grants) {
        Signal empty;
        StackRoom.ensure();
        lock();
        try {
            leave(run, ranNanos, grants);
            empty = recordIfEmpty(nowNanos);
        } finally {
            unlock();
        }
        signalEmpty(empty);
    }

    boolean withdraw(GroupRun<?> run, GrantedPermits grants) {
        StackRoom.ensure();
        lock();
        try {
            if (running() > 0
                    || waiting() > 1
                    || !isWaiting(run)) { // this group does not become empty: no need to read the time
                return super.withdraw(run, grants);
            }
        } finally {
            unlock();
        }
        return withdrawLast(run, grants);
    }

    private boolean withdrawLast(GroupRun<?> run, GrantedPermits grants) {
        long now = engine.time.nanoTime();
        Signal empty;
        StackRoom.ensure();
        lock();
        try {
            if (!super.withdraw(run, grants)) {
                return false;
            }
            empty = recordIfEmpty(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        return true;
    }

    // The limits.

    GroupBounds.@Nullable Pending beginLookup() {
        StackRoom.ensure();
        lock();
        try {
            if (life == RETIRED) {
                return null;
            }
            if (bounds() == GroupBounds.UNKNOWN) {
                bind(new GroupBounds.Pending(), new GrantedPermits());
            }
            return bounds() instanceof GroupBounds.Pending lookup && lookup.tryBegin() ? lookup : null;
        } finally {
            unlock();
        }
    }

    /** Returns the result of each permit that waited for the lookup, in order; none if its result is dropped. */
    Map<Permit, Entry> endLookup(GroupBounds.Pending lookup, GroupBounds.Known found, GrantedPermits grants) {
        Map<Permit, Entry> entries = new LinkedHashMap<>();
        long now = engine.time.nanoTime();
        Signal empty;
        StackRoom.ensure();
        lock();
        try {
            if (bounds() != lookup) {
                return entries; // evicted meanwhile
            }
            bindEarly(lookup.apply(found), grants, entries);
            empty = recordIfEmpty(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        return entries;
    }

    /**
     * Changes the limits now, or, if they are unknown, when they have been looked up. The caller begins that lookup.
     *
     * @return false if this group is retired
     */
    boolean adjust(UnaryOperator<GroupBounds.Known> change, GrantedPermits grants) {
        StackRoom.ensure();
        lock();
        try {
            if (retireIfShutDown(engine.isShutdown())) {
                return false;
            }
            if (bounds() == GroupBounds.UNKNOWN) {
                bind(new GroupBounds.Pending(), grants);
            }
            switch ((GroupBounds) bounds()) {
                case GroupBounds.Known known -> bind(change.apply(known), grants);
                case GroupBounds.Pending lookup -> lookup.addChange(change);
            }
            return true;
        } finally {
            unlock();
        }
    }

    /** Retires this group if it is empty and the executor is shut down; returns whether this group is retired. */
    private boolean retireIfShutDown(boolean shutdown) {
        if (shutdown && isEmpty()) {
            life = RETIRED;
        }
        return life == RETIRED;
    }

    /** Pauses or resumes this group; returns false if this group is retired. */
    boolean pauseOrResume(boolean pause, GrantedPermits grants) {
        long now = engine.time.nanoTime();
        Signal empty;
        StackRoom.ensure();
        lock();
        try {
            if (retireIfShutDown(engine.isShutdown())) {
                return false;
            }
            pause(pause, grants);
            empty = recordIfEmpty(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
        return true;
    }

    /**
     * Discards the limits and all changes to them, and drains the queue. Running tasks go on.
     *
     * @param running the list to which the runs that hold slots are added
     * @param waited the list to which the runs that waited are added, even if this method fails afterwards
     */
    @SuppressWarnings("NonApiType") // a List cannot allocate memory in advance
    void evict(List<GroupRun<?>> running, ArrayList<GroupRun<?>> waited) {
        GrantedPermits none = new GrantedPermits();
        long now = engine.time.nanoTime();
        Signal empty;
        StackRoom.ensure();
        lock();
        try {
            forEachHeld(permit -> running.add((GroupRun<?>) permit));
            waited.ensureCapacity(waited.size() + waiting()); // before the first run leaves, because it may fail
            drain(permit -> waited.add((GroupRun<?>) permit));
            unbind(GroupBounds.UNKNOWN);
            life = life == RETIRED ? RETIRED : OPEN;
            pause(false, none);
            empty = recordIfEmpty(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
    }

    /** Admits no more tasks, and retires this group when it is empty. */
    void close() {
        long now = engine.time.nanoTime();
        Signal empty;
        StackRoom.ensure();
        lock();
        try {
            life = life == RETIRED ? RETIRED : CLOSING;
            empty = recordIfEmpty(now);
        } finally {
            unlock();
        }
        signalEmpty(empty);
    }

    /** Records that this group is idle, or retires it, if it is empty. */
    void retireIfEmpty() {
        long now = engine.time.nanoTime();
        signalEmpty(locked(() -> recordIfEmpty(now)));
    }

    /** Makes a cap that was introduced count the slots that are held here. */
    void recountForCap() {
        StackRoom.ensure();
        lock();
        try {
            recount();
        } finally {
            unlock();
        }
    }

    // Idleness.

    /**
     * If this group is empty, retires it or records that it is idle. Called under the lock.
     *
     * @return null if this group has tasks, else the argument for {@link #signalEmpty}, to be called outside the lock
     */
    private @Nullable Signal recordIfEmpty(long nowNanos) {
        if (!isEmpty()) {
            return null;
        }
        timesEmptied++;
        GroupBounds bounds = (GroupBounds) bounds();
        boolean retained = isPaused() || bounds.isAdjusted();
        if (life != OPEN || engine.isShutdown() || (!retained && bounds instanceof GroupBounds.Pending)) {
            life = RETIRED;
        } else if (!retained) {
            idleSinceMillis = IdleGroups.millis(nowNanos);
            if (nextIdle == null && !engine.idleGroups.add(this)) {
                life = RETIRED;
            }
        }
        Signal awaited = isAwaited ? engine.emptySignals.remove(this) : null;
        isAwaited = false;
        return awaited == null ? NO_WAITER : awaited;
    }

    /** Notifies the executor and the waiting threads that this group is empty, if {@link #recordIfEmpty} found that. */
    private void signalEmpty(@Nullable Signal empty) {
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

    private boolean isRetained() {
        return isPaused() || ((GroupBounds) bounds()).isAdjusted();
    }

    /** Decides whether this group, just taken from the list of idle groups, is put back or removed. */
    Sweep sweep(int nowMillis, int ttlMillis) {
        StackRoom.ensure();
        lock();
        try {
            if (!isEmpty() || isRetained()) {
                nextIdle = null;
                return Sweep.UNLIST;
            }
            if (life != RETIRED && nowMillis - idleSinceMillis < ttlMillis) {
                return Sweep.KEEP;
            }
            life = RETIRED;
            nextIdle = null; // a handle may refer to this group for longer than the groups below it are in use
            return Sweep.REMOVE;
        } finally {
            unlock();
        }
    }

    int idleSinceMillis() {
        return locked(() -> idleSinceMillis);
    }

    boolean isRetired() {
        return life == RETIRED;
    }

    /** Returns a signal that is set when no task runs or waits here, or null if that is so now. */
    @Nullable
    Signal untilEmpty() {
        return locked(() -> {
            if (isEmpty()) {
                return null;
            }
            Signal signal = engine.emptySignals.computeIfAbsent(this, group -> new Signal());
            isAwaited = true;
            return signal;
        });
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

    @Override
    protected String label() {
        return key;
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

    boolean isActive() {
        return locked(this::isActiveUnderLock);
    }

    private boolean isActiveUnderLock() {
        return life != RETIRED && (bounds() != GroupBounds.UNKNOWN || isRetained());
    }

    Optional<GroupStats> stats() {
        return locked(() -> isActiveUnderLock()
                ? Optional.of(new GroupStats(key, running(), waiting(), bounds().concurrency(), bounds().maxWaiting()))
                : Optional.empty());
    }

    /** Adds the taken slots and the waiting tasks of this group to two sums. */
    void addTo(int[] runningAndWaiting) {
        StackRoom.ensure();
        lock();
        try {
            runningAndWaiting[0] += running();
            runningAndWaiting[1] += waiting();
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
        return locked(() -> reasonToWait(run));
    }

    private Explanation reasonToWait(GroupRun<?> run) {
        if (!isWaiting(run)) {
            return Explanation.NOTHING;
        }
        int place = ahead(run);
        if (isPaused()) {
            return new Explanation(Explanation.WaitReason.PAUSED, place, 0);
        }
        return waitsForCap() && place < bounds().slots() - running()
                ? new Explanation(Explanation.WaitReason.GLOBAL_CAP, place, 0)
                : new Explanation(Explanation.WaitReason.GROUP_LIMIT, place, 0);
    }

    long tagAtCap() {
        return locked(this::tag);
    }

    boolean isBeforeAtCap(long tag) {
        return locked(() -> waitsForCap() && tag() - tag < 0);
    }

    /** Describes the current load, for messages. */
    String load() {
        return locked(() -> running() + " of " + bounds().slots() + " running, " + waiting() + " of "
                + (bounds().maxWaiting() == Integer.MAX_VALUE ? "unlimited" : bounds().maxWaiting()) + " waiting");
    }

    @Override
    public String toString() {
        return "group \"" + key + "\"";
    }
}
