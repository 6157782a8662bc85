package dev.raddle.kernel;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Where the permits of one key are held, wait or are refused, within the key's {@link Bounds}.
 *
 * <p>A gate is the base of what keeps a key's state. Its protected methods are the steps of one decision and expect the
 * caller to hold the gate's lock; after it is free, the caller lets the cap {@linkplain FairCap#serve serve} and acts on
 * the {@link GrantedPermits} it has collected.
 *
 * {@snippet :
 * GrantedPermits grants = new GrantedPermits();
 * lock();
 * try {
 *     leave(permit, ranNanos, grants);
 * } finally {
 *     unlock();
 * }
 * cap().serve(grants);
 * for (Permit next; (next = grants.poll()) != null; ) {
 *     start(next);
 * }
 * }
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
     *   (3)  without a cap, the first in the queue does not fit; with one, a gate whose first fits is `ready`: it is known
     *        to the cap, which has been told or is about to be
     *
     * (3) says that nobody waits beside a free slot. A slot is not put back for all to compete for: whoever frees it grants
     * it to the first that fits, so there is no window in which a newcomer overtakes and no lost wakeup to repair. Only
     * the first is ever considered; a wide permit at the head is not overtaken for ever by narrow ones behind it.
     *
     * A permit leaves the queue in exactly one way, decided under the lock by the thread that unlinks it: granted, withdrawn
     * or drained. So a slot is never handed to someone who has gone. It is O(1): both lists are circular, linked through the
     * permits themselves, and known by their last member. The queue is one such list as long as everybody in it has
     * priority 0, and a map of them, by priority, from the first other until it is empty again.
     *
     * A permit belongs to one gate at a time, and `place`, `previous` and `next` are guarded by the lock of that gate alone.
     * A thread that came with a permit may have read its gate before the permit went on to another, so holding the lock of
     * some gate proves nothing: `owns` is asked first, under the lock, and `place` is not even read if it says no. A subclass
     * that lets a permit go from one gate to the next changes what `owns` reads under the lock of the gate that is left, and
     * only while the permit is in neither list. So while a lock is held, what its gate owns stays its own; and a thread that
     * is told no sees, after the lock is free, where the permit went.
     *
     * Slots of the gate and of the cap are taken in the same step or not at all, so a waiting permit holds nothing but its
     * place. The cap's part is one compare-and-set when nobody waits for the cap; else the permit waits and the cap's
     * combiner grants it, under this lock again. The order of locks is: the cap's combiner, then a gate's lock; never two
     * of these, and the combiner's role is never sought while one is held.
     *
     * Bounds that are not known yet have no slots: permits pile up, beyond any threshold, until `bindEarly` lets them enter
     * again, in order, under the bounds that were found meanwhile. Until then they have no place in the common queue.
     *
     * Foreign code never runs under the lock. What may fail in a section comes first, and fields are written after it: the
     * memory for grants is taken before a permit is granted, and a subclass ensures that there is stack before it takes the
     * lock. So an exhausted stack or heap finds a decision made as a whole or not at all.
     */

    /** What became of a permit that wanted to enter. */
    public enum Entry {
        /** The permit holds its slots. The caller acts on it. */
        HELD,
        /** The permit stands in the queue. */
        WAITING,
        /** Refused: as many permits wait at this gate as may. */
        QUEUE_FULL,
        /** Refused for the same reason, and what they wait for is the bulkhead, not the concurrency. */
        BULKHEAD_FULL,
        /** Refused: as many permits wait at all gates together as may. */
        COMMON_QUEUE_FULL
    }

    private static final byte UNCOUNTED = -1; // the cap does not count what runs here, because there is none so far
    static final byte UNKNOWN_PACE = 0;

    private volatile Bounds bounds; // written under this
    private @Nullable Object queue; // the last permit of the ring, or PriorityQueues, or null if nobody waits; guarded by this
    private @Nullable Permit held; // the last of the held; guarded by this
    private int waiting; // guarded by this
    private int running; // guarded by this
    private boolean paused; // guarded by this

    byte pace = UNCOUNTED; // binary logarithm of the last run time in nanoseconds, or one of these; guarded by this
    long finish; // virtual time at which all that was granted here is paid for; guarded by this

    /** Null unless the cap knows that the first in the queue may fit; then the next on the way to the line, or this. */
    @Nullable
    Gate nextReady; // turns from and to null under this; the cap's meanwhile

    /**
     * Creates an empty gate.
     *
     * @param bounds its limits; bounds with no slots let nothing run until they are replaced
     */
    protected Gate(Bounds bounds) {
        this.bounds = bounds;
    }

    /**
     * Returns if the stack has room for a section, and for starting what the section grants. Call it before a section whose
     * effects must not be half done. It takes about a nanosecond.
     *
     * @throws StackOverflowError if there is not; nothing has been done then
     */
    protected static void ensureStackRoom() {
        StackRoom.ensure();
    }

    /**
     * Returns the cap that this gate shares with others.
     *
     * @return the same object at every call
     */
    protected abstract FairCap cap();

    /**
     * Returns whether a permit belongs to this gate, so that this gate's lock guards its place. Called under the lock.
     * Override it where a permit may go on from one gate to another: the answer changes from true to false under this lock
     * only, while the permit is neither held nor waits.
     *
     * @param permit any permit
     * @return true if it was given to this gate and not to another since; unless overridden, always true
     */
    protected boolean owns(Permit permit) {
        return true;
    }

    /**
     * Lets a permit enter: it is held at once if it would be the first in the queue and its slots are free, else it waits
     * if there is room.
     *
     * @param permit a permit of this gate that is nowhere
     * @return what became of it
     */
    protected final Entry enter(Permit permit) {
        assert isLocked() && owns(permit) && permit.place == Permit.NOWHERE;
        if (isNext(permit) && take(permit, fitting(permit))) {
            return Entry.HELD;
        }
        if (isBound()) {
            if (waiting >= bounds.maxWaiting()) {
                boolean bulkhead = bounds.maxInFlight() < bounds.concurrency() && running >= bounds.maxInFlight();
                return bulkhead ? Entry.BULKHEAD_FULL : Entry.QUEUE_FULL;
            }
            if (!cap().tryWait()) {
                return Entry.COMMON_QUEUE_FULL;
            }
        }
        try {
            enqueue(permit);
        } catch (Throwable failure) { // it waits nowhere: the heap is exhausted, for example
            if (isBound()) {
                cap().stopWaiting();
            }
            throw failure;
        }
        offer();
        return Entry.WAITING;
    }

    /**
     * Gives a held permit back and grants what that makes possible. A permit that is not held here is left alone, so that
     * giving back twice frees one slot.
     *
     * @param permit any permit
     * @param ranNanos how long it was in use, in nanoseconds
     * @param grants receives what is granted
     */
    protected final void leave(Permit permit, long ranNanos, GrantedPermits grants) {
        assert isLocked();
        if (!isHeld(permit)) {
            return;
        }
        boolean capped = isCapped();
        int slots = permit.taken();
        held = Ring.unlink(held, permit);
        permit.place = Permit.NOWHERE;
        running -= slots;
        if (capped) {
            cap().release(slots);
            correct(permit, ranNanos);
        }
        advance(grants);
    }

    /**
     * Takes a waiting permit out of the queue. A permit that does not wait here is left alone.
     *
     * @param permit any permit
     * @param grants receives what becomes possible by its leaving
     * @return true if it was waiting here: it will never be granted, and its place is free
     */
    protected final boolean withdraw(Permit permit, GrantedPermits grants) {
        assert isLocked();
        if (!isWaiting(permit)) {
            return false;
        }
        dequeue(permit);
        advance(grants);
        return true;
    }

    /**
     * Takes every waiting permit out of the queue.
     *
     * @return the permits, in the order in which they would have been granted
     */
    protected final List<Permit> drain() {
        assert isLocked();
        List<Permit> drained = new ArrayList<>(waiting);
        for (Permit first; (first = first()) != null; ) {
            dequeue(first);
            drained.add(first);
        }
        return drained;
    }

    /**
     * Replaces the limits. More slots take effect at once, fewer by attrition.
     *
     * @param replacement the limits from now on
     * @param grants receives what becomes possible
     */
    protected final void bind(Bounds replacement, GrantedPermits grants) {
        assert isLocked();
        bounds = replacement;
        advance(grants);
    }

    /**
     * Gives limits to a gate that had none, and lets those who came before enter under them, in order.
     *
     * @param found the limits from now on, with at least one slot
     * @param grants receives what is granted
     * @param refused is told of each permit for which there is no room, and why
     */
    protected final void bindEarly(Bounds found, GrantedPermits grants, Map<Permit, Entry> refused) {
        assert isLocked() && !isBound();
        grants.makeRoom(waiting);
        List<Permit> early = drain();
        bounds = found;
        for (Permit permit : early) {
            Entry entry = enter(permit);
            if (entry == Entry.HELD) {
                grants.add(permit);
            } else if (entry != Entry.WAITING) {
                refused.put(permit, entry);
            }
        }
    }

    /**
     * Forgets the limits, after {@link #drain()}: from now on whoever enters waits until there are some again. What runs
     * goes on and counts.
     *
     * @param unknown bounds without slots
     */
    protected final void unbind(Bounds unknown) {
        assert isLocked() && waiting == 0;
        bounds = unknown;
    }

    /**
     * Stops or resumes granting. What runs goes on.
     *
     * @param pause true to stop, false to resume
     * @param grants receives what becomes possible
     */
    protected final void pause(boolean pause, GrantedPermits grants) {
        assert isLocked();
        paused = pause;
        advance(grants);
    }

    /** Makes the cap count what runs here, if there is one by now, and grants or offers what the change made possible. */
    protected final void recount() {
        assert isLocked();
        if (isCapped()) {
            offer();
        }
    }

    /**
     * Returns the limits in force. The lock need not be held.
     *
     * @return the bounds given last
     */
    protected final Bounds bounds() {
        return bounds;
    }

    /**
     * Tells whether the limits are known.
     *
     * @return true if the bounds in force have slots
     */
    protected final boolean isBound() {
        return bounds.concurrency() > 0;
    }

    /**
     * Tells whether granting is stopped.
     *
     * @return true between {@code pause(true)} and {@code pause(false)}
     */
    protected final boolean isPaused() {
        assert isLocked();
        return paused;
    }

    /**
     * Tells whether nothing is held and nobody waits.
     *
     * @return true if this gate could be forgotten
     */
    protected final boolean isEmpty() {
        assert isLocked();
        return held == null && waiting == 0;
    }

    /**
     * Returns how many slots are taken.
     *
     * @return the slots of all held permits
     */
    protected final int running() {
        assert isLocked();
        return running;
    }

    /**
     * Returns how many permits wait.
     *
     * @return the length of the queue
     */
    protected final int waiting() {
        assert isLocked();
        return waiting;
    }

    /**
     * Tells whether a permit waits here.
     *
     * @param permit any permit
     * @return true if it stands in the queue of this gate
     */
    protected final boolean isWaiting(Permit permit) {
        assert isLocked();
        return owns(permit) && permit.place == Permit.WAITING;
    }

    /**
     * Tells whether a permit is held here.
     *
     * @param permit any permit
     * @return true if this gate granted it and it was not given back
     */
    protected final boolean isHeld(Permit permit) {
        assert isLocked();
        return owns(permit) && permit.place == Permit.HELD;
    }

    /**
     * Shows each held permit, oldest grant first.
     *
     * @param action what to do with it; it must not change this gate
     */
    protected final void forEachHeld(Consumer<Permit> action) {
        assert isLocked();
        Ring.forEach(held, action);
    }

    /**
     * Shows each waiting permit, in the order in which they would be granted.
     *
     * @param action what to do with it; it must not change this gate
     */
    protected final void forEachWaiting(Consumer<Permit> action) {
        assert isLocked();
        if (queue instanceof PriorityQueues ranks) {
            ranks.forEach(action);
        } else {
            Ring.forEach((Permit) queue, action);
        }
    }

    /**
     * Tells whether a held permit has some property.
     *
     * @param property what to ask of each; it must not change this gate
     * @return true if at least one has it
     */
    protected final boolean anyHeld(Predicate<Permit> property) {
        assert isLocked();
        return Ring.any(held, property);
    }

    /**
     * Counts those who will be granted before a permit that waits here. Takes time in proportion to the answer.
     *
     * @param permit a waiting permit
     * @return 0 for the first in the queue
     */
    protected final int ahead(Permit permit) {
        assert isWaiting(permit);
        return queue instanceof PriorityQueues ranks ? ranks.before(permit) : Ring.before(onlyRing(), permit);
    }

    /**
     * Tells whether only the cap keeps the first in the queue from running.
     *
     * @return true if this gate stands in the cap's line
     */
    protected final boolean waitsForCap() {
        assert isLocked();
        return nextReady != null && firstFits();
    }

    /**
     * Returns the finish tag of this gate at the cap, in virtual time: of two gates, the one with the smaller goes first.
     *
     * @return a value to be compared in the form {@code a - b < 0}, because it may wrap around
     */
    protected final long tag() {
        assert isLocked();
        return finish;
    }

    // What the cap's combiner does, under this lock.

    /** Returns how many slots a permit would take now, or 0 if it does not fit. Asked once, for the cap's max may change. */
    int fitting(Permit permit) {
        int most = bounds.slots();
        int slots = permit.cost() == 1 ? 1 : Math.min(permit.cost(), Math.min(most, cap().max()));
        return paused || running > most - slots ? 0 : slots;
    }

    boolean firstFits() {
        Permit first = first();
        return first != null && fitting(first) > 0;
    }

    int weight() {
        return Math.max(1, bounds.weight()); // bounds that are not known have none
    }

    void grant(Permit permit, int slots, GrantedPermits grants) {
        grants.makeRoom(1);
        dequeue(permit);
        hold(permit, slots);
        grants.add(permit);
    }

    private boolean isNext(Permit permit) {
        if (waiting == 0) {
            return true;
        }
        Permit first = first();
        return first == null || permit.priority() > first.priority();
    }

    private boolean take(Permit permit, int slots) {
        if (slots == 0 || (isCapped() && !cap().tryTake(slots))) {
            return false;
        }
        hold(permit, slots);
        return true;
    }

    private void hold(Permit permit, int slots) {
        if (permit.cost() != 1) {
            permit.taken(slots);
        }
        int taken = permit.taken();
        held = Ring.append(held, permit);
        permit.place = Permit.HELD; // from here on only fields: the permit is held as a whole or not at all
        running += taken;
    }

    private void advance(GrantedPermits grants) {
        if (isCapped()) {
            offer();
            return;
        }
        int slots;
        for (Permit first; (first = first()) != null && (slots = fitting(first)) > 0; ) {
            grant(first, slots, grants);
        }
    }

    private void offer() {
        if (nextReady == null && waiting > 0 && isCapped() && firstFits()) {
            cap().offer(this);
        }
    }

    private boolean isCapped() {
        if (!cap().isActive()) {
            return false;
        }
        if (pace == UNCOUNTED) {
            pace = UNKNOWN_PACE;
            cap().adopt(running);
        }
        return true;
    }

    private void correct(Permit permit, long ranNanos) {
        pace = FairLine.pace(ranNanos);
        if (permit.charge != 0) {
            long accounted = Math.min(ranNanos, FairLine.LONGEST_RUN);
            finish += (accounted - FairLine.nanos(permit.charge)) * permit.taken() / weight();
            permit.charge = 0;
        }
    }

    private void enqueue(Permit permit) {
        if (queue instanceof PriorityQueues ranks) {
            ranks.add(permit);
        } else if (permit.priority() == 0) {
            queue = Ring.append((Permit) queue, permit);
        } else {
            PriorityQueues ranks = new PriorityQueues((Permit) queue);
            ranks.add(permit);
            queue = ranks;
        }
        permit.place = Permit.WAITING; // last, for a queue of ranks may find no memory
        waiting++;
    }

    private void dequeue(Permit permit) {
        permit.place = Permit.NOWHERE;
        waiting--;
        if (isBound()) {
            cap().stopWaiting();
        }
        if (!(queue instanceof PriorityQueues ranks)) {
            queue = Ring.unlink((Permit) queue, permit);
            return;
        }
        ranks.remove(permit);
        if (ranks.isEmpty()) {
            queue = null;
        }
    }

    @Nullable
    Permit first() {
        if (queue == null) {
            return null;
        }
        return queue instanceof PriorityQueues ranks ? ranks.first() : Ring.first(onlyRing());
    }

    private Permit onlyRing() {
        if (queue instanceof Permit last) {
            return last;
        }
        throw new AssertionError(waiting + " permits wait in no ring");
    }
}
