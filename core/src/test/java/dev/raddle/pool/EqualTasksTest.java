package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rejectable;
import dev.raddle.testing.BlockingTask;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tasks in a user's queue that are equal and not the same object. */
@Timeout(30)
class EqualTasksTest {

    private record Event(Keyed task, String what) {}

    private final List<Event> events = new CopyOnWriteArrayList<>();

    private final class Keyed implements Rejectable {
        private final String key;

        Keyed(String key) {
            this.key = key;
        }

        @Override
        public void run() {
            events.add(new Event(this, "ran"));
        }

        @Override
        public void reject(RejectedExecutionException reason) {
            events.add(new Event(this, "rejected"));
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Keyed keyed && keyed.key.equals(key);
        }

        @Override
        public int hashCode() {
            return key.hashCode();
        }
    }

    @Test
    void the_removed_task_is_rejected_and_not_the_equal_one_that_was_asked_for() throws Exception {
        ThreadPool pool = ThreadPool.builder("equal")
                .threads(1)
                .queue(new LinkedBlockingQueue<>())
                .build();
        BlockingTask blocker = new BlockingTask();
        pool.execute(blocker);
        blocker.awaitBegun();
        Keyed queued = new Keyed("a");
        pool.execute(queued);

        assertThat(pool.remove(new Keyed("b"))).isFalse();
        assertThat(pool.remove(new Keyed("a"))).isTrue();

        blocker.release();
        pool.close();
        assertThat(events).hasSize(1);
        assertThat(events.getFirst().task()).isSameAs(queued);
        assertThat(events.getFirst().what()).isEqualTo("rejected");
    }

    @Test
    void a_task_that_a_worker_takes_meanwhile_is_not_handed_back_in_the_place_of_an_equal_one() throws Exception {
        ThreadPool pool = ThreadPool.builder("equal")
                .threads(1)
                .queue(new LinkedBlockingQueue<>() {
                    @Override
                    public int drainTo(Collection<? super Runnable> target) {
                        return 0; // as a queue of tasks that are not due
                    }

                    @Override
                    public <T> T[] toArray(T[] array) {
                        T[] tasks = super.toArray(array);
                        poll(); // a worker takes the first
                        return tasks;
                    }
                })
                .build();
        BlockingTask blocker = new BlockingTask();
        pool.execute(blocker);
        blocker.awaitBegun();
        Keyed first = new Keyed("a");
        Keyed second = new Keyed("a");
        pool.execute(first);
        pool.execute(second);

        List<Runnable> handedBack = pool.shutdownNow();

        blocker.release();
        pool.close();
        assertThat(handedBack).hasSize(1);
        assertThat(handedBack.getFirst()).isSameAs(second);
    }

    @Test
    void the_argument_decides_which_queued_task_is_equal_to_it() throws Exception {
        ThreadPool pool = ThreadPool.builder("equal")
                .threads(1)
                .queue(new LinkedBlockingQueue<>())
                .build();
        BlockingTask blocker = new BlockingTask();
        pool.execute(blocker);
        blocker.awaitBegun();
        pool.execute(new Keyed("a"));

        assertThat(pool.remove(null)).isFalse();
        assertThat(pool.remove(new AnyKeyed())).isTrue();

        blocker.release();
        pool.close();
    }

    private static final class AnyKeyed implements Runnable {
        @Override
        public void run() {}

        @Override
        public boolean equals(Object other) {
            return other instanceof Keyed;
        }

        @Override
        public int hashCode() {
            return 1;
        }
    }
}
