package dev.raddle.pool;

import dev.raddle.kernel.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Tasks in the order of arrival, in a chain of arrays. */
final class FifoStore implements Store {

    /*
     * Overview.
     *
     * Tasks are numbered. Those that lie here have numbers below tail.index, and each lies in the slot of its number;
     * a segment holds the slots of SIZE consecutive numbers and knows the next segment.
     *
     *   tail   where tasks are put in:    index, segment, known   written under the tail's lock
     *   head   where they are taken out:  index, segment, known   written under the head's lock
     *
     * Each operation takes one of the two locks, so putters and takers meet only at the ends of an empty or full queue.
     * Both indices only grow, and are read by the other side without its lock:
     *
     *   (1)  head.index <= tail.index <= head.index + capacity, unless the capacity was lowered
     *   (2)  a slot below tail.index was written before tail.index was (release); whoever reads tail.index sees the task
     *
     * What was read of the other side's index is kept (`known`) and read anew only when it no longer suffices, so
     * that in a long queue the two sides share no cache line. An old value errs on the safe side: the other index has only
     * grown since, so there are more tasks or more room than known.
     *
     * `index` counts: at the tail what was put in, at the head what has left, from wherever it lay. So size() is a difference.
     * A reader that reads head.index first and tail.index second may see too many, never too few: an answer of zero was true
     * when the tail was read.
     *
     * A task that leaves from the middle leaves a hole, an empty slot between the head and the tail: nothing moves, and the head
     * goes over holes when it meets them. `holes` says how many are ahead of the head, so its slot is head.index - holes. A
     * segment of holes only is taken out of the chain by the next pass over it; the slots between two neighbours in the chain
     * are holes. So what is removed keeps no memory for longer than to the next removal behind it.
     *
     * Whoever looks for a task makes a pass: under the head's lock it copies a few slots, and compares what it has copied
     * without the lock. A task stays in its slot until it leaves, so a pass meets each once; and what a pass has found is
     * taken out only if it still lies there. A pass whose segment has left the chain goes on from the head's.
     *
     * No step leaves a store half changed if the stack ends in it: a call that may throw comes before the assignments, and the
     * lock is freed by an assignment if there is no room for the call that does.
     *
     * The head's segment keeps no task before head.index, and segments before it are garbage.
     */

    private static final int SIZE = 256;
    private static final VarHandle INDEX;

