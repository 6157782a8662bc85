package dev.raddle.checks;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.pool.PoolBuilder;
import dev.raddle.pool.ThreadPool;
import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jetbrains.lincheck.LincheckAssertionError;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Checks a pool's own queue against a plain queue in the interleavings of a few steps, and a broken imitation. */
@Timeout(value = 30, unit = TimeUnit.MINUTES)
class QueueLincheckTest {

    @Test
    void the_queue_of_a_pool_is_linearizable() {
        LincheckTest.options(3, 6, 200)
                .sequentialSpecification(PlainQueue.class)
                .check(OwnQueue.class);
    }

    @Test
    void the_queue_of_a_pool_with_priorities_is_linearizable() {
        LincheckTest.options(3, 6, 200)
                .sequentialSpecification(PlainQueue.class)
                .check(QueueOfOnePriority.class);
    }

    @Test
    void a_queue_that_checks_its_bound_and_inserts_in_two_steps_is_caught() {
        assertThatThrownBy(() -> LincheckTest.options(3, 15, 200)
                        .sequentialSpecification(PlainQueue.class)
                        .check(QueueInTwoSteps.class))
                .isInstanceOf(LincheckAssertionError.class);
    }

    /** A task that is equal to every other task with its number. */
    record Numbered(int number) implements Runnable {
        @Override
        public void run() {}
    }

    /** The sequential behaviour of a queue of capacity two. */
    public static class PlainQueue {
        private final Queue<Integer> numbers = new ArrayDeque<>();

        public boolean offer(int number) {
            return numbers.size() < 2 && numbers.add(number);
        }

        public int poll() {
            return numbers.isEmpty() ? 0 : numbers.remove();
        }

        public int peek() {
            return numbers.isEmpty() ? 0 : numbers.element();
        }

        public boolean remove(int number) {
            return numbers.remove(number);
        }

        public boolean contains(int number) {
            return numbers.contains(number);
        }
    }

    /** The queue of a pool that has no thread. */
    public static class OwnQueue {
        final BlockingQueue<Runnable> queue = pool().build().getQueue();

        PoolBuilder pool() {
            return ThreadPool.builder("queue").queueCapacity(2);
        }

        @Operation
        public boolean offer(@Param(gen = IntGen.class, conf = "1:2") int number) {
            return queue.offer(new Numbered(number));
        }

        @Operation
        public int poll() {
            return number(queue.poll());
        }

        @Operation
        public int peek() {
            return number(queue.peek());
        }

        @Operation
        public boolean remove(@Param(gen = IntGen.class, conf = "1:2") int number) {
            return queue.remove(new Numbered(number));
        }

        @Operation
        public boolean contains(@Param(gen = IntGen.class, conf = "1:2") int number) {
            return queue.contains(new Numbered(number));
        }

        private static int number(Runnable task) {
            return task == null ? 0 : ((Numbered) task).number();
        }
    }

    /** The queue of a pool whose tasks have priorities, which are all equal. */
    public static class QueueOfOnePriority extends OwnQueue {
        @Override
        PoolBuilder pool() {
            return super.pool().priority(task -> 0);
        }
    }

    /** A broken bound: an unbounded queue whose size is counted in a separate step. */
    public static class QueueInTwoSteps extends OwnQueue {
        private final AtomicInteger size = new AtomicInteger();

        @Override
        PoolBuilder pool() {
            return ThreadPool.builder("queue");
        }

        @Override
        public boolean offer(int number) {
            if (size.get() >= 2) {
                return false;
            }
            size.incrementAndGet();
            return super.offer(number);
        }

        @Override
        public int poll() {
            int number = super.poll();
            size.addAndGet(number == 0 ? 0 : -1);
            return number;
        }

        @Override
        public boolean remove(int number) {
            boolean removed = super.remove(number);
            size.addAndGet(removed ? -1 : 0);
            return removed;
        }
    }
}
