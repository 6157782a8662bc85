package dev.raddle.cli.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.pool.PoolListener;
import dev.raddle.pool.ShutdownReport;
import dev.raddle.pool.ThreadPool;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class VirtualPoolTest {
    private static final Duration GRACE = Duration.ofSeconds(5);
    private static final Duration LAST_WAIT = Duration.ofSeconds(7);

    private final VirtualTime time = new VirtualTime();
    private final VirtualPool pool = new VirtualPool(time);
    private final CountDownLatch release = new CountDownLatch(1);

    @AfterEach
    void release() {
        release.countDown();
    }

    /** Starts a task that ends when it is interrupted or released. */
    private Thread begin(Executor executor) throws InterruptedException {
        return begin(executor, () -> {
            release.await();
            return null;
        });
    }

    private void beginStubborn(Executor executor) throws InterruptedException {
        begin(executor, () -> {
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
    private static Thread begin(Executor executor, Callable<?> task) throws InterruptedException {
        CompletableFuture<Thread> begun = new CompletableFuture<>();
        executor.execute(() -> {
            begun.complete(Thread.currentThread());
            try {
                task.call();
            } catch (Exception e) {
                // interrupted
            }
        });
        return begun.join();
    }

    private FutureTask<ShutdownReport> drain() throws InterruptedException {
        FutureTask<ShutdownReport> drain = new FutureTask<>(() -> pool.drain(GRACE, LAST_WAIT));
        Thread.ofVirtual().start(drain);
        time.awaitAlarms(1);
        return drain;
    }

    @Test
    void a_task_that_ends_within_the_grace_has_completed_during_the_drain() throws Exception {
        begin(pool);
        FutureTask<ShutdownReport> drain = drain();
        time.advance(GRACE.minusNanos(1));

        release.countDown();

        ShutdownReport report = drain.get();
        assertThat(report.completedDuring()).isEqualTo(1);
        assertThat(report.accepted()).isEqualTo(1);
        assertThat(report.terminated()).isTrue();
        assertThat(report.waited()).isEqualTo(GRACE.minusNanos(1));
    }

    @Test
    void a_task_that_exceeds_the_grace_is_interrupted() throws Exception {
        begin(pool);
        FutureTask<ShutdownReport> drain = drain();

        time.advance(GRACE);

        ShutdownReport report = drain.get();
        assertThat(report.interrupted()).hasSize(1);
        assertThat(report.accepted()).isEqualTo(1);
        assertThat(report.waited()).isEqualTo(GRACE);
    }

    @Test
    void a_task_that_ignores_its_interrupt_is_still_running() throws Exception {
        beginStubborn(pool);
        FutureTask<ShutdownReport> drain = drain();
        time.advance(GRACE);
        time.awaitAlarms(1);

        time.advance(LAST_WAIT);

        ShutdownReport report = drain.get();
        assertThat(report.terminated()).isFalse();
        assertThat(report.stillRunning()).singleElement().satisfies(task -> {
            assertThat(task.age()).isEqualTo(GRACE.plus(LAST_WAIT));
            assertThat(task.stack()).isNotEmpty();
        });
        assertThat(report.accepted()).isEqualTo(1);
    }

    @Test
    void an_interrupt_of_the_draining_thread_ends_the_grace() throws Exception {
        begin(pool);
        FutureTask<ShutdownReport> drain = new FutureTask<>(() -> {
            ShutdownReport report = pool.drain(GRACE, LAST_WAIT);
            assertThat(Thread.interrupted()).isTrue();
            return report;
        });
        Thread drainer = Thread.ofVirtual().start(drain);
        time.awaitAlarms(1);

        drainer.interrupt();

        assertThat(drain.get().interrupted()).hasSize(1);
    }

    @Test
    void nothing_is_accepted_after_the_shutdown() {
        pool.shutdown();

        assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
        assertThat(pool.drain(GRACE, LAST_WAIT).accepted()).isZero();
    }

    @Test
    void the_account_equals_that_of_a_pool_of_platform_threads() throws Exception {
        Duration moment = Duration.ofMillis(100);
        ThreadPool platform = ThreadPool.builder("platform")
                .threads(9)
                .timeSource(time)
                .stuckAfter(moment)
                .listener(new PoolListener() {})
                .build();
        Thread ofVirtual = begin(pool);
        beginStubborn(pool);
        Thread ofPlatform = begin(platform);
        beginStubborn(platform);

        String virtualNumbers = drained(() -> pool.drain(Duration.ZERO, moment), ofVirtual);
        String platformNumbers = drained(() -> platform.drain(Duration.ZERO), ofPlatform);

        assertThat(virtualNumbers).isEqualTo("2 accepted, 0 before, 0 during, 1 interrupted, 1 still running");
        assertThat(platformNumbers).isEqualTo(virtualNumbers);
    }

    /**
     * Drains a pool, advances the time only when the obedient task has ended with its thread, and returns the numbers.
     */
    private String drained(Callable<ShutdownReport> action, Thread obeys) throws Exception {
        FutureTask<ShutdownReport> drain = new FutureTask<>(action);
        Thread.ofVirtual().start(drain);
        obeys.join();
        while (!drain.isDone()) {
            time.advance(LAST_WAIT);
            Thread.yield();
        }
        return numbers(drain.get());
    }

    private static String numbers(ShutdownReport report) {
        return report.accepted() + " accepted, " + report.completedBefore() + " before, " + report.completedDuring()
                + " during, " + report.interrupted().size() + " interrupted, "
                + report.stillRunning().size() + " still running";
    }
}
