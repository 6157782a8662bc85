package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class ThreadsTest {
    private static final Duration GRACE = Duration.ofSeconds(5);

    private final VirtualTime time = new VirtualTime();
    private final Threads threads = new Threads(GRACE, time);
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void release() {
        release.countDown();
    }

    /** Starts a task that ends when it is interrupted or released. */
    private Thread begin() {
        return begin(() -> {
            release.await();
            return null;
        });
    }

    private void beginStubborn() {
        begin(() -> {
            while (release.getCount() > 0) {
                try {
                    release.await();
                } catch (InterruptedException e) {
                    // ignores the interrupt
                }
            }
            return null;
        });
    }

    /** Returns the thread of a started task. */
    private Thread begin(Callable<?> task) {
        CompletableFuture<Thread> begun = new CompletableFuture<>();
        threads.execute(() -> {
            begun.complete(Thread.currentThread());
            try {
                task.call();
            } catch (Exception e) {
                // interrupted
            }
        });
        return begun.join();
    }

    private void drain() throws InterruptedException {
        threads.drain();
        time.awaitAlarms(1);
    }

    @Test
    void closing_ends_all_threads() throws Exception {
        Thread thread = begin(() -> null);

        threads.close();

        thread.join();
        assertThat(threads.account().join().accepted()).isEqualTo(1);
        assertThat(threads.account().join().stillRunning()).isZero();
    }

    @Test
    void a_task_that_ends_within_the_grace_has_completed_during_the_drain() throws Exception {
        begin(() -> null).join();
        begin();
        drain();
        time.advance(GRACE.minusNanos(1));

        release.countDown();

        assertThat(threads.account().join()).isEqualTo(new Account(1, 1, 0, List.of(), 0));
    }

    @Test
    void a_task_that_exceeds_the_grace_is_interrupted() throws Exception {
        begin();
        drain();

        time.advance(GRACE);

        assertThat(threads.account().join()).isEqualTo(new Account(0, 0, 1, List.of(), 0));
    }

    @Test
    void a_task_that_ignores_its_interrupt_is_still_running() throws Exception {
        beginStubborn();
        Thread obeys = begin();
        drain();
        time.advance(GRACE);
        obeys.join();
        time.awaitAlarms(1);

        time.advance(GRACE.plusSeconds(5));

        assertThat(threads.account().join()).isEqualTo(new Account(0, 0, 1, List.of(), 1));
    }

    @Test
    void the_grace_period_can_be_cut_short_at_any_time() throws Exception {
        begin();
        drain();

        threads.endGrace();

        assertThat(threads.account().join()).isEqualTo(new Account(0, 0, 1, List.of(), 0));
        threads.endGrace();
    }

    @Test
    void nothing_is_accepted_during_a_drain() {
        threads.drain();

        assertThatThrownBy(() -> threads.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(threads.account().join().accepted()).isZero();
    }
}
