package dev.raddle.kernel;

import dev.raddle.lock.SpinLock;
import dev.raddle.task.WaitReason;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Holds, queues or refuses the permits of one key, within the key's {@link Bounds}.
 *
 * <p>A class that keeps the state of a key extends this one. The protected methods are the steps of one decision; the
 * caller holds the gate's lock. After it has released the lock, the caller lets the cap {@linkplain FairCap#serve
 * serve} and starts the {@link GrantedPermits} that were collected.
 */
public abstract class Gate extends SpinLock {

    /*
     * Overview.
     *
     * One lock guards two lists of permits and the slots they take:
     *
     *   held      permits in the place HELD; `running` is the sum of the slots they took
     *   waiting   permits in the place WAITING, in order of priority, then of arrival
     *
     * and keeps these invariants between them whenever the lock is free:
     *
     *   (1)  running <= bounds.slots(), except that bounds which were lowered are reached by attrition
     *   (2)  waiting <= bounds.maxWaiting(), once the bounds are known
     *   (3)  without a cap, the first in the queue does not fit; with one, a gate whose first fits is `ready`: it is
     *        known to the cap, or the thread that holds the lock is about to offer it
     *   (4)  if the rate keeps the first in the queue waiting and its slots are free, the gate is `throttled`: an alarm
     *        will let it advance at the moment that the rate allows, or the thread that found this is about to arm the
     *        alarm
     *
     * (3) says that no permit waits beside a free slot. A free slot is not left for all to compete for: the thread that
     * frees it grants it to the first permit, if that fits. So there is no window in which a newcomer overtakes, and no
     * wakeup can be lost. Only the first permit is considered; a wide permit at the head is not overtaken for ever by
     * narrow ones behind it.
     *
     * A permit leaves the queue in exactly one way, decided under the lock by the thread that unlinks it: granted,
     * withdrawn or drained. So a slot is never granted to a permit that has left. Unlinking is O(1): both lists are
     * circular, linked through the permits, and referenced by their last member. The queue is one such list, or several
     * by priority (PriorityQueues).
     *
     * A permit belongs to one gate at a time, and `place`, `previous` and `next` are guarded by the lock of that gate
     * alone. A thread may have read the gate of a permit before the permit moved to another gate, so holding the lock
     * of some gate proves nothing: `owns` is called first, under the lock, and `place` is not read if it returns false.
     * A subclass that moves a permit from one gate to the next changes what `owns` reads under the lock of the gate
     * that is left, and only while the permit is in neither list. So while a lock is held, the gate keeps every permit
     * that it owns; and a thread that receives false sees, after it has released the lock, the gate to which the permit
     * moved.
     *
     * Slots of the gate and of the cap are taken in the same step or not at all, so a waiting permit holds only its
     * place in the queue. Taking slots of the cap is one compare-and-set if no gate waits for the cap. Otherwise the
     * permit waits, and the cap's combiner grants it under this lock. The order of locks is: the role of the combiner,
     * then the lock of one gate. No thread holds two gates' locks, or seeks the combiner's role while it holds a gate's
     * lock.
     *
     * A gate whose bounds have a rate has an allowance, from which a permit takes its share in the step that
     * takes its slots. Each decision needs the moment at which it is made; the caller reads it before it takes the
     * lock. A decision that was begun before the gate had a rate has no such moment and grants nothing; the caller then
     * reads the time and lets the gate proceed. When the bounds are discarded, the allowance is kept until it is full.
     *
     * A subclass may bound the slots further, by permits that it receives from elsewhere (`mayTake`). Then "fits" in
     * (3) means that these suffice, too. `took` and `returned` keep them in step with `running`: they are called in the
     * step that changes it. A subclass that receives more permits calls `proceed`, as if slots had
     * been freed. (4) disregards these permits: the alarm fires, and the subclass learns then that it needs permits.
     *
     * Bounds that are not known yet have no slots: permits wait, beyond any threshold, until `bindEarly` decides about
     * them, in order, as if they entered under the bounds that were found. Until then they do not count as waiting at
     * the cap.
     *
     * One function decides all of this: `obstacleHere` returns what keeps a permit from taking slots. A permit fits if
     * nothing does, and (4) is about its result, too. `obstacle` adds the cap, and is what is said about a permit that
     * waits or was refused.
     *
     * User code never runs under the lock.
     */

