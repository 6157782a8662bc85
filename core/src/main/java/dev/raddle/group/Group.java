package dev.raddle.group;

import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
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
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** All tasks of one key: a gate with a life. */
final class Group extends TaskGate {

    /*
     * Overview.
     *
     * A group is made by the first who names its key, and is in the executor's map until it is `gone`. Whoever meets a group
     * that is gone removes it from the map and takes or makes another, so a task enters a group that is alive or none. A
     * group becomes gone under its lock, only when nothing runs and waits in it; so there are never two groups of one
     * key with running tasks, and the limit holds across removal and return.
     *
     * A run belongs to one group at a time. Alarms and cancellers come with the run and read its group without a lock, at
     * any time from before it enters. So that they never unlink it under the lock of the wrong group:
     *
     *   (1)  The submitter passes a run on from a group that is gone to the next one under the lock of the one that is gone
     *        (`passOn`), before the run enters. After it has entered, its group never changes.
     *   (2)  Whatever is done to a run under a group's lock asks first whether the run belongs to that group (`owns`).
     *   (3)  A withdrawal that found the run in no queue looks where it belongs now, and tries there (GroupRun.withdraw).
     *   (4)  A decided run does not enter: `admit` looks, under the lock. Whatever decides a run from outside withdraws it
     *        before, so that it has left when it is settled, and once more after that, in case it entered in between. Of an
     *        entry that did not see the decision and a withdrawal after the decision, the withdrawal comes second.
     *
     * The ways out of the queue are then: granted; withdrawn by a cancel, a queue timeout, a task's timeout or the deadline
     * of a scope; drained by an eviction or shutdown; drained and entered again, in one section, when limits are found.
     *
     * Its limits have a life of their own, which begins when they are looked up and ends when the group is evicted or gone:
     *
     *   UNKNOWN ──► Pending ──► Known          a submitter looks them up, outside the lock
     *      ▲───────────┴──────────┘            evicted, or shut down
     *
     * While they are not known, tasks pile up in the gate; whoever looked them up lets these enter. If the group was
     * evicted meanwhile, the field holds another object than the one the lookup began with, and its answer is dropped: the
     * tasks that waited for it have been rejected, and later ones have begun a lookup of their own.
     *
     * So eviction does not make a second group: what runs goes on in this one and counts against the limits found next.
     *
     * A group with no tasks is idle, unless it is paused or its limits were changed by hand: those are not forgotten. An
     * idle group notes since when and enters the list of idle groups, unless it is there already, or is gone at once if it
     * is not to be remembered. It stays in that list when it becomes busy; who sweeps the list drops it then.
     */

    /** What became of a task that wanted to enter. */
    enum Admission {
        HELD,
        WAITING,
        UNRESOLVED,
        QUEUE_FULL,
        BULKHEAD_FULL,
        GLOBAL_QUEUE_FULL,
        CLOSED,
        ENDED,
        GONE
    }

    /** What a sweep found. */
    enum Sweep {
        KEEP,
        DROP,
        FORGET
    }

    private static final byte OPEN = 0;
    private static final byte CLOSING = 1; // takes no tasks until it is empty
    private static final byte GONE = 2;
    private static final Signal NOBODY = new Signal(); // stands for the one that nobody waits for

    final String key;
    final GroupExecutor owner;

    @Nullable
    Group nextIdle; // null if not in the list of idle groups, itself if last; owned by the list

    private int idleSinceMillis; // guarded by this
    private int timesEmptied; // guarded by this
    private volatile byte life; // OPEN, CLOSING or GONE; written under this

    Group(String key, GroupExecutor owner) {
        super(GroupBounds.UNKNOWN);
        this.key = key;
        this.owner = owner;
    }

    @Override
    protected FairCap cap() {
        return owner.cap();
    }

    @Override
    protected boolean owns(Permit permit) {
        return ((GroupRun<?>) permit).isOf(this);
    }

    /** Gives a run that found this group gone to another group of the key. */
    void passOn(GroupRun<?> run, Group next) {
        ensureStackRoom();
        lock();
        try {
            run.giveTo(next);
        } finally {
            unlock();
        }
    }

    /** Returns if the stack has room for what a public method does at its groups. */
    static void ensureRoom() {
        ensureStackRoom();
    }

    Admission admit(GroupRun<?> run) {
        ensureStackRoom();
        lock();
        try {
            if (life == GONE) {
                return Admission.GONE;
            }
            if (life == CLOSING || owner.isShutdown()) {
                return Admission.CLOSED;
            }
            if (run.isEnded()) {
                return Admission.ENDED;
            }
            return switch (enter(run)) {
                case HELD -> Admission.HELD;
                case WAITING -> bounds() == GroupBounds.UNKNOWN ? Admission.UNRESOLVED : Admission.WAITING;
                case QUEUE_FULL -> Admission.QUEUE_FULL;
                case BULKHEAD_FULL -> Admission.BULKHEAD_FULL;
                case COMMON_QUEUE_FULL -> Admission.GLOBAL_QUEUE_FULL;
            };
        } finally {
            unlock();
        }
    }

