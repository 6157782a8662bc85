package dev.raddle.pool;

import dev.raddle.lock.Fields;
import dev.raddle.lock.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** A FIFO buffer: a linked list of arrays. */
final class FifoBuffer implements TaskBuffer {

    /*
     * Overview.
     *
     * Tasks are numbered. The buffered ones have numbers below tail.index, and each is in the slot of its number; a
     * segment holds the slots of SIZE consecutive numbers and links to the next segment.
     *
     *   tail   where tasks are added:     index, segment, cached   written under the tail's lock
     *   head   where tasks are removed:   index, segment, cached   written under the head's lock
     *
     * Each operation takes one of the two locks, so putters and takers contend only when the queue is empty or full.
     * Both indices only increase, and each side reads the other's without its lock:
     *
     *   (1)  head.index <= tail.index <= head.index + capacity, unless the capacity was lowered
     *   (2)  a slot below tail.index is written before tail.index (release); a reader of tail.index sees the task
     *
     * `cached` is the other side's index as last read. It is read again only when the cached value no longer suffices,
     * so that in a long queue the two sides share no cache line. A stale value is safe: the other index has only
     * increased since, so there are at least as many tasks, or as much capacity, as computed.
     *
     * `index` is a count: at the tail of added tasks, at the head of removed ones, from any position. So size() is a
     * difference. A thread that reads head.index first and tail.index second may see too many tasks, never too few: a
     * result of zero was true when the tail was read.
     *
     * A task removed from the middle leaves a hole, an empty slot between head and tail. Nothing is moved, and the head
     * skips holes when it reaches them. `holes` counts the holes ahead of the head, so the head's slot is head.index -
     * holes. A segment that consists of holes is unlinked by the next cursor that passes it; the slots between two
     * neighbours in the list are holes. So removed tasks occupy memory at most until the next removal behind them.
     *
     * A search uses a cursor: under the head's lock it copies a few slots, and compares the copies without the lock. A
     * task stays in its slot until it is removed, so a cursor returns each one once; a match is removed only if it is
     * still in its slot. A cursor whose segment has been unlinked continues from the head's.
     *
     * The head's segment keeps no task before head.index, and segments before it are garbage.
     */

    private static final int SIZE = 256;
    private static final VarHandle INDEX = Fields.handle(MethodHandles.lookup().in(End.class), "index", long.class);

    private static final class Segment {
        final long base;
        final @Nullable Runnable[] tasks = new Runnable[SIZE];

        volatile long @Nullable [] timestamps; // allocated when a time is first recorded; written as `tasks` is

        @Nullable
        Segment next; // written under the tail's lock before an index beyond this segment, then under the head's

        int removed; // the number removed from the middle; guarded by the head's lock
        boolean unlinked; // guarded by the head's lock

        Segment(long base) {
            this.base = base;
        }

        long[] timestamps() {
            long[] known = timestamps;
            if (known == null) {
                known = new long[SIZE];
                Arrays.fill(known, Timestamp.UNKNOWN);
                timestamps = known;
            }
            return known;
        }
    }

    private static class End extends SpinLock {
        volatile long index;
        long cached; // the other end's index as last read; may be read without the lock
        Segment segment;
        long holes; // of the head: the number of holes ahead of it

        End(Segment segment) {
            this.segment = segment;
        }
    }

    /** An end padded to its own cache lines. (The JVM lays out the fields of a superclass first.) */
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

    FifoBuffer(int capacity) {
        this.capacity = capacity;
        Segment segment = new Segment(0);
        head = new PaddedEnd(segment);
        tail = new PaddedEnd(segment);
    }