    /** A reason for which nothing is granted: until it is resumed, or its limits are removed. */
    protected static final byte PAUSED = 1;

    /** Another reason, independent of {@link #PAUSED}: for a time. */
    protected static final byte SUSPENDED = 2;

    /** Another reason, independent of the others: too many tasks have failed. */
    protected static final byte BROKEN = 4;

    /** Another reason, independent of the others: until the tasks have ended that show whether they fail. */
    protected static final byte PROBED = 8;

    /** The run time of a task that was ended before it ran. */
    public static final long NEVER_RAN = -1;

    private static final byte UNCOUNTED = -1; // the cap does not count what runs here, because there was no cap so far
    static final byte UNKNOWN_PACE = 0;

    private final FairCap cap; // shared with other gates
    private volatile Bounds bounds; // written under this
    private @Nullable Object queue; // the last waiting permit, or PriorityQueues, or null; guarded by this

    @Nullable
    Permit held; // the last of the held; guarded by this

    private @Nullable Allowance allowance; // null until this has a rate; guarded by this
    private int waiting; // guarded by this
    int running; // guarded by this
    byte stops; // a sum of PAUSED, SUSPENDED, BROKEN and PROBED; nothing is granted unless it is 0; guarded by this

    byte pace = UNCOUNTED; // binary logarithm of the last charged time, or one of these; guarded by this
    long finish; // virtual time at which everything granted here is paid for; guarded by this

    /** Null unless this was offered to the cap; then the next gate on the way to the line, or this if it is last. */
    @Nullable
    Gate nextReady; // changes from null and to null under this lock; owned by the cap in between

    /**
     * Creates an empty gate.
     *
     * @param bounds its limits, without a rate; bounds with no slots let nothing run until they are replaced
     * @param cap the cap that this gate shares with others
     */
    protected Gate(Bounds bounds, FairCap cap) {
        assert bounds.rate() == null;
        this.bounds = bounds;
        this.cap = cap;
    }

    /**
     * Returns whether a permit belongs to this gate, so that this gate's lock guards its place. Called under the lock.
     * A subclass whose permits may move from one gate to another overrides this: the result changes from true to false
     * only under this lock, while the permit neither waits nor is held.
     *
     * @param permit any permit
     * @return whether the permit belongs to this gate; this implementation returns true
     */
    protected boolean owns(Permit permit) {
        return true;
    }

    // What a subclass adds. These bodies are trivial, so that they cost nothing while no subclass overrides them.

    /**
     * Returns the bound on the slots that one permit takes, in addition to {@link #bounds}. A permit that requests more
     * takes this many. Called under the lock.
     *
     * @return a number of slots, at least 1; this implementation returns {@link Integer#MAX_VALUE}
     */
    protected int mostSlots() {
        return Integer.MAX_VALUE;
    }

    /**
     * Returns whether slots may be taken that the bounds leave free. Called under the lock.
     *
     * @param slots a number of slots, at least 1
     * @return this implementation returns true
     */
    protected boolean mayTake(int slots) {
        return true;
    }

    /**
     * Records that slots were taken for a permit, which {@link #mayTake} has allowed. Called under the lock. This
     * implementation does nothing.
     *
     * @param permit the permit, which is held now
     * @param slots the number of slots
     */
    protected void took(Permit permit, int slots) {}

    /**
     * Records that the slots of a permit are free again. Called under the lock. This implementation does nothing.
     *
     * @param permit the permit, which is no longer held
     */
    protected void returned(Permit permit) {}

    /**
     * Records that the cap has granted permits of this gate. Called under the lock. This implementation does nothing.
     *
     * @param now the current time in nanoseconds, or {@link GrantedPermits#NO_TIME} if this gate has no rate
     */
    protected void servedByCap(long now) {}

