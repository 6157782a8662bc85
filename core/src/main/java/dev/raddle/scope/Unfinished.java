package dev.raddle.scope;

import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
     * Whoever walks the list while it is swept may stand on a subtask that is unlinked under its feet. It goes on from
     * there to older ones, as if nothing had happened: links are only ever moved over subtasks that have ended. That is
     * why links need not be volatile either; an old one leads to more of those, and never past one that has not ended.
     *
     * When the owner sees a count of zero, all that was listed before has ended, and it drops the list as a whole.
     *
     * The links are in nodes of their own, to which no subtask refers: a subtask that somebody keeps does not keep the older
     * ones with their results.
     */
    /** A node of the list. */
    static final class Listed {
        final ForkedSubtask<?> subtask;

        @Nullable
        Listed next; // the next older one; written by its forker before it is listed, then by one sweeper at a time

        Listed(ForkedSubtask<?> subtask) {
            this.subtask = subtask;
        }
    }

    private static final VarHandle FORKED;
    private static final VarHandle ENDED;
    private static final VarHandle NEWEST;
    private static final VarHandle SWEEPING;
    private static final int AT_LEAST = 64;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            ENDED = lookup.findVarHandle(Unfinished.class, "ended", int.class);
            FORKED = lookup.findVarHandle(ForkersSide.class, "forked", int.class);
            NEWEST = lookup.findVarHandle(ForkersSide.class, "newest", Listed.class);
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
        Listed last = newest;
        return last != null && (listed & 31) != 0 && last.subtask.isWaiting()
                ? last.subtask.forkedAt
                : time.nanoTime();
    }

    /** Counts and lists a subtask that is about to be started. */
    void add(ForkedSubtask<?> subtask, boolean byOwner) {
        if (byOwner) {
            FORKED.setRelease(this, forked + 1);
        } else {
            ENDED.getAndAdd(this, -1);
        }
        Listed node = new Listed(subtask);
        Listed head;
        do {
            head = newest;
            node.next = head;
        } while (!NEWEST.compareAndSet(this, head, node));
        if (++listed >= sweepAt) {
            sweep(node);
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

    /** Lets go of those that have ended, if all have. */
    void forgetIfNone() {
        Listed head = newest;
        if (head != null && count() == 0) {
            NEWEST.compareAndSet(this, head, null);
        }
    }

    /** Does something with each that has not ended and was listed before this call. */
    void forEach(Consumer<? super ForkedSubtask<?>> action) {
        for (Listed each = newest; each != null; each = each.next) {
            if (!each.subtask.hasEnded()) {
                action.accept(each.subtask);
            }
        }
    }

    /** Abandons those whose threads have died, up to the first that lives, and returns that. */
    @Nullable
    ForkedSubtask<?> abandonDead() {
        for (Listed each = newest; each != null; each = each.next) {
            if (each.subtask.isDead()) {
                each.subtask.abandon();
            } else if (!each.subtask.hasEnded()) {
                return each.subtask;
            }
        }
        return null;
    }

    private void sweep(Listed from) {
        if (!SWEEPING.compareAndSet(this, false, true)) {
            return;
        }
        int left = 0;
        Listed kept = from;
        for (Listed each = from.next; each != null; each = each.next) {
            if (!each.subtask.hasEnded()) {
                kept.next = each;
                kept = each;
                left++;
            }
        }
        kept.next = null;
        listed = 0;
        sweepAt = Math.max(AT_LEAST, 2 * left);
        sweeping = false;
    }
}