    @Override
    public boolean offer(Runnable task, int rank, long nanoTime) {
        End end = tail;
        end.lockSoon();
        try {
            long index = end.index;
            if (index - end.cached >= capacity) {
                end.cached = head.index;
                if (index - end.cached >= capacity) {
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
            int slot = (int) (index - segment.base);
            segment.tasks[slot] = task;
            if (nanoTime != Timestamp.UNKNOWN || segment.timestamps != null) {
                segment.timestamps()[slot] = nanoTime;
            }
            INDEX.setRelease(end, index + 1);
            return true;
        } finally {
            end.unlock();
        }
    }

    @Override
    public @Nullable Runnable poll(Timestamp stamp) {
        End end = head;
        if (end.index >= end.cached && end.index == tail.index) { // the latter is on the putters' cache line
            return null;
        }
        end.lockSoon();
        try {
            Segment segment = firstSegment();
            if (segment == null) {
                return null;
            }
            int slot = (int) (end.index - end.holes - segment.base);
            Runnable task = segment.tasks[slot];
            long[] known = segment.timestamps;
            stamp.nanoTime = known == null ? Timestamp.UNKNOWN : known[slot];
            INDEX.setRelease(end, end.index + 1);
            segment.tasks[slot] = null;
            return task;
        } finally {
            end.unlock();
        }
    }

    @Override
    public @Nullable Runnable peek() {
        head.lockSoon();
        try {
            Segment segment = firstSegment();
            return segment == null ? null : segment.tasks[(int) (head.index - head.holes - segment.base)];
        } finally {
            head.unlock();
        }
    }

    @Override
    public Cursor cursor() {
        return new FifoCursor();
    }

    @Override
    public int size() {
        long first = head.index; // before the tail's
        return Math.clamp(tail.index - first, 0, Integer.MAX_VALUE);
    }

    @Override
    public boolean hasTask() {
        return head.index < tail.index;
    }

    @Override
    public int capacity() {
        return capacity;
    }

    @Override
    public void setCapacity(int capacity) {
        this.capacity = capacity;
    }

    /** Returns the number of segments. For tests. */
    int segmentCount() {
        head.lockSoon();
        try {
            int count = 0;
            for (Segment segment = head.segment; segment != null; segment = segment.next) {
                count++;
            }
            return count;
        } finally {
            head.unlock();
        }
    }

    /**
     * Returns the segment of the first task, or null if there is none, and moves the head over holes. Reads the tail
     * only if the cached index is used up. Called under the head's lock.
     */
    private @Nullable Segment firstSegment() {
        if (head.index >= head.cached) {
            head.cached = tail.index;
        }
        while (head.index < head.cached) {
            Segment segment = head.segment;
            long at = head.index - head.holes;
            long end = segment.base + SIZE;
            if (at == end) {
                Segment next = nextSegment(segment);
                unlink(segment);
                head.segment = next;
                head.holes -= next.base - at;
            } else if (segment.tasks[(int) (at - segment.base)] != null) {
                return segment;
            } else {
                head.holes -= segment.removed == SIZE ? end - at : 1;
            }
        }
        return null;
    }

    /**
     * Unlinks a segment, and clears its link to the next one: if it is in the old generation, it would retain all later
     * ones.
     */
    private static void unlink(Segment segment) {
        segment.unlinked = true;
        segment.next = null;
    }

    private static Segment nextSegment(Segment segment) {
        return Objects.requireNonNull(segment.next, "index beyond the last segment");
    }

    /** Returns the next segment, and unlinks those in between that consist of holes. Called under the head's lock. */
    private static Segment nextSegmentWithTasks(Segment segment, long end) {
        Segment next = nextSegment(segment);
        while (next.removed == SIZE && next.base + SIZE < end) {
            Segment after = nextSegment(next);
            unlink(next);
            segment.next = after;
            next = after;
        }
        return next;
    }

    private final class FifoCursor extends Cursor {
        private @Nullable Segment segment; // the segment of the next slot, or an earlier one
        private long next; // the number of the next slot
        private @Nullable Segment seen; // the segment of the tasks that were read last
        private int from; // the slot of the first of them
        private @Nullable Segment markedSegment;
        private int markedSlot;
        private @Nullable Runnable marked;

        @Override
        int read() {
            head.lockSoon();
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
                head.unlock();
            }
        }

        private Segment locate(long end) {
            long first = head.index - head.holes;
            Segment at = segment;
            if (at == null || at.unlinked || next < first) {
                at = head.segment;
                next = Math.max(next, first);
            }
            while (next < end && next >= at.base + SIZE) {
                at = nextSegmentWithTasks(at, end);
                next = Math.max(next, at.base);
            }
            segment = at;
            return at;
        }

        @Override
        void mark(int element) {
            markedSegment = seen;
            markedSlot = from + element;
            marked = tasks[element];
        }

        @Override
        boolean removeMarked() {
            head.lockSoon();
            try {
                Segment at = markedSegment;
                if (at == null || marked == null || at.tasks[markedSlot] != marked) {
                    return false;
                }
                INDEX.setRelease(head, head.index + 1);
                head.holes++;
                at.removed++;
                at.tasks[markedSlot] = null;
                return true;
            } finally {
                head.unlock();
            }
        }
    }
}