    /**
     * Lets a permit enter. The permit is held at once if it would be the first in the queue, its slots are free and the
     * rate allows it. Otherwise it waits if the queue has room.
     *
     * @param permit a permit of this gate that neither waits nor is held
     * @param now the current time in nanoseconds; {@link GrantedPermits#NO_TIME} if this gate has no rate
     * @return the result
     */
    protected final Entry enter(Permit permit, long now) {
        assert isLocked() && owns(permit) && permit.place == Permit.NOWHERE;
        boolean isFirst = waiting == 0 || isBeforeFirst(permit);
        int slots = isFirst ? fitting(permit, now) : 0;
        if (takeSlots(permit, slots, now)) {
            hold(permit, slots, now);
            return Entry.HELD;
        }
        Entry entry = mayWait(waiting);
        if (entry != Entry.WAITING) {
            return entry;
        }
        enqueue(permit);
        if (!isFirst) {
            offer(now);
            return Entry.WAITING;
        }
        if (nextReady != null) {
            cap.resume(); // it may be throttled for the permit that was the first so far
        } else if (slots > 0) {
            cap.offer(this);
        }
        return allowance != null && isFirstKeptBy(WaitReason.GROUP_RATE, now) ? Entry.THROTTLED : Entry.WAITING;
    }

    /**
     * Releases a held permit and grants those that fit then. Does nothing if the permit is not held here, so releasing
     * a permit twice frees its slots once.
     *
     * @param permit any permit
     * @param ranNanos the time for which its task has run, in nanoseconds, or {@link #NEVER_RAN}
     * @param grantedNanos the moment that {@link Permit#granted} has recorded, if it was called
     * @param grants the collection to which granted permits are added, with the current time unless that is unknown
     */
    protected final void leave(Permit permit, long ranNanos, long grantedNanos, GrantedPermits grants) {
        assert isLocked();
        if (!isHeld(permit)) {
            return;
        }
        int slots = permit.taken();
        boolean capped = countAtCap();
        held = Ring.unlink(held, permit);
        permit.place = Permit.NOWHERE;
        running -= slots;
        returned(permit);
        if (capped) {
            cap.release(slots);
            correct(permit, ranNanos, grantedNanos, grants.now());
        }
        if (waiting > 0) {
            proceed(grants);
        }
    }

    /**
     * Removes a waiting permit from the queue, and grants those that fit then. Does nothing if the permit does not wait
     * here.
     *
     * @param permit any permit
     * @param grants the collection to which granted permits are added
     * @return true if the permit was waiting here; it is never granted then
     */
    protected final boolean withdraw(Permit permit, GrantedPermits grants) {
        assert isLocked();
        if (!isWaiting(permit)) {
            return false;
        }
        dequeue(permit);
        noteIfEmptied();
        reconsiderFirst();
        proceed(grants);
        return true;
    }

    /**
     * Removes all waiting permits from the queue.
     *
     * @param receiver receives each permit, in the order in which they would have been granted
     */
    protected final void drain(Consumer<Permit> receiver) {
        assert isLocked();
        for (Permit first; (first = first()) != null; ) {
            dequeue(first);
            receiver.accept(first);
        }
        noteIfEmptied();
        reconsiderFirst();
    }

    /**
     * Replaces the limits. Additional slots are granted at once; a lower limit is reached as permits are released.
     *
     * @param replacement the new limits
     * @param grants the collection to which granted permits are added
     */
    protected final void bind(Bounds replacement, GrantedPermits grants) {
        assert isLocked();
        allowance = allowanceFor(replacement, grants.now());
        bounds = replacement;
        proceed(grants);
    }

