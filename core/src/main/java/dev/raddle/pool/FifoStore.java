package dev.raddle.pool;

import dev.raddle.limit.SpinLock;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/** Tasks in the order of arrival, in a chain of arrays. */
final class FifoStore implements Store {

    /*
     * Overview.
     *
     * Tasks are numbered. Those from head.index up to, not including, tail.index lie here, each in the slot of its number;
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
     * A task is taken out of the middle under the head's lock: those before it move up by one slot and the head with them.
     * So there are never holes, and size() is a difference. Whoever reads head.index first and tail.index second may see too
     * many, never too few: an answer of zero was true when the tail was read.
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
        Segment next; // written under the tail's lock before the first index beyond this segment

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
            int slot = (int) (end.index - segment.base);
            Runnable task = segment.tasks[slot];
            segment.tasks[slot] = null;
            stamp.nanoTime = segment.moment(slot);
            INDEX.setRelease(end, end.index + 1);
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
            return segment.tasks[(int) (head.index - segment.base)];
        } finally {
            head.exit();
        }
    }

    @Override
    public boolean remove(Runnable task) {
        return drop(each -> each == task, 1) == 1;
    }

    @Override
    public int removeAll(Set<Runnable> tasks) {
        return drop(tasks::contains, Integer.MAX_VALUE);
    }

    @Override
    public List<Runnable> snapshot() {
        head.enter();
        try {
            List<Runnable> tasks = new ArrayList<>(size());
            for (Cursor at = new Cursor(); at.index < tail.index; at.advance()) {
                tasks.add(at.task());
            }
            return tasks;
        } finally {
            head.exit();
        }
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

    /** Under the head's lock: is there a first task? */
    private boolean hasFirst() {
        if (head.index >= head.known) {
            head.known = tail.index;
        }
        return head.index < head.known;
    }

    /** Under the head's lock, if there is a first task: where it lies. */
    private Segment firstSegment() {
        Segment segment = head.segment;
        if (head.index == segment.base + SIZE) {
            segment = leave(segment);
            head.segment = segment;
        }
        return segment;
    }

    /** Leaves a used-up segment, which forgets the next one: were it promoted, it would keep all later ones with it. */
    private static Segment leave(Segment segment) {
        Segment next = following(segment);
        segment.next = null;
        return next;
    }

    private static Segment following(Segment segment) {
        return Objects.requireNonNull(segment.next, "an index beyond the last segment");
    }

    /** Takes the first unwanted tasks out: remembers those that stay before the last of them, and writes them again, later. */
    private int drop(Predicate<Runnable> unwanted, int most) {
        head.enter();
        try {
            long end = tail.index;
            int dropped = 0;
            int moved = 0; // of those that stay, how many lie before the last dropped one
            List<Runnable> stay = new ArrayList<>();
            List<Long> moments = new ArrayList<>();
            for (Cursor at = new Cursor(); at.index < end && dropped < most; at.advance()) {
                if (unwanted.test(at.task())) {
                    dropped++;
                    moved = stay.size();
                } else {
                    stay.add(at.task());
                    moments.add(at.moment());
                }
            }
            Cursor at = new Cursor();
            for (int i = 0; i < dropped; i++) {
                at.set(null, Stamp.UNKNOWN);
                at.advance();
            }
            while (head.segment != at.segment) {
                head.segment = leave(head.segment);
            }
            for (int i = 0; i < moved; i++) {
                at.set(stay.get(i), moments.get(i));
                at.advance();
            }
            INDEX.setRelease(head, head.index + dropped);
            return dropped;
        } finally {
            head.exit();
        }
    }

    /** Walks over the numbers from the head's on, under the head's lock. */
    private final class Cursor {
        Segment segment = head.segment;
        long index = head.index;

        private int slot() {
            if (index == segment.base + SIZE) {
                segment = following(segment);
            }
            return (int) (index - segment.base);
        }

        Runnable task() {
            int slot = slot(); // which may go to the next segment
            return Objects.requireNonNull(segment.tasks[slot]);
        }

        long moment() {
            int slot = slot();
            return segment.moment(slot);
        }

        void set(@Nullable Runnable task, long moment) {
            int slot = slot();
            segment.set(slot, task, moment);
        }

        void advance() {
            index++;
        }
    }
}
