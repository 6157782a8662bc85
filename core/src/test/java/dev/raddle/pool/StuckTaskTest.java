package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
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

    private ThreadPool pool(QueueKind queueKind, int threads) {
        return pools.keep(queueKind
                .plan(threads, threads, 10)
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

    @EachQueue
    void a_task_that_runs_for_long_is_reported_with_its_stack(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask blocker = pools.occupy(pool);
        TestPools.awaitParked(blocker.thread());

        time.advance(INTERVAL);

        PoolListener.Stuck report = reports.take();
        assertThat(report.task()).isSameAs(blocker);
        assertThat(report.thread()).isSameAs(blocker.thread());
        assertThat(report.ranFor()).isEqualTo(INTERVAL);
        assertThat(report.stack()).extracting(StackTraceElement::getClassName).contains(BlockingTask.class.getName());
        assertThat(blocker.interrupts()).as("the report does not interrupt").isZero();
        assertThat(pool.getActiveCount()).isEqualTo(1);
    }

    @EachQueue
    void a_long_task_is_reported_once_in_each_interval_and_not_before(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        pools.occupy(pool);

        for (int interval = 1; interval <= 4; interval++) {
            time.advance(INTERVAL.minus(NANOSECOND));
            assertThat(reports).isEmpty();
            time.advance(NANOSECOND);
            assertThat(reports.take().ranFor()).isEqualTo(INTERVAL.multipliedBy(interval));
        }
        assertThat(reports).isEmpty();
    }

    @EachQueue
    void a_task_that_begins_between_two_checks_is_reported_when_its_own_interval_elapses(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pool(queueKind, 2);
        pools.occupy(pool);
        time.advance(Duration.ofSeconds(7));
        BlockingTask later = pools.occupy(pool);
        time.advance(Duration.ofSeconds(3));
        assertThat(reports.take().ranFor()).isEqualTo(INTERVAL);
        time.advance(Duration.ofSeconds(7).minus(NANOSECOND));
        assertThat(reports).isEmpty();

        time.advance(NANOSECOND);

        PoolListener.Stuck report = reports.take();
        assertThat(report.task()).isSameAs(later);
        assertThat(report.ranFor()).isEqualTo(INTERVAL);
    }

    @EachQueue
    void a_sequence_of_short_tasks_in_one_thread_is_not_reported(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        for (int i = 0; i < 5; i++) {
            BlockingTask blocker = pools.occupy(pool);
            time.advance(INTERVAL.minus(NANOSECOND));
            blocker.release();
            TestPools.awaitCompleted(pool, i + 1);
        }
        BlockingTask last = pools.occupy(pool);
        assertThat(reports).isEmpty();

        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(last);
        assertThat(reports).isEmpty();
    }

    @EachQueue
    void an_idle_pool_reports_nothing_and_later_tasks_are_reported(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        pools.occupy(pool).release();
        TestPools.awaitCompleted(pool, 1);
        time.advance(INTERVAL.multipliedBy(10));
        assertThat(reports).isEmpty();

        BlockingTask blocker = pools.occupy(pool);
        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(blocker);
    }

    @EachQueue
    void every_long_task_is_reported(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 3);
        List<BlockingTask> blockers = pools.occupy(pool, 3);

        time.advance(INTERVAL);

        assertThat(List.of(reports.take(), reports.take(), reports.take()))
                .extracting(PoolListener.Stuck::task)
                .containsExactlyInAnyOrderElementsOf(blockers);
    }

    @EachQueue
    void a_task_is_also_reported_after_shutdown(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask stubborn = pools.uninterruptible();
        pool.execute(stubborn);
        stubborn.awaitBegun();
        pool.shutdownNow();

        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(stubborn);
        stubborn.release();
        pool.close();
        Wait.until(() -> time.alarms() == 0);
        time.advance(INTERVAL.multipliedBy(3));
        assertThat(reports).isEmpty();
    }

    @EachQueue
    void the_tasks_of_a_replacement_thread_are_also_reported(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
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
        BlockingTask blocker = pools.occupy(pool);

        time.advance(INTERVAL);

        assertThat(reports.take().task()).isSameAs(blocker);
    }

    @EachQueue
    void a_slow_or_failing_report_delays_nothing_else(QueueKind queueKind) throws Exception {
        RuntimeException simulated = new IllegalStateException("simulated");
        BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = pools.keep(queueKind
                .plan(2, 2, 10)
                .timeSource(time)
                .stuckAfter(INTERVAL)
                .listener(new PoolListener() {
                    @Override
                    public void stuck(Stuck event) {
                        inside.countDown();
                        Wait.uninterruptibly(exit);
                        reports.add(event);
                        Thread.currentThread().setUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
                        throw simulated;
                    }
                })
                .build());
        pools.occupy(pool);
        Thread first = advancing(INTERVAL);
        inside.await();

        assertThat(pool.submit(() -> "meanwhile").get()).isEqualTo("meanwhile");
        exit.countDown();
        assertThat(reports.take().ranFor()).isEqualTo(INTERVAL);
        assertThat(uncaught.take()).isSameAs(simulated);
        first.join();
        Thread second = advancing(INTERVAL);
        assertThat(reports.take().ranFor()).isEqualTo(INTERVAL.multipliedBy(2));
        assertThat(uncaught.take()).isSameAs(simulated);
        second.join();
    }

    @EachQueue
    void a_task_is_reported_although_all_carriers_are_busy(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask blocker = pools.occupy(pool);
        TestPools.awaitParked(blocker.thread());
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

            assertThat(reports.take().task()).isSameAs(blocker);
        } finally {
            over.set(true);
        }
    }

    /** Advances the time in a new thread, which makes the reports that are due then. */
    private Thread advancing(Duration length) {
        return Thread.ofPlatform().start(() -> time.advance(length));
    }

    /** A pool whose listener counts down {@code inside} at its first report and waits in it for {@code exit}. */
    private ThreadPool poolWithSlowListener(QueueKind queueKind, CountDownLatch inside, CountDownLatch exit) {
        return pools.keep(queueKind
                .plan(2, 2, 10)
                .timeSource(time)
                .stuckAfter(INTERVAL)
                .listener(new PoolListener() {
                    @Override
                    public void stuck(Stuck event) {
                        reports.add(event);
                        inside.countDown();
                        Wait.uninterruptibly(exit);
                    }
                })
                .build());
    }

    @EachQueue
    void a_task_that_ended_before_its_stack_was_read_is_not_reported_with_that_of_the_next(QueueKind queueKind)
            throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = poolWithSlowListener(queueKind, inside, exit);
        BlockingTask first = pools.occupy(pool);
        time.advance(Duration.ofSeconds(1));
        BlockingTask slow = pools.occupy(pool);
        Thread reporter = advancing(INTERVAL.minusSeconds(1));
        inside.await();
        time.advance(Duration.ofSeconds(1)); // `slow` is overdue, and the reporting thread is in the listener

        slow.release();
        TestPools.awaitCompleted(pool, 1, 1);
        BlockingTask innocent = pools.occupy(pool);
        assertThat(innocent.thread()).isSameAs(slow.thread());
        exit.countDown();
        reporter.join();
        time.advance(INTERVAL.minusSeconds(1)); // the second report of `first`

        assertThat(List.of(reports.take().task(), reports.take().task())).containsExactly(first, first);
        assertThat(reports).isEmpty();
    }

    @EachQueue
    void reports_of_a_task_are_in_order_and_outdated_ones_are_omitted(QueueKind queueKind) throws Exception {
        CountDownLatch inside = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        ThreadPool pool = poolWithSlowListener(queueKind, inside, exit);
        pools.occupy(pool);
        Thread reporter = advancing(INTERVAL);
        inside.await();
        for (int i = 0; i < 3; i++) {
            time.advance(INTERVAL);
        }

        exit.countDown();
        reporter.join();
        time.advance(Duration.ZERO);

        assertThat(List.of(reports.take().ranFor(), reports.take().ranFor()))
                .containsExactly(INTERVAL, INTERVAL.multipliedBy(4));
    }
}