    /**
     * Sets the limits of a gate that had none, and decides about the permits that came before, in order, as if they
     * entered now.
     *
     * @param found the new limits, with at least one slot
     * @param grants the collection to which granted permits are added
     * @return the permits that are refused, in order, each with the reason
     */
    protected final Map<Permit, Entry> bindEarly(Bounds found, GrantedPermits grants) {
        assert isLocked() && !isBound();
        Map<Permit, Entry> refused = new LinkedHashMap<>();
        List<Permit> early = PriorityQueues.toList(queue, waiting);
        allowance = allowanceFor(found, grants.now());
        bounds = found;
        int entered = 0; // of those that still wait
        for (int index = 0; index < early.size(); index++) {
            Permit permit = early.get(index);
            int slots = entered == 0 ? fitting(permit, grants.now()) : 0;
            Entry entry = takeSlots(permit, slots, grants.now()) ? Entry.HELD : mayWait(entered);
            if (entry == Entry.WAITING) {
                entered++;
                continue;
            }
            unlink(permit);
            if (entry == Entry.HELD) {
                hold(permit, slots, grants.now());
                grants.add(permit);
            } else {
                refused.put(permit, entry);
            }
        }
        offer(grants.now());
        noteIfThrottled(grants);
        return refused;
    }

    /**
     * Removes the limits and ends a pause and what a breaker stops, after {@link #drain}. Permits that enter from now
     * on wait until limits are set again. Held permits stay held and are counted.
     *
     * @param unknown bounds without slots
     */
    protected final void unbind(Bounds unknown) {
        assert isLocked() && waiting == 0;
        bounds = unknown;
        stops &= SUSPENDED;
    }

    /**
     * Stops granting for a reason, or no longer for that reason. Held permits stay held.
     *
     * @param reason one of the reasons
     * @param stop true to stop, false to resume
     * @param grants the collection to which granted permits are added
     */
    protected final void stop(byte reason, boolean stop, GrantedPermits grants) {
        assert isLocked();
        mark(reason, stop);
        proceed(grants);
    }

    /**
     * Does what {@link #stop} does in a section that decides afterwards what is granted, as {@link #took} and {@link
     * #returned} are called in.
     *
     * @param reason one of the reasons
     * @param stop true to stop, false to resume
     */
    protected final void mark(byte reason, boolean stop) {
        assert isLocked();
        stops = (byte) (stop ? stops | reason : stops & ~reason);
        reconsiderFirst();
    }

    /**
     * Adds the slots held here to the cap if a cap has come into force, and offers this gate to the cap if it is ready.
     *
     * @param grants the collection, with the current time if this gate has a rate
     */
    protected final void recount(GrantedPermits grants) {
        assert isLocked();
        if (countAtCap()) {
            offer(grants.now());
        }
        noteIfThrottled(grants);
    }

    /**
     * Grants what fits now.
     *
     * @param grants the collection to which granted permits are added
     */
    protected final void proceed(GrantedPermits grants) {
        assert isLocked();
        if (countAtCap()) {
            offer(grants.now());
        } else {
            int slots;
            for (Permit first; (first = first()) != null && (slots = fitting(first, grants.now())) > 0; ) {
                grant(first, slots, grants);
            }
        }
        noteIfThrottled(grants);
    }

    /**
     * Lets the cap look at its line again, because it may be throttled for a permit that is not the first any more, or
     * that {@link #mayTake} does not allow any more.
     */
    protected final void reconsiderFirst() {
        assert isLocked();
        if (nextReady != null) {
            cap.resume();
        }
    }

    /**
     * Returns whether nothing is left to remember of what has started here: a new gate would allow no more than this
     * one.
     *
     * @param now the current time in nanoseconds
     * @return true if this gate has never had a rate, or could start a whole burst
     */
    protected final boolean isRestored(long now) {
        assert isLocked();
        return allowance == null || allowance.isFull(now);
    }

    /**
     * Returns the moment from which this gate {@linkplain #isRestored is restored}, if nothing starts before.
     *
     * @param now the current time in nanoseconds
     * @return the moment in nanoseconds, or {@code now}
     */
    protected final long restoredAt(long now) {
        assert isLocked();
        return isRestored(now) || allowance == null ? now : allowance.fullAt();
    }

    /**
     * Returns the moment from which the rate allows the first permit in the queue.
     *
     * @param now the current time in nanoseconds
     * @return the moment in nanoseconds, or {@code now} if there is no such permit, or nothing to wait for
     */
    protected final long allowedAt(long now) {
        Permit first = first();
        return first == null ? now : allowedAt(first.cost(), now);
    }

