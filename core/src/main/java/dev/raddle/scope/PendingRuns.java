package dev.raddle.scope;

import dev.raddle.lock.Fields;
import dev.raddle.lock.SpinLock;
import dev.raddle.task.CancelledException;
import dev.raddle.time.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one scope that have not ended: their number, their list, and the closing, after which no task begins.
 * Submitting and ending a task cost O(1) and take no lock.
 */
final class PendingRuns extends SpinLock {

    /*
     * Overview.
     *
     *   counted + others - ended   the exact number of runs that have not ended, and of submissions by timers under way
     *   newest                     the head of a list, newest first, of all these runs and of some that have ended
     *   unlinked                   the metrics of the ended runs that are not in the list any more
     *
     * A run is counted, then listed, then admitted, each by its submitter; it may end at any time after it is counted.
     * It ends in two parts, in any order: it is settled, and it has left, so that no thread runs its callable or will
     * (ScopeRun). The thread that marks the second part counts the end. So an end touches no list and no other run.
     *
     * The owner counts its submissions in `counted`, which no other thread writes; other threads use `others`. A reader
     * reads `ended` first, so the result is never too low.
     *
     * Submitters push runs onto the list with compare-and-set. Only a thread that holds the lock changes other links
     * than the head, or follows links: to sweep the list, to read it, or to clear it. A submitter sweeps the list when
     * twice as many runs have been listed since the last sweep as that sweep left, or 64. So the amortized cost of a
     * submission is constant. A sweep never unlinks the run from which it starts, which its thread has just listed. The
     * link of an unlinked run is null, so that a handle which is kept does not retain other runs. When the number is
     * zero, every listed run has ended, and the whole list may be removed.
     *
     * The metrics are not counted where a task begins or ends. They are the sum of `unlinked` and of what the listed
     * runs say, each read once; a run is added to `unlinked` in the section that unlinks it.
     *
     * A submitter lists its run and then reads `end`. The thread that closes writes `end` and then reads the list, or
     * the number. So at least one of them sees the other's write, and each run is cancelled by one of them; if both
     * do, the run decides. The owner writes `empty` and then reads the number; a thread that counts an end reads
     * `empty` after that. So one of them finds that nothing is left.
     */

    /** Why this is closed. The cause is null if the owner has closed it. */
    private record End(
            @Nullable CancelledException cause, @Nullable DeadlineExpiry expiry) {}

    private static final End IN_ORDER = new End(null, null);
    private static final int SHORTEST_SWEEP = 64;

    private static final VarHandle COUNTED = Fields.handle(MethodHandles.lookup(), "counted", long.class);
    private static final VarHandle OTHERS = Fields.handle(MethodHandles.lookup(), "others", long.class);
    private static final VarHandle ENDED = Fields.handle(MethodHandles.lookup(), "ended", long.class);
    private static final VarHandle NEWEST = Fields.handle(MethodHandles.lookup(), "newest", ScopeRun.class);
    private static final VarHandle END = Fields.handle(MethodHandles.lookup(), "end", End.class);

    private final String scope; // its name
    private final Thread owner;
    private volatile long counted; // written only by the owner

    @SuppressWarnings("UnusedVariable") // by OTHERS
    private volatile long others;

    @SuppressWarnings("UnusedVariable") // by ENDED
    private volatile long ended;

    private volatile @Nullable ScopeRun<?> newest;
    private volatile @Nullable End end; // null until this is closed
    private volatile @Nullable Signal empty; // null until a thread waits
    private @Nullable ScopeMeter unlinked; // null if there is none; guarded by this
    private int listed; // approximate number since the last sweep: concurrent submitters may lose increments
    private int sweepAt = SHORTEST_SWEEP;

    PendingRuns(String scope, Thread owner) {
        this.scope = scope;
        this.owner = owner;
    }

    // Counting.

    /** Counts a run that will be listed. */
    void count() {
        if (Thread.currentThread() == owner) {
            COUNTED.setRelease(this, counted + 1);
        } else {
            OTHERS.getAndAdd(this, 1L);
        }
    }

    /** Counts the end of a run. */
    void countEnd() {
        ENDED.getAndAdd(this, 1L);
        Signal awaited = empty;
        if (awaited != null && isEmpty()) {
            awaited.set();
        }
    }

    /**
     * Begins a submission by a timer. This is not empty until {@link #endTimerSubmission} is called.
     *
     * @return false if this is closed; the submission is then neither begun nor necessary
     */
    boolean beginTimerSubmission() {
        ENDED.getAndAdd(this, -1L);
        if (end == null) {
            return true;
        }
        countEnd();
        return false;
    }

