package dev.raddle.scope;

import dev.raddle.lock.Fields;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The number and the list of the subtasks of one scope that have not ended. Adding and ending a subtask cost O(1). */
final class PendingSubtasks {

    /*
     * Overview.
     *
     *   forked - ended   the exact number of subtasks that have not ended
     *   newest           the head of a list, newest first, of all these subtasks and of some that have ended
     *
     * The owner counts its forks in `forked`, which no other thread writes; other forkers decrement `ended` instead. A
     * reader reads `ended` first, so the result is never too low. A forker first counts a subtask and then lists it;
     * the thread that ends a subtask only counts. So an end touches no list. Ended subtasks are unlinked by a forker,
     * which sweeps the list when twice as many subtasks have been listed since the last sweep as that sweep left. So
     * the amortized cost of a fork is constant, and the list is at most three times as long as necessary, or 64 longer.
     * A sweep never unlinks the head, so a sweeper and a forker write different links; only one thread sweeps at a
     * time.
     *
     * The link of an unlinked subtask is null: if the user keeps the subtask reachable, it must not keep older ones and
     * their results reachable. So a traversal that overlaps a sweep may stop too early, and is repeated. `sweeps`
     * detects that: it is incremented before the first link of a sweep is changed and after the last. Links are written
     * with release and read with acquire, so a traversal that sees a changed link sees the increment afterwards.
     *
     * When the owner sees a count of zero, all subtasks listed before have ended. It removes the whole list and clears
     * its links. No thread sweeps then, because a sweeper's own subtask is counted. A traversal that stops there misses
     * no unfinished subtask.
     */
    private static final VarHandle ENDED = Fields.handle(MethodHandles.lookup(), "ended", int.class);
    private static final VarHandle FORKED = Fields.handle(MethodHandles.lookup(), "forked", int.class);
    private static final VarHandle NEWEST = Fields.handle(MethodHandles.lookup(), "newest", ForkedSubtask.class);
    private static final VarHandle SWEEPING = Fields.handle(MethodHandles.lookup(), "sweeping", boolean.class);
    private static final int MIN_SWEEP = 64;
    private static final long NANOS_PER_MILLI = 1_000_000;

    private volatile int forked; // the owner's forks; written only by the owner

    @SuppressWarnings("UnusedVariable") // by ENDED
    private volatile int ended; // minus the forks by other threads than the owner

    private volatile @Nullable ForkedSubtask<?> newest;

    @SuppressWarnings("UnusedVariable") // by SWEEPING
    private volatile boolean sweeping;

    private volatile int sweeps; // incremented when a sweep begins and when it ends: odd while one is under way
    private int listed; // approximate number since the last sweep: concurrent forkers may lose increments
    private int sweepAt = MIN_SWEEP;

    /**
     * Returns the time for {@link ForkedSubtask#forkedMillis}. If the thread of the last subtask has not begun yet,
     * little time has passed since its fork, and the time of that fork is used again, for at most 31 subtasks in a row.
     * Reading a clock is expensive, because it waits for pending memory accesses.
     */
    int forkMillis(TimeSource time) {
        ForkedSubtask<?> last = newest;
        return last != null && (listed & 31) != 0 && last.isWaiting()
                ? last.forkedMillis
                : (int) (time.nanoTime() / NANOS_PER_MILLI);
    }

    /** Returns the time since the fork of a subtask, which was less than 49 days ago. */
    static long ageMillis(ForkedSubtask<?> subtask, TimeSource time) {
        return Integer.toUnsignedLong((int) (time.nanoTime() / NANOS_PER_MILLI) - subtask.forkedMillis);
    }

    /** Counts and lists a subtask that is about to be started. */
    void add(ForkedSubtask<?> subtask, boolean byOwner) {
        if (byOwner) {
            FORKED.setRelease(this, forked + 1);
        } else {
            ENDED.getAndAdd(this, -1);
        }
        ForkedSubtask<?> head;
        do {
            head = newest;
            subtask.next = head;
        } while (!NEWEST.compareAndSet(this, head, subtask));
        if (++listed >= sweepAt) {
            sweep(subtask);
        }
    }

    /** Counts a subtask that has ended. */
    void countEnd() {
        ENDED.getAndAdd(this, 1);
    }

    /** Returns the number of subtasks that have not ended. */
    int count() {
        int ends = ended;
        return forked - ends;
    }

    /** Clears the list if all subtasks have ended. Called by the owner. */
    void clearIfEmpty() {
        ForkedSubtask<?> head = newest;
        if (head != null && count() == 0 && NEWEST.compareAndSet(this, head, null)) {
            for (ForkedSubtask<?> each = head; each != null; ) {
                ForkedSubtask<?> older = each.next;
                ForkedSubtask.NEXT.setRelease(each, null);
                each = older;
            }
        }
    }

    private static @Nullable ForkedSubtask<?> older(ForkedSubtask<?> subtask) {
        return (ForkedSubtask<?>) ForkedSubtask.NEXT.getAcquire(subtask);
    }

    /** Performs an action for each subtask that has not ended and was listed before this call. */
    void forEach(Consumer<? super ForkedSubtask<?>> action) {
        if (newest != null) {
            unfinished().forEach(action);
        }
    }

    /** Returns the subtasks that have not ended and were listed before this call, newest first. */
    List<ForkedSubtask<?>> unfinished() {
        List<ForkedSubtask<?>> found = new ArrayList<>();
        int before;
        do {
            before = awaitNoSweep();
            found.clear();
            for (ForkedSubtask<?> each = newest; each != null; each = older(each)) {
                if (!each.hasEnded()) {
                    found.add(each);
                }
            }
        } while (sweeps != before);
        return found;
    }

    /**
     * Abandons subtasks with terminated threads, newest first, up to the first other unfinished one, and returns that.
     */
    @Nullable
    ForkedSubtask<?> abandonDead() {
        int before;
        do {
            before = awaitNoSweep();
            for (ForkedSubtask<?> each = newest; each != null; each = older(each)) {
                if (each.isDead()) {
                    each.abandon();
                } else if (!each.hasEnded()) {
                    return each;
                }
            }
        } while (sweeps != before);
        return null;
    }

    /** Waits until no sweep is under way and returns `sweeps`. A sweep calls no user code and does not block. */
    @SuppressWarnings("ThreadPriorityCheck") // the sweeper may need this thread's processor
    private int awaitNoSweep() {
        int now = sweeps;
        while ((now & 1) != 0) {
            Thread.yield();
            now = sweeps;
        }
        return now;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // guarded by SWEEPING
    private void sweep(ForkedSubtask<?> from) {
        if (!SWEEPING.compareAndSet(this, false, true)) {
            return;
        }
        sweeps++;
        int left = 0;
        ForkedSubtask<?> kept = from;
        for (ForkedSubtask<?> each = from.next; each != null; ) {
            ForkedSubtask<?> older = each.next;
            if (each.hasEnded()) {
                ForkedSubtask.NEXT.setRelease(each, null);
            } else {
                ForkedSubtask.NEXT.setRelease(kept, each);
                kept = each;
                left++;
            }
            each = older;
        }
        ForkedSubtask.NEXT.setRelease(kept, null);
        sweeps++;
        listed = 0;
        sweepAt = Math.max(MIN_SWEEP, 2 * left);
        sweeping = false;
    }
}