    /**
     * Returns the moment from which the rate allows a permit, if nothing starts before.
     *
     * @param cost the cost of the permit
     * @param now the current time in nanoseconds
     * @return the moment in nanoseconds, or {@code now} if there is nothing to wait for
     */
    protected final long allowedAt(int cost, long now) {
        assert isLocked();
        return allowance == null || allowance.allows(cost, now) ? now : allowance.allowedAt(cost);
    }

    /** {@return the limits in force, which may be read without the lock} */
    protected final Bounds bounds() {
        return bounds;
    }

    /** {@return whether the limits are known, so that the bounds in force have slots} */
    protected final boolean isBound() {
        return bounds.concurrency() > 0;
    }

    /**
     * Returns whether granting is stopped.
     *
     * @param reasons the sum of some reasons
     * @return true if it is stopped for one of these reasons
     */
    protected final boolean isStopped(int reasons) {
        assert isLocked();
        return (stops & reasons) != 0;
    }

    /** {@return the number of slots that the first permit in the queue will take; 0 if there is none} */
    protected final int slotsOfFirst() {
        assert isLocked();
        Permit first = first();
        return first == null ? 0 : slotsOf(first);
    }

    /**
     * Returns whether the limit of this gate is what bounds the permits that run here: at least three quarters of the
     * slots are taken, or the first permit in the queue does not fit beside them. What {@link #mayTake} bounds is
     * disregarded, as are the cap and the rate.
     *
     * @return false if more permits could run than do
     */
    protected final boolean isNearLimit() {
        assert isLocked();
        int most = bounds.slots();
        return running >= most - most / 4 || isFirstKeptBy(reasonOfBounds(), GrantedPermits.NO_TIME);
    }

    /** {@return whether no permit is held or waits} */
    protected final boolean isEmpty() {
        assert isLocked();
        return held == null && waiting == 0;
    }

    /** {@return the number of slots that held permits take} */
    protected final int running() {
        assert isLocked();
        return running;
    }

    /** {@return the number of waiting permits} */
    protected final int waiting() {
        assert isLocked();
        return waiting;
    }

    /**
     * Returns whether a permit waits here.
     *
     * @param permit any permit
     * @return true if it is in the queue of this gate
     */
    protected final boolean isWaiting(Permit permit) {
        assert isLocked();
        return owns(permit) && permit.place == Permit.WAITING;
    }

    /**
     * Returns whether a permit is held here.
     *
     * @param permit any permit
     * @return true if this gate has granted the permit and it was not released since
     */
    protected final boolean isHeld(Permit permit) {
        assert isLocked();
        return owns(permit) && permit.place == Permit.HELD;
    }

    /**
     * Calls an action for each held permit, oldest grant first.
     *
     * @param action the action, which must not change this gate
     */
    protected final void forEachHeld(Consumer<Permit> action) {
        assert isLocked();
        Ring.forEach(held, action);
    }

    /**
     * Calls an action for the first waiting permit of each priority, the highest priority first. Takes time in
     * proportion to the number of different priorities.
     *
     * @param action the action, which must not change this gate
     */
    protected final void forEachFirst(Consumer<Permit> action) {
        assert isLocked();
        PriorityQueues.forEachFirst(queue, action);
    }

    /**
     * Returns whether a held permit has a property, oldest grant first.
     *
     * @param property the property, which must not change this gate
     * @return true if one has it; the permits behind that one were not asked
     */
    protected final boolean anyHeld(Predicate<Permit> property) {
        assert isLocked();
        return Ring.any(held, property);
    }

    /**
     * Returns the number of permits that wait before a waiting permit. Takes time in proportion to the result.
     *
     * @param permit a waiting permit
     * @return 0 for the first in the queue
     */
    protected final int ahead(Permit permit) {
        assert isWaiting(permit);
        return PriorityQueues.before(queue, permit);
    }

    /**
     * Returns the first waiting permit with a property, in the order of the queue. Takes time in proportion to the
     * number of waiting permits.
     *
     * @param property the property, which must not call user code
     * @return the permit, or null if none waits that has the property
     */
    protected final @Nullable Permit firstWaiting(Predicate<Permit> property) {
        assert isLocked();
        return PriorityQueues.firstWith(queue, property);
    }

