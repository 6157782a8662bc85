package dev.raddle.scope;

import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The subtasks of one scope that have not ended: how many, and which. Forking and ending cost O(1). */
final class Unfinished extends ForkersSide.Gap {

    /*
     * Overview.
     *
     *   forked - ended   subtasks that have not ended: the truth
     *   newest           the head of a list, newest first, which holds all of those, and some that have ended
     *
     * The owner counts its forks in `forked`, which nobody else writes; others count theirs in `ended`, downwards. A reader
     * looks at `ended` first, so it never finds too few. A forker counts first and lists then; who ends a subtask only counts.
     * So an end touches no list, and the lines that forkers and runners write are different ones. Subtasks that
     * have ended are unlinked by a forker, who sweeps the list when as many have been listed since the last sweep as there
     * were left over then, twice: each pays for a few. The list is then at most three times as long as it must be, or 64
     * longer. The head is never unlinked by a sweep, so a sweeper and a forker write different links; only one sweeps.
     *
     * A subtask that is unlinked leads nowhere any more: one that its user keeps must not keep the older ones with their
     * results. So a walk that a sweep overlaps may stop too early, and is repeated. `sweeps` tells: it grows before the first
     * link of a sweep is changed and after the last; links are changed by release and followed by acquire, so a walk that
     * sees a changed link sees the growth afterwards.
     *
     * When the owner sees a count of zero, all that was listed before has ended. It takes the list out as a whole and undoes
     * its links; nobody sweeps then, because a sweeper's own subtask is counted. A walk that stops there misses nothing.
     */
    private static final VarHandle FORKED;
    private static final VarHandle ENDED;
    private static final VarHandle NEWEST;
    private static final VarHandle SWEEPING;
    private static final VarHandle NEXT;
    private static final int AT_LEAST = 64;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ENDED = lookup.findVarHandle(Unfinished.class, "ended", int.class);
            FORKED = lookup.findVarHandle(ForkersSide.class, "forked", int.class);
            NEWEST = lookup.findVarHandle(ForkersSide.class, "newest", ForkedSubtask.class);
            NEXT = lookup.findVarHandle(ForkedSubtask.class, "next", ForkedSubtask.class);
            SWEEPING = lookup.findVarHandle(ForkersSide.class, "sweeping", boolean.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    @SuppressWarnings("UnusedVariable") // by ENDED
    private volatile int ended; // less the forks of others than the owner

    Unfinished() {
        sweepAt = AT_LEAST;
    }

    /**
     * Returns about what time it is. If the thread of the last subtask has not begun yet, little time has passed since that
     * was forked, and its moment does; for some in a row. A clock costs more than it seems, because reading it waits for memory.
     */
    long moment(TimeSource time) {
        ForkedSubtask<?> last = newest;
        return last != null && (listed & 31) != 0 && last.isWaiting() ? last.forkedAt : time.nanoTime();
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

    /** Counts one that has ended. */
    void end() {
        ENDED.getAndAdd(this, 1);
    }

    /** Returns how many have not ended. */
    int count() {
        int ends = ended;
        return forked - ends;
    }

    /** Lets go of those that have ended, if all have. Called by the owner. */
    void forgetIfNone() {
        ForkedSubtask<?> head = newest;
        if (head != null && count() == 0 && NEWEST.compareAndSet(this, head, null)) {
            for (ForkedSubtask<?> each = head; each != null; ) {
                ForkedSubtask<?> older = each.next;
                link(each, null);
                each = older;
            }
        }
    }

    private static void link(ForkedSubtask<?> subtask, @Nullable ForkedSubtask<?> older) {
        NEXT.setRelease(subtask, older);
    }

    private static @Nullable ForkedSubtask<?> older(ForkedSubtask<?> subtask) {
        return (ForkedSubtask<?>) NEXT.getAcquire(subtask);
    }

    /** Does something with each that has not ended and was listed before this call. */
    void forEach(Consumer<? super ForkedSubtask<?>> action) {
        if (newest != null) {
            unended().forEach(action);
        }
    }

    private List<ForkedSubtask<?>> unended() {
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

    /** Abandons those whose threads have died, up to the first that lives, and returns that. */
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

    /** Returns the number of sweeps when none is under way: a sweep calls no user code and waits for nothing. */
    @SuppressWarnings("ThreadPriorityCheck") // the sweeper may need this one's processor
    private int awaitNoSweep() {
        int now = sweeps;
        while ((now & 1) != 0) {
            Thread.yield();
            now = sweeps;
        }
        return now;
    }

    @SuppressWarnings("NonAtomicVolatileUpdate") // only one sweeps
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
                link(each, null);
            } else {
                link(kept, each);
                kept = each;
                left++;
            }
            each = older;
        }
        link(kept, null);
        sweeps++;
        listed = 0;
        sweepAt = Math.max(AT_LEAST, 2 * left);
        sweeping = false;
    }
}
