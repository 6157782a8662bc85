package dev.raddle.bench;

import dev.raddle.task.Scheduler;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * A scheduler of very low cost: a thread puts the tasks that it grants into its own lane, from which it takes its next
 * task; it polls the other lanes only if its own is empty.
 *
 * <p>A lane is a circular buffer. One thread appends, any thread may take, and a compare-and-set on the head decides
 * between them. A buffer as large as the cap never overflows, because no more tasks than that are granted at once.
 */
final class Lanes implements Scheduler {

    private static final class Lane {
        private static final int HEAD = 16; // each is alone on its cache line and on the adjacent line
        private static final int TAIL = 32; // written by the owner

        private final AtomicReferenceArray<Runnable> buffer;
        private final AtomicLongArray ends = new AtomicLongArray(48);

        Lane(int capacity) {
            buffer = new AtomicReferenceArray<>(capacity);
        }

        void append(Runnable task) {
            long next = ends.get(TAIL);
            if (next - ends.get(HEAD) == buffer.length()) {
                throw new RejectedExecutionException("more tasks were granted than the cap allows: " + buffer.length());
            }
            buffer.setRelease((int) next & (buffer.length() - 1), task);
            ends.setRelease(TAIL, next + 1);
        }

        @Nullable
        Runnable take() {
            for (; ; ) {
                long first = ends.get(HEAD);
                if (first == ends.get(TAIL)) {
                    return null;
                }
                Runnable task = buffer.getAcquire((int) first & (buffer.length() - 1));
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
     * @param threads the number of threads that grant tasks
     * @param cap the maximum number of granted tasks, a power of two
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

    /** Takes a task, from the lane of this thread if it is not empty. */
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