    /** {@return the finish tag at the cap, to be compared in the form {@code a - b < 0} because tags wrap around} */
    protected final long tag() {
        assert isLocked();
        return finish;
    }

    // What keeps permits waiting.

    /**
     * Returns what keeps the first permit in the queue waiting.
     *
     * @param now the current time in nanoseconds; {@link GrantedPermits#NO_TIME} if any rate is to be an obstacle
     * @return the obstacle; {@link WaitReason#NOTHING} if no permit waits
     */
    protected final WaitReason obstacle(long now) {
        Permit first = first();
        return first == null ? WaitReason.NOTHING : obstacleOf(first, now);
    }

    /**
     * Returns what keeps a permit from being granted, or the permits before it.
     *
     * @param permit a waiting permit, or one that was refused
     * @param ahead the number of permits before it
     * @param now the current time in nanoseconds
     * @return the obstacle of the first permit in the queue, or of this one if none waits; but if that leaves slots
     *     free, and the permits before this one would take them, the bound on the slots
     */
    protected final WaitReason obstacle(Permit permit, int ahead, long now) {
        Permit first = first();
        WaitReason ofFirst = obstacleOf(first == null ? permit : first, now);
        return switch (ofFirst) {
            case FLEET_LIMIT, GLOBAL_CAP, GLOBAL_RATE -> ahead < bounds.slots() - running ? ofFirst : reasonOfBounds();
            default -> ofFirst;
        };
    }

    private WaitReason obstacleOf(Permit permit, long now) {
        WaitReason here = obstacleHere(permit, slotsOf(permit), now);
        return here == WaitReason.NOTHING ? cap.obstacle(permit.cost(), now) : here;
    }

    /** Returns what keeps a permit from taking a number of slots now, disregarding the cap. */
    private WaitReason obstacleHere(Permit permit, int slots, long now) {
        if (stops != 0) {
            boolean isHold = (stops & SUSPENDED) != 0;
            return (stops & PAUSED) != 0 ? WaitReason.PAUSED : isHold ? WaitReason.HOLD : WaitReason.BREAKER;
        }
        if (slots == 0 || running > bounds.slots() - slots) {
            return reasonOfBounds();
        }
        if (allowance != null && (now == GrantedPermits.NO_TIME || !allowance.allows(permit.cost(), now))) {
            return WaitReason.GROUP_RATE;
        }
        return mayTake(slots) ? WaitReason.NOTHING : WaitReason.FLEET_LIMIT;
    }

    /** Returns the obstacle of permits for which the bounds leave too few slots. */
    private WaitReason reasonOfBounds() {
        return bounds.maxInFlight() < bounds.concurrency() ? WaitReason.BULKHEAD : WaitReason.GROUP_LIMIT;
    }

    private boolean isFirstKeptBy(WaitReason obstacle, long now) {
        Permit first = first();
        return first != null && obstacleHere(first, slotsOf(first), now) == obstacle;
    }

    // Called by the cap's combiner, under this lock.

    /**
     * Returns how many slots a permit would take now, or 0 if it does not fit. Call it once: the cap's max may change.
     */
    int fitting(Permit permit, long now) {
        int slots = slotsOf(permit);
        return obstacleHere(permit, slots, now) == WaitReason.NOTHING ? slots : 0;
    }

    /**
     * Returns the number of slots that a permit will take under the limits in force.
     *
     * @param permit a waiting permit
     * @return the number of slots; 0 if the limits are not known and it requests more than one
     */
    protected final int slotsOf(Permit permit) {
        int cost = permit.cost();
        return cost == 1 ? 1 : Math.min(Math.min(cost, mostSlots()), Math.min(bounds.slots(), cap.max()));
    }

    boolean firstFits(long now) {
        Permit first = first();
        return first != null && fitting(first, now) > 0;
    }

    /** Adds this gate to the throttled ones if only the rate keeps its first permit. */
    void noteIfThrottled(GrantedPermits grants) {
        if (allowance != null && isFirstKeptBy(WaitReason.GROUP_RATE, grants.now())) {
            grants.addThrottled(this);
        }
    }