    static {
        try {
            INDEX = MethodHandles.lookup().findVarHandle(End.class, "index", long.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private static final class Segment {
        final long base;
        final @Nullable Runnable[] tasks = new Runnable[SIZE];

        volatile long @Nullable [] moments; // made when the first is known; its elements are written as the tasks are

        @Nullable
        Segment next; // written under the tail's lock before the first index beyond this segment, then under the head's

        int removed; // how many have left from the middle; guarded by the head's lock
        boolean isOut; // out of the chain; guarded by the head's lock

        Segment(long base) {
            this.base = base;
        }

        void set(int slot, @Nullable Runnable task, long moment) {
            tasks[slot] = task;
            long[] known = moments;
            if (known == null && moment != Stamp.UNKNOWN) {
                known = new long[SIZE];
                Arrays.fill(known, Stamp.UNKNOWN);
                moments = known; // if both ends make one at a time, moments are forgotten, which is allowed
            }
            if (known != null) {
                known[slot] = moment;
            }
        }

        long moment(int slot) {
            long[] known = moments;
            return known == null ? Stamp.UNKNOWN : known[slot];
        }
    }

    private static class End extends SpinLock {
        volatile long index;
        long known; // of the other end's index; an old value is as good, so it may be read without the lock
        Segment segment;
        long holes; // of the head: how many are ahead of it

        End(Segment segment) {
            this.segment = segment;
        }

        void enter() {
            lockSoon();
        }

        void exit() {
            unlock();
        }
    }

    /** An end on cache lines of its own. (The JVM lays the fields of a superclass out first.) */
    private static final class PaddedEnd extends End {
        @SuppressWarnings("unused")
        private long p0, p1, p2, p3, p4, p5, p6, p7, p8, p9, p10, p11, p12, p13, p14, p15;

        PaddedEnd(Segment segment) {
            super(segment);
        }
    }

    private final End head;
    private final End tail;
    private volatile int capacity;

    FifoStore(int capacity) {
        this.capacity = capacity;
        Segment segment = new Segment(0);
        head = new PaddedEnd(segment);
        tail = new PaddedEnd(segment);
    }

    @Override
    public boolean offer(Runnable task, int rank, long nanoTime) {
        End end = tail;
        end.enter();
        try {
            long index = end.index;
            if (index - end.known >= capacity) {
                end.known = head.index;
                if (index - end.known >= capacity) {
                    return false;
                }
            }
            Segment segment = end.segment;
            if (index == segment.base + SIZE) {
                Segment next = new Segment(index);
                segment.next = next;
                end.segment = next;
                segment = next;
            }
            segment.set((int) (index - segment.base), task, nanoTime);
            INDEX.setRelease(end, index + 1);
            return true;
        } finally {
            end.exit();
        }
    }

    @Override
    public @Nullable Runnable poll(Stamp stamp) {
        End end = head;
        if (end.index >= end.known && end.index == tail.index) { // the latter is the putters' cache line
            return null;
        }
        end.enter();
        try {
            if (!hasFirst()) {
                return null;
            }
            Segment segment = firstSegment();
            int slot = (int) (end.index - end.holes - segment.base);
            Runnable task = segment.tasks[slot];
            stamp.nanoTime = segment.moment(slot);
            INDEX.setRelease(end, end.index + 1);
            segment.tasks[slot] = null;
            return task;
        } finally {
            end.exit();
        }
    }

    @Override
    public @Nullable Runnable peek() {
        head.enter();
        try {
            if (!hasFirst()) {
                return null;
            }
            Segment segment = firstSegment();
            return segment.tasks[(int) (head.index - head.holes - segment.base)];
        } finally {
            head.exit();
        }
    }

    @Override
    public Pass pass() {
        return new FifoPass();
    }

    @Override
    public int size() {
        long first = head.index; // before the tail's
        return Math.clamp(tail.index - first, 0, Integer.MAX_VALUE);
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public void setCapacity(int capacity) {
        this.capacity = capacity;
    }

    /** For tests: how many segments there are. */
    int segments() {
        head.enter();
        try {
            int count = 0;
            for (Segment segment = head.segment; segment != null; segment = segment.next) {
                count++;
            }
            return count;
        } finally {
            head.exit();
        }
    }

    /** Under the head's lock: is there a first task? */
    private boolean hasFirst() {
        if (head.index >= head.known) {
            head.known = tail.index;
        }
        return head.index < head.known;
    }

    /** Under the head's lock, if there is a first task: the segment in which it lies. Moves the head over holes. */
    private Segment firstSegment() {
        while (true) {
            Segment segment = head.segment;
            long at = head.index - head.holes;
            long end = segment.base + SIZE;
            if (at == end) {
                Segment next = following(segment);
                takeOut(segment);
                head.segment = next;
                head.holes -= next.base - at;
            } else if (segment.tasks[(int) (at - segment.base)] != null) {
                return segment;
            } else {
                head.holes -= segment.removed == SIZE ? end - at : 1;
            }
        }
    }

    /** Marks a segment that leaves the chain, and lets it forget the next one: were it promoted, it would keep all later ones. */
    private static void takeOut(Segment segment) {
        segment.isOut = true;
        segment.next = null;
    }

    private static Segment following(Segment segment) {
        return Objects.requireNonNull(segment.next, "an index beyond the last segment");
    }

    /** Under the head's lock: returns the segment after another, and takes out those in between that have holes only. */
    private static Segment followingWithTasks(Segment segment, long end) {
        Segment next = following(segment);
        while (next.removed == SIZE && next.base + SIZE < end) {
            Segment after = following(next);
            takeOut(next);
            segment.next = after;
            next = after;
        }
        return next;
    }

    private final class FifoPass extends Pass {
        private @Nullable Segment segment; // of the next slot, as far as that is known
        private long next; // the number of the next slot
        private @Nullable Segment seen; // of the tasks that were read last
        private int from; // the slot of the first of them
        private @Nullable Segment keptIn;
        private int keptSlot;
        private @Nullable Runnable kept;

        @Override
        int read() {
            head.enter();
            try {
                long end = tail.index;
                Segment at = locate(end);
                if (next >= end) {
                    return 0;
                }
                int slot = (int) (next - at.base);
                int length = (int) Math.min(Math.min(SIZE - slot, tasks.length), end - next);
                System.arraycopy(at.tasks, slot, tasks, 0, length);
                seen = at;
                from = slot;
                next += length;
                return length;
            } finally {
                head.exit();
            }
        }

        private Segment locate(long end) {
            long first = head.index - head.holes;
            Segment at = segment;
            if (at == null || at.isOut || next < first) {
                at = head.segment;
                next = Math.max(next, first);
            }
            while (next < end && next >= at.base + SIZE) {
                at = followingWithTasks(at, end);
                next = Math.max(next, at.base);
            }
            segment = at;
            return at;
        }

        @Override
        void keep(int element) {
            keptIn = seen;
            keptSlot = from + element;
            kept = tasks[element];
        }

        @Override
        boolean removeKept() {
            head.enter();
            try {
                Segment at = keptIn;
                if (at == null || kept == null || at.tasks[keptSlot] != kept) {
                    return false;
                }
                INDEX.setRelease(head, head.index + 1);
                head.holes++;
                at.removed++;
                at.tasks[keptSlot] = null;
                return true;
            } finally {
                head.exit();
            }
        }
    }
}
