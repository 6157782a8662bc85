package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;

class StuckTaskTest {

    private static final Duration INTERVAL = Duration.ofSeconds(10);
    private static final Duration NANOSECOND = Duration.ofNanos(1);

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();
    private final BlockingQueue<PoolListener.Stuck> reports = new LinkedBlockingQueue<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private ThreadPool pool(Backlog backlog, int threads) {
        return pools.keep(backlog.plan(threads, threads, 10)
                .timeSource(time)
                .stuckAfter(INTERVAL)
                .listener(new PoolListener() {
                    @Override
                    public void stuck(Stuck event) {
                        reports.add(event);
                    }
                })
                .build());
    }

    // K8
    @EachQueue
    void a_task_that_runs_for_long_is_reported_with_its_stack(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 1);
        Plug plug = pools.occupy(pool);
        TestPools.awaitParked(plug.thread());

        time.advance(INTERVAL);

        PoolListener.Stuck report = reports.take();
        assertThat(report.task()).isSameAs(plug);
        assertThat(report.thread()).isSameAs(plug.thread());
        assertThat(report.ranFor()).isEqualTo(INTERVAL);
        assertThat(report.stack()).extracting(StackTraceElement::getClassName).contains(Plug.class.getName());
        assertThat(plug.interrupts()).as("it is only looked at").isZero();
        assertThat(pool.getActiveCount()).isEqualTo(1);
    }

    // K8
    @EachQueue
    void it_is_reported_once_in_each_interval_and_no_earlier(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 1);
        pools.occupy(pool);

        for (int interval = 1; interval <= 4; interval++) {
            time.advance(INTERVAL.minus(NANOSECOND));
            assertThat(reports).isEmpty();
            time.advance(NANOSECOND);
            assertThat(reports.take().ranFor()).isEqualTo(INTERVAL.multipliedBy(interval));
        }
        assertThat(reports).isEmpty();
    }

    // K8
    @EachQueue
    void a_task_that_begins_between_two_looks_is_reported_when_its_own_time_is_up(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 2);
        pools.occupy(pool);
        time.advance(Duration.ofSeconds(7));
        Plug later = pools.occupy(pool);
        time.advance(Duration.ofSeconds(3));
        assertThat(reports.take().ranFor()).isEqualTo(INTERVAL);
        time.advance(Duration.ofSeconds(7).minus(NANOSECOND));
        assertThat(reports).isEmpty();

        time.advance(NANOSECOND);

        PoolListener.Stuck report = reports.take();
        assertThat(report.task()).isSameAs(later);
        assertThat(report.ranFor()).isEqualTo(INTERVAL);
    }

    // K8
    @EachQueue
    void a_row_of_short_tasks_in_one_thread_is_not_a_long_one(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 1);
        for (int i = 0; i < 5; i++) {
            Plug plug = pools.occupy(pool);
            time.advance(INTERVAL.minus(NANOSECOND));
            plug.letGo();
            TestPools.awaitCompleted(pool, i + 1);
        }
        Plug last = pools.occupy(pool);
        assertThat(reports).isEmpty();

        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(last);
        assertThat(reports).isEmpty();
    }

    // K8
    @EachQueue
    void an_idle_pool_has_nothing_to_report_and_one_that_works_again_has(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 1);
        pools.occupy(pool).letGo();
        TestPools.awaitCompleted(pool, 1);
        time.advance(INTERVAL.multipliedBy(10));
        assertThat(reports).isEmpty();

        Plug plug = pools.occupy(pool);
        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(plug);
    }

    // K8
    @EachQueue
    void every_long_task_is_reported(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 3);
        List<Plug> plugs = pools.occupy(pool, 3);

        time.advance(INTERVAL);

        assertThat(List.of(reports.take(), reports.take(), reports.take()))
                .extracting(PoolListener.Stuck::task)
                .containsExactlyInAnyOrderElementsOf(plugs);
    }

    // K8, G2
    @EachQueue
    void a_task_is_reported_after_shutdown_too(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 1);
        Plug stubborn = pools.stubborn();
        pool.execute(stubborn);
        stubborn.awaitBegun();
        pool.shutdownNow();

        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(stubborn);
        stubborn.letGo();
        pool.close();
        Wait.until(() -> time.alarms() == 0);
        time.advance(INTERVAL.multipliedBy(3));
        assertThat(reports).isEmpty();
    }

    // K8
    @EachQueue
    void the_replacement_of_a_thread_is_watched_too(Backlog backlog) throws Exception {
        ThreadPool pool = pools.keep(backlog.plan(1, 1, 10)
                .timeSource(time)
                .stuckAfter(INTERVAL)
                .threadFactory(task -> {
                    Thread thread = new Thread(task);
                    thread.setUncaughtExceptionHandler((dying, thrown) -> {});
                    return thread;
                })
                .listener(new PoolListener() {
                    @Override
                    public void stuck(Stuck event) {
                        reports.add(event);
                    }
                })
                .build());
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        Wait.until(() -> pool.getCompletedTaskCount() == 1);
        Plug plug = pools.occupy(pool);

        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(plug);
    }

    // K8
    @EachQueue
    void a_report_that_takes_long_or_throws_holds_nothing_up(Backlog backlog) throws Exception {
        RuntimeException simulated = new IllegalStateException("simulated");
        BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = pools.keep(backlog.plan(2, 2, 10)
                .timeSource(time)
                .stuckAfter(INTERVAL)
                .listener(new PoolListener() {
                    @Override
                    public void stuck(Stuck event) {
                        inside.countDown();
                        awaitUninterruptibly(exit);
                        reports.add(event);
                        Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
                        throw simulated;
                    }
                })
                .build());
        pools.occupy(pool);
        time.advance(INTERVAL);
        inside.await();

        assertThat(pool.submit(() -> "meanwhile").get()).isEqualTo("meanwhile");
        exit.countDown();
        assertThat(reports.take().ranFor()).isEqualTo(INTERVAL);
        assertThat(uncaught.take()).isSameAs(simulated);
        time.advance(INTERVAL);
        assertThat(reports.take().ranFor()).isEqualTo(INTERVAL.multipliedBy(2));
        assertThat(uncaught.take()).isSameAs(simulated);
    }

    // K8
    @EachQueue
    void a_task_is_reported_although_all_carriers_are_busy(Backlog backlog) throws Exception {
        ThreadPool pool = pool(backlog, 1);
        Plug plug = pools.occupy(pool);
        TestPools.awaitParked(plug.thread());
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        AtomicBoolean over = new AtomicBoolean();
        try {
            for (int i = 0; i < carriers; i++) {
                Thread.ofVirtual().start(() -> {
                    busy.countDown();
                    while (!over.get()) {
                        Thread.onSpinWait();
                    }
                });
            }
            busy.await();

            time.advance(INTERVAL);

            assertThat(reports.take().task()).isSameAs(plug);
        } finally {
            over.set(true);
        }
    }

    /** Tells of a first report by `inside`, and stays in it until `exit` is open. */
    private ThreadPool poolWithSlowListener(Backlog backlog, CountDownLatch inside, CountDownLatch exit) {
        return pools.keep(backlog.plan(2, 2, 10)
                .timeSource(time)
                .stuckAfter(INTERVAL)
                .listener(new PoolListener() {
                    @Override
                    public void stuck(Stuck event) {
                        reports.add(event);
                        inside.countDown();
                        awaitUninterruptibly(exit);
                    }
                })
                .build());
    }

    // K8
    @EachQueue
    void a_task_that_ended_before_its_stack_was_read_is_not_reported_with_that_of_the_next(Backlog backlog)
            throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = poolWithSlowListener(backlog, inside, exit);
        Plug first = pools.occupy(pool);
        time.advance(Duration.ofSeconds(1));
        Plug slow = pools.occupy(pool);
        time.advance(INTERVAL.minusSeconds(1));
        inside.await();
        time.advance(Duration.ofSeconds(1)); // `slow` is overdue, and the thread of the watch is in the listener

        slow.letGo();
        TestPools.awaitCompleted(pool, 1, 1);
        Plug innocent = pools.occupy(pool);
        assertThat(innocent.thread()).isSameAs(slow.thread());
        exit.countDown();
        time.advance(INTERVAL.minusSeconds(1)); // for `first` again

        assertThat(List.of(reports.take().task(), reports.take().task())).containsExactly(first, first);
        assertThat(reports).isEmpty();
    }

    // K8
    @EachQueue
    void reports_of_a_task_come_in_order_and_those_that_are_outdated_are_left_out(Backlog backlog) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = poolWithSlowListener(backlog, inside, exit);
        pools.occupy(pool);
        time.advance(INTERVAL);
        inside.await();
        for (int i = 0; i < 3; i++) {
            time.advance(INTERVAL);
        }

        exit.countDown();

        assertThat(List.of(reports.take().ranFor(), reports.take().ranFor()))
                .containsExactly(INTERVAL, INTERVAL.multipliedBy(4));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new AssertionError(interrupt);
        }
    }
}