    void endTimerSubmission() {
        countEnd();
    }

    /** Returns whether every run has ended. */
    boolean isEmpty() {
        long ends = ended;
        return counted + others == ends;
    }

    /** Returns a signal that is set when every run has ended. */
    Signal untilEmpty() {
        Signal signal = new Signal();
        empty = signal;
        if (isEmpty()) {
            signal.set();
        }
        return signal;
    }

    // The list.

    /** Lists a run that is counted. Returns false if this is closed, so that the caller must cancel the run. */
    boolean list(ScopeRun<?> run) {
        ScopeRun<?> head;
        do {
            head = newest;
            run.older = head;
        } while (!NEWEST.compareAndSet(this, head, run));
        if (++listed >= sweepAt) {
            sweep(run);
        }
        return end == null;
    }

    private void sweep(ScopeRun<?> from) {
        lock();
        try {
            int left = 0;
            ScopeRun<?> kept = from;
            for (ScopeRun<?> each = from.older; each != null; ) {
                ScopeRun<?> older = each.older;
                if (each.hasEnded()) {
                    unlink(each);
                } else {
                    kept.older = each;
                    kept = each;
                    left++;
                }
                each = older;
            }
            kept.older = null;
            listed = 0;
            sweepAt = Math.max(SHORTEST_SWEEP, 2 * left);
        } finally {
            unlock();
        }
    }

    private void unlink(ScopeRun<?> run) {
        ScopeMeter sums = unlinked == null ? new ScopeMeter() : unlinked;
        unlinked = sums;
        run.addTo(sums);
        run.older = null;
    }

    /** Clears the list if every run has ended and there are several, of which each retains the ones before. */
    void clearIfEmpty() {
        ScopeRun<?> last = newest;
        if (last == null || last.older == null || !isEmpty()) {
            return;
        }
        lock();
        try {
            ScopeRun<?> head = newest;
            if (isEmpty() && NEWEST.compareAndSet(this, head, null)) {
                while (head != null) {
                    ScopeRun<?> older = head.older;
                    unlink(head);
                    head = older;
                }
                listed = 0;
            }
        } finally {
            unlock();
        }
    }

    /** Does the same after a wait for a run, if no run was submitted after it. */
    void clearAfter(ScopeRun<?> awaited) {
        if (newest == awaited) {
            clearIfEmpty();
        }
    }

    /** Returns the runs that were listed and have not ended, newest first. */
    List<ScopeRun<?>> unfinished() {
        List<ScopeRun<?>> found = new ArrayList<>();
        lock();
        try {
            for (ScopeRun<?> each = newest; each != null; each = each.older) {
                if (!each.hasEnded()) {
                    found.add(each);
                }
            }
        } finally {
            unlock();
        }
        return found;
    }

    ScopeMetrics metrics() {
        ScopeMeter sums = new ScopeMeter();
        lock();
        try {
            if (unlinked != null) {
                sums.add(unlinked);
            }
            for (ScopeRun<?> each = newest; each != null; each = each.older) {
                each.addTo(sums);
            }
        } finally {
            unlock();
        }
        return sums.metrics(counted + others);
    }

    // The closing.

    boolean isClosed() {
        return end != null;
    }

    /**
     * Closes this to further runs. Returns false if it was closed before.
     *
     * @param cause the cause, or null for the end of the scope
     * @param expiry the expiry with this cause if the deadline has passed, or null
     */
    boolean close(@Nullable CancelledException cause, @Nullable DeadlineExpiry expiry) {
        return END.compareAndSet(this, null, cause == null ? IN_ORDER : new End(cause, expiry));
    }

    /** Returns why this was closed, or null if it is open. */
    @Nullable
    CancelledException closeCause() {
        End known = end;
        if (known == null) {
            return null;
        }
        return known.cause == null ? new CancelledException("scope \"" + scope + "\" was closed") : known.cause;
    }

    /**
     * Returns the exception of waits for a task with this cancellation cause if that is the deadline's, or else null.
     */
    @Nullable
    ScopeTimeoutException expiredBy(Throwable cause) {
        End known = end;
        return known != null && known.expiry != null && known.cause == cause ? known.expiry.exception() : null;
    }

    /** Returns the exception of a wait that the closing has ended, or null if this is open. */
    @Nullable
    RuntimeException closeException() {
        CancelledException cause = closeCause();
        ScopeTimeoutException expired = cause == null ? null : expiredBy(cause);
        return expired != null ? expired : cause;
    }
}