    void release(GroupRun<?> run, long ranNanos, long nowNanos, GrantedPermits grants) {
        Signal empty;
        ensureStackRoom();
        lock();
        try {
            leave(run, ranNanos, grants);
            empty = noteIfEmpty(nowNanos);
        } finally {
            unlock();
        }
        tell(empty);
    }

    boolean withdraw(GroupRun<?> run, GrantedPermits grants) {
        ensureStackRoom();
        lock();
        try {
            if (running() > 0
                    || waiting() > 1
                    || !isWaiting(run)) { // it does not become empty: no need to know the time
                return super.withdraw(run, grants);
            }
        } finally {
            unlock();
        }
        return withdrawLast(run, grants);
    }

    private boolean withdrawLast(GroupRun<?> run, GrantedPermits grants) {
        long now = owner.time().nanoTime();
        Signal empty;
        ensureStackRoom();
        lock();
        try {
            if (!super.withdraw(run, grants)) {
                return false;
            }
            empty = noteIfEmpty(now);
        } finally {
            unlock();
        }
        tell(empty);
        return true;
    }

    // The life of the limits.

    GroupBounds.@Nullable Pending beginLookup() {
        ensureStackRoom();
        lock();
        try {
            if (life == GONE) {
                return null;
            }
            if (bounds() == GroupBounds.UNKNOWN) {
                bind(new GroupBounds.Pending(), new GrantedPermits());
            }
            return bounds() instanceof GroupBounds.Pending lookup && lookup.begin() ? lookup : null;
        } finally {
            unlock();
        }
    }

    Map<Permit, Entry> endLookup(GroupBounds.Pending lookup, GroupBounds.Known found, GrantedPermits grants) {
        Map<Permit, Entry> refused = new LinkedHashMap<>(); // told in order of arrival
        long now = owner.time().nanoTime();
        Signal empty;
        ensureStackRoom();
        lock();
        try {
            if (bounds() != lookup) {
                return refused; // evicted meanwhile
            }
            bindEarly(lookup.apply(found), grants, refused);
            empty = noteIfEmpty(now);
        } finally {
            unlock();
        }
        tell(empty);
        return refused;
    }

    /** Changes the limits by hand, now or when they have been looked up, which the caller begins; false if this group is gone. */
    boolean adjust(UnaryOperator<GroupBounds.Known> change, GrantedPermits grants) {
        ensureStackRoom();
        lock();
        try {
            if (isGoneBy(owner.isShutdown())) {
                return false;
            }
            if (bounds() == GroupBounds.UNKNOWN) {
                bind(new GroupBounds.Pending(), grants);
            }
            switch ((GroupBounds) bounds()) {
                case GroupBounds.Known known -> bind(change.apply(known), grants);
                case GroupBounds.Pending lookup -> lookup.change(change);
            }
            return true;
        } finally {
            unlock();
        }
    }

    private boolean isGoneBy(boolean shutdown) {
        if (shutdown && isEmpty()) {
            life = GONE;
        }
        return life == GONE;
    }

    /** Pauses or resumes; false if this group is gone. */
    boolean pauseOrResume(boolean pause, GrantedPermits grants) {
        long now = owner.time().nanoTime();
        Signal empty;
        ensureStackRoom();
        lock();
        try {
            if (isGoneBy(owner.isShutdown())) {
                return false;
            }
            pause(pause, grants);
            empty = noteIfEmpty(now);
        } finally {
            unlock();
        }
        tell(empty);
        return true;
    }

    /** Forgets the limits, whatever was done to them by hand, and takes out all who wait. What runs goes on. */
    List<GroupRun<?>> evict(Consumer<GroupRun<?>> running) {
        List<GroupRun<?>> waited = new ArrayList<>();
        long now = owner.time().nanoTime();
        Signal empty;
        ensureStackRoom();
        lock();
        try {
            drain().forEach(permit -> waited.add((GroupRun<?>) permit));
            forEachHeld(permit -> running.accept((GroupRun<?>) permit));
            unbind(GroupBounds.UNKNOWN);
            life = life == GONE ? GONE : OPEN;
            pause(false, new GrantedPermits());
            empty = noteIfEmpty(now);
        } finally {
            unlock();
        }
        tell(empty);
        return waited;
    }

    /** Takes no more tasks until it is empty, and then is gone. */
    void close() {
        long now = owner.time().nanoTime();
        Signal empty;
        ensureStackRoom();
        lock();
        try {
            life = life == GONE ? GONE : CLOSING;
            empty = noteIfEmpty(now);
        } finally {
            unlock();
        }
        tell(empty);
    }

    /** Becomes idle, or is gone, if it has no tasks. */
    void retireIfEmpty() {
        long now = owner.time().nanoTime();
        tell(locked(() -> noteIfEmpty(now)));
    }

    /** Lets a cap that came into force count what runs here. */
    void count() {
        ensureStackRoom();
        lock();
        try {
            recount();
        } finally {
            unlock();
        }
    }

