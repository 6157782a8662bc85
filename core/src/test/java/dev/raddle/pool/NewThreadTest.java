package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Stops of a pool between giving a task to a new thread and the start of that thread's run. */
class NewThreadTest {

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();
    private final CountDownLatch mayBegin = new CountDownLatch(1);
    private final AtomicInteger runs = new AtomicInteger();

    /** Makes threads whose start is delayed. */
    private final ThreadFactory late = worker -> new Thread(() -> {
        Wait.uninterruptibly(mayBegin);
        worker.run();
    });

    @AfterEach
    void endAll() throws InterruptedException {
        mayBegin.countDown();
        pools.endAll();
    }

    private ThreadPool ofTheJdksConstructors() {
        return pools.keep(new ThreadPool(1, 1, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(), late));
    }

    private PoolBuilder builder() {
        return ThreadPool.builder("built").threads(1).threadFactory(late).timeSource(time);
    }

    private boolean run() {
        runs.incrementAndGet();
        return Thread.currentThread().isInterrupted();
    }

    private void assertRunsInterrupted(ExecutorService pool) throws Exception {
        Future<Boolean> first = pool.submit(this::run);
        Future<Boolean> queued = pool.submit(this::run);

        assertThat(pool.shutdownNow()).containsExactly((Runnable) queued);
        assertThat(first.isDone()).isFalse();
        mayBegin.countDown();

        assertThat(first.get()).as("interrupted").isTrue();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(queued.isDone()).isFalse();
        assertThat(runs).hasValue(1);
    }

    @Test
    void with_the_jdks_constructors_the_task_runs_interrupted_as_in_the_jdk() throws Exception {
        assertRunsInterrupted(ofTheJdksConstructors());
    }

    @Test
    @SuppressWarnings("resource") // the pool has terminated
    void in_the_jdk_the_task_runs_interrupted() throws Exception {
        assertRunsInterrupted(new ThreadPoolExecutor(1, 1, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(), late));
    }

    @Test
    void with_the_jdks_constructors_invokeAll_returns_when_the_task_has_run() throws Exception {
        ThreadPool pool = ofTheJdksConstructors();
        List<Callable<Boolean>> tasks = List.of(this::run);
        FutureTask<List<Future<Boolean>>> all = new FutureTask<>(() -> pool.invokeAll(tasks));
        TestPools.awaitParkedIn(TestPools.started(all), "invokeAll");

        assertThat(pool.shutdownNow()).isEmpty();
        mayBegin.countDown();

        assertThat(all.get().getFirst().get()).isTrue();
    }

    @Test
    void with_the_builder_the_task_is_handed_back_and_its_future_is_cancelled() throws Exception {
        ThreadPool pool = pools.keep(builder().build());
        Future<Boolean> first = pool.submit(this::run);
        Future<Boolean> queued = pool.submit(this::run);

        assertThat(pool.shutdownNow()).containsExactly((Runnable) first, (Runnable) queued);

        assertThatThrownBy(first::get).isInstanceOf(CancellationException.class);
        assertThatThrownBy(queued::get).isInstanceOf(CancellationException.class);
        mayBegin.countDown();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(runs).hasValue(0);
        assertThat(pool.stats().handedBack()).isEqualTo(2);
    }

    @Test
    void with_the_builder_invokeAll_and_invokeAny_return_when_the_task_is_handed_back() throws Exception {
        List<Callable<Boolean>> tasks = List.of(this::run);
        ThreadPool pool = pools.keep(builder().build());
        FutureTask<List<Future<Boolean>>> all = new FutureTask<>(() -> pool.invokeAll(tasks));
        TestPools.awaitParkedIn(TestPools.started(all), "invokeAll");
        pool.shutdownNow();
        assertThat(all.get()).allMatch(Future::isCancelled);

        ThreadPool another = pools.keep(builder().build());
        FutureTask<Boolean> any = new FutureTask<>(() -> another.invokeAny(tasks));
        TestPools.awaitParkedIn(TestPools.started(any), "invokeAny");
        another.shutdownNow();
        assertThatThrownBy(any::get).hasRootCauseInstanceOf(CancellationException.class);
    }

    @Test
    void with_the_builder_and_without_cancelling_the_owner_may_run_a_handed_back_task() throws Exception {
        ThreadPool pool = pools.keep(builder().cancelHandedBack(false).build());
        Future<Boolean> future = pool.submit(this::run);

        List<Runnable> handedBack = pool.shutdownNow();
        assertThat(future.isDone()).isFalse();
        handedBack.forEach(Runnable::run);

        assertThat(future.get()).isFalse();
    }

    @Test
    void a_drain_accounts_for_a_task_whose_thread_has_not_begun() throws Exception {
        ThreadPool jdk = pools.keep(new ThreadPool(builder().followsJdk()));
        Future<Boolean> first = jdk.submit(this::run);
        assertThat(jdk.getActiveCount()).isEqualTo(1);
        FutureTask<ShutdownReport> drained = new FutureTask<>(() -> jdk.drain(Duration.ZERO));
        TestPools.started(drained);
        time.awaitAlarms(1); // the last wait
        mayBegin.countDown();

        assertThat(drained.get().interrupted()).hasSize(1);
        assertThat(drained.get().accepted()).isEqualTo(1);
        assertThat(first.get()).isTrue();
    }

    @Test
    void a_drain_of_a_built_pool_hands_back_a_task_whose_thread_has_not_begun() throws Exception {
        ThreadPool pool = pools.keep(builder().build());
        pool.execute(this::run);
        FutureTask<ShutdownReport> drained = new FutureTask<>(() -> pool.drain(Duration.ZERO));
        TestPools.started(drained);
        time.awaitAlarms(1); // the last wait

        time.advance(Duration.ofSeconds(5));

        ShutdownReport report = drained.get();
        assertThat(report.handedBack()).hasSize(1);
        assertThat(report.accepted()).isEqualTo(1);
        assertThat(report.terminated()).isFalse();
    }

    @Test
    void a_drain_with_the_jdks_rules_reports_a_task_whose_thread_has_not_begun_as_running() throws Exception {
        ThreadPool pool = pools.keep(new ThreadPool(builder().followsJdk()));
        Runnable task = this::run;
        pool.execute(task);
        FutureTask<ShutdownReport> drained = new FutureTask<>(() -> pool.drain(Duration.ZERO));
        TestPools.started(drained);
        time.awaitAlarms(1); // the last wait

        time.advance(Duration.ofSeconds(5));

        ShutdownReport report = drained.get();
        assertThat(report.stillRunning())
                .extracting(ShutdownReport.StillRunning::task)
                .containsExactly(task);
        assertThat(report.accepted()).isEqualTo(1);
    }
}
