package dev.raddle.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import org.junit.jupiter.api.Test;

class SpinLockTest {

    private static final class Counter extends SpinLock {
        private long count; // guarded by this lock

        long add() {
            lock();
            try {
                return ++count;
            } finally {
                unlock();
            }
        }
    }

    private final Counter counter = new Counter();

    @Test
    void sections_are_mutually_exclusive() throws Exception {
        int each = 1_000_000;
        Phaser start = new Phaser(3);
        List<FutureTask<Long>> tasks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            tasks.add(new FutureTask<>(() -> {
                start.arriveAndAwaitAdvance();
                return addAll(each);
            }));
            Thread.ofPlatform().daemon().start(tasks.getLast());
        }
        for (FutureTask<Long> task : tasks) {
            task.get();
        }

        assertThat(counter.add()).isEqualTo(3 * each + 1);
    }

    private long addAll(int count) {
        long last = 0;
        for (int i = 0; i < count; i++) {
            last = counter.add();
        }
        return last;
    }

    @Test
    void a_thread_that_waits_long_for_the_lock_sleeps_and_restores_an_interrupt_afterwards() throws Exception {
        Callable<Boolean> section = () -> {
            counter.add();
            return Thread.interrupted();
        };
        FutureTask<Boolean> task = new FutureTask<>(section);
        Thread thread = Thread.ofPlatform().daemon().unstarted(task);
        counter.lock();
        try {
            thread.start();
            Wait.until(() -> thread.getState() == Thread.State.TIMED_WAITING);
            thread.interrupt();
            Wait.until(() -> !thread.isInterrupted()); // the waiting thread has cleared it
            Wait.until(() -> thread.getState() == Thread.State.TIMED_WAITING);
            assertThat(task.isDone()).isFalse();
        } finally {
            counter.unlock();
        }

        assertThat(task.get()).as("interrupted").isTrue();
    }
}