    // Idleness.

    /**
     * Decides what becomes of this group if it has no tasks.
     *
     * @return null if it has tasks, else a signal for {@link #tell}, outside the lock
     */
    private @Nullable Signal noteIfEmpty(long nowNanos) {
        if (!isEmpty()) {
            return null;
        }
        timesEmptied++;
        if (life != OPEN || owner.isShutdown() || (!isBound() && !isKept())) {
            life = GONE;
        } else if (!isKept()) {
            idleSinceMillis = IdleGroups.millis(nowNanos);
            if (nextIdle == null && !owner.idleGroups().add(this)) {
                life = GONE;
            }
        }
        Signal watched = owner.watched().isEmpty() ? null : owner.watched().remove(this);
        return watched == null ? NOBODY : watched;
    }

    /** Acts on what {@link #noteIfEmpty} decided. */
    private void tell(@Nullable Signal empty) {
        if (empty == null) {
            return;
        }
        owner.emptied(this);
        if (empty != NOBODY) {
            empty.set();
        }
    }

    private boolean isKept() {
        return isPaused() || ((GroupBounds) bounds()).isAdjusted();
    }

    /** Decides, on behalf of the list which has just taken this group out, whether it is forgotten or goes back. */
    Sweep sweep(int nowMillis, int ttlMillis) {
        ensureStackRoom();
        lock();
        try {
            if (!isEmpty() || isKept()) {
                nextIdle = null;
                return Sweep.DROP;
            }
            if (life != GONE && nowMillis - idleSinceMillis < ttlMillis) {
                return Sweep.KEEP;
            }
            life = GONE;
            return Sweep.FORGET;
        } finally {
            unlock();
        }
    }

    int idleSinceMillis() {
        return locked(() -> idleSinceMillis);
    }

    boolean isGone() {
        return life == GONE;
    }

    /** Returns a signal that is set when nothing runs and waits here, or null if that is so now. */
    @Nullable
    Signal untilEmpty() {
        return locked(() -> isEmpty() ? null : owner.watched().computeIfAbsent(this, group -> new Signal()));
    }

    /** Returns how often this group was found empty after a change, a number that wraps around. */
    int timesEmptied() {
        return locked(() -> timesEmptied);
    }

    // Waiting inside.

    @Override
    protected ConcurrentHashMap<Thread, TaskRun<?>> waits() {
        return owner.waits();
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
     * Notes that a thread waits for a run of this group: because that may be what keeps the run, or others, from running.
     *
     * @return true if {@link #endWait} is to be called
     * @throws IllegalStateException if the wait could never end
     */
    boolean noteWait(Thread waiter, GroupRun<?> run) {
        return beginWait(waiter, run) || owner.noteWaitForCap(waiter, run);
    }

    /** Adds the runs that are held here to a list; false if one of them may go on. */
    boolean addHeldTo(Standstill search, List<Standstill.Held> all) {
        ensureStackRoom();
        lock();
        try {
            return !anyHeld(permit -> !search.add((GroupRun<?>) permit, all));
        } finally {
            unlock();
        }
    }

    /** Whether a run waits here for slots, or holds them. */
    boolean keepsBack(GroupRun<?> run) {
        return locked(() -> isHeld(run) || (isWaiting(run) && !isPaused() && isBound()));
    }

    // Questions.

    boolean holds(GroupRun<?> run) {
        return locked(() -> isHeld(run));
    }

    boolean isActive() {
        return locked(this::hasLife);
    }

    private boolean hasLife() {
        return life != GONE && (bounds() != GroupBounds.UNKNOWN || isKept());
    }

    Optional<GroupStats> stats() {
        return locked(() -> hasLife()
                ? Optional.of(new GroupStats(key, running(), waiting(), bounds().concurrency(), bounds().maxWaiting()))
                : Optional.empty());
    }

    /** Adds the tasks that run and wait here to two sums. */
    void addTo(int[] runningAndWaiting) {
        ensureStackRoom();
        lock();
        try {
            runningAndWaiting[0] += running();
            runningAndWaiting[1] += waiting();
        } finally {
            unlock();
        }
    }

    /** Tells whether each task gets a virtual thread of its own, as far as is known without asking the policy. */
    boolean usesVirtualThreads() {
        return owner.usesVirtualThreads()
                || (bounds() instanceof GroupBounds.Known known && known.scheduler() == Scheduler.virtualThreads());
    }

    Scheduler scheduler() {
        return bounds() instanceof GroupBounds.Known known
                ? known.scheduler()
                : owner.policy().resolveScheduler(key); // evicted between the grant and the start
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

    /** For messages: what the group looks like now. */
    String load() {
        return locked(() -> running() + " of " + bounds().slots() + " running, " + waiting() + " of "
                + (bounds().maxWaiting() == Integer.MAX_VALUE ? "unlimited" : bounds().maxWaiting()) + " waiting");
    }

    @Override
    public String toString() {
        return "group \"" + key + "\"";
    }
}