    int weight() {
        return Math.max(1, bounds.weight()); // unknown bounds have no weight
    }

    /** Grants a waiting permit. */
    void grant(Permit permit, int slots, GrantedPermits grants) {
        dequeue(permit);
        hold(permit, slots, grants.now());
        grants.add(permit);
    }

    private boolean isBeforeFirst(Permit permit) {
        Permit first = first();
        return first == null || permit.priority() > first.priority();
    }

    /** Takes slots for a permit that comes before all others here, unless another gate waits for the cap. */
    private boolean takeSlots(Permit permit, int slots, long now) {
        return slots > 0 && (!countAtCap() || cap.tryTake(slots, permit.cost(), now, nextReady == null ? 0 : 1));
    }

    /** Returns WAITING, and counts one more waiting permit at the cap, if that may wait behind others; else why not. */
    private Entry mayWait(int others) {
        if (!isBound()) {
            return Entry.WAITING;
        }
        return others >= bounds.maxWaiting()
                ? Entry.QUEUE_FULL
                : cap.tryWait() ? Entry.WAITING : Entry.COMMON_QUEUE_FULL;
    }

    private void hold(Permit permit, int slots, long now) {
        permit.taken(slots);
        if (allowance != null) {
            allowance.take(permit.cost(), now);
        }
        held = Ring.append(held, permit);
        permit.place = Permit.HELD;
        running += slots;
        took(permit, slots);
    }

    /** Returns the allowance under new bounds. */
    private @Nullable Allowance allowanceFor(Bounds replacement, long now) {
        RateLimit limit = replacement.rate();
        if (replacement.concurrency() == 0) {
            return allowance; // it goes on to fill
        }
        if (limit == null) {
            return null;
        }
        if (allowance == null) {
            return Allowance.of(limit, now);
        }
        return allowance.limit().equals(limit) ? allowance : allowance.change(limit, now);
    }

    private void noteIfEmptied() {
        if (waiting == 0 && nextReady != null) {
            cap.noteEmptied();
        }
    }

    private void offer(long now) {
        if (nextReady == null && waiting > 0 && countAtCap() && firstFits(now)) {
            cap.offer(this);
        }
    }

    /**
     * Returns whether a cap is in force. Adds the slots held here to the cap, once, if it has come into force since.
     */
    private boolean countAtCap() {
        if (!cap.active) {
            return false;
        }
        if (pace == UNCOUNTED) {
            pace = UNKNOWN_PACE;
            cap.adopt(running);
        }
        return true;
    }

    private void correct(Permit permit, long ranNanos, long grantedNanos, long now) {
        boolean isMeasured =
                permit.charge != 0 && grantedNanos != GrantedPermits.NO_TIME && now != GrantedPermits.NO_TIME;
        long heldNanos = isMeasured ? cap.clock.at(now) - grantedNanos : ranNanos;
        if (ranNanos != NEVER_RAN) { // else it says nothing about the next
            pace = FairLine.pace(Math.max(heldNanos, FairLine.SHORTEST_RUN));
        }
        if (permit.charge != 0) {
            long accounted = Math.clamp(heldNanos, FairLine.SHORTEST_RUN, FairLine.LONGEST_RUN);
            int slots = permit.taken();
            long excess = FairLine.charge(accounted, slots) - FairLine.charge(1L << permit.charge, slots);
            finish += excess / weight();
            permit.charge = 0;
        }
    }

    private void enqueue(Permit permit) {
        queue = PriorityQueues.append(queue, permit);
        permit.place = Permit.WAITING;
        waiting++;
    }

    private void dequeue(Permit permit) {
        unlink(permit);
        if (isBound()) {
            cap.stopWaiting();
        }
    }

    private void unlink(Permit permit) {
        queue = PriorityQueues.unlink(queue, permit);
        permit.place = Permit.NOWHERE;
        waiting--;
    }

    @Nullable
    Permit first() {
        if (queue instanceof Permit last) {
            return last.next;
        }
        return queue instanceof PriorityQueues priorities ? priorities.first() : null;
    }
}
