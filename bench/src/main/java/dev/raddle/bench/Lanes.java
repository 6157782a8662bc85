package dev.raddle.bench;

import dev.raddle.task.Scheduler;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler that costs next to nothing: what a thread has made possible it puts into its own lane, from which it
 * takes its next task; only who finds his lane empty looks into the others.
 *
 * <p>A lane is a ring. One thread appends, any may take: the compare-and-set on its head decides who. A ring as
 * large as the cap is never overrun, because no more tasks than that are granted at once.
 */
final class Lanes implements Scheduler {

    private static final class Lane {
        private static final int HEAD = 16; // each alone on its cache line, and the line that is fetched with it
        private static final int TAIL = 32; // written by the owner

        private final AtomicReferenceArray<Runnable> ring;
        private final AtomicLongArray ends = new AtomicLongArray(48);

        Lane(int capacity) {
            ring = new AtomicReferenceArray<>(capacity);
        }

        void append(Runnable task) {
            long next = ends.get(TAIL);
            if (next - ends.get(HEAD) == ring.length()) {
                throw new RejectedExecutionException("more tasks were granted than the cap allows: " + ring.length());
            }
            ring.setRelease((int) next & (ring.length() - 1), task);
            ends.setRelease(TAIL, next + 1);
        }

        @Nullable
        Runnable take() {
            for (; ; ) {
                long first = ends.get(HEAD);
                if (first == ends.get(TAIL)) {
                    return null;
                }
                Runnable task = ring.getAcquire((int) first & (ring.length() - 1));
                if (ends.compareAndSet(HEAD, first, first + 1)) {
                    return task;
                }
            }
        }
    }

    private final Lane[] lanes;
    private final AtomicInteger taken = new AtomicInteger();
    private final ThreadLocal<Integer> own = ThreadLocal.withInitial(taken::getAndIncrement);

    /**
     * Creates lanes.
     *
     * @param threads how many threads will make tasks possible
     * @param cap how many may be granted at once, a power of two
     */
    Lanes(int threads, int cap) {
        lanes = new Lane[threads];
        for (int i = 0; i < threads; i++) {
            lanes[i] = new Lane(cap);
        }
    }

    @Override
    public void execute(Runnable task) {
        lanes[own.get()].append(task);
    }

    /** Takes a task, of this thread if there is one. */
    @Nullable
    Runnable take() {
        int first = own.get();
        for (int i = 0; i < lanes.length; i++) {
            Runnable task = lanes[(first + i) % lanes.length].take();
            if (task != null) {
                return task;
            }
        }
        return null;
    }
}
