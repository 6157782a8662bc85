package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.Rejectable;
import dev.raddle.testing.BlockingTask;
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
}
