package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.pool.ShutdownReport.Stopped;
import dev.raddle.pool.ThreadPool.RunState;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.DelayQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class GracefulStopTest {

    private static final Duration GRACE = Duration.ofSeconds(20);
    private static final Duration LAST_WAIT = Duration.ofSeconds(5);

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private ThreadPool pool(QueueKind queueKind, int threads) {
        return pools.keep(
                queueKind.plan(threads, threads, 1000).timeSource(time).build());
    }

    /** Drains a pool in another thread, and returns when that thread waits. */
    private FutureTask<ShutdownReport> draining(ThreadPool pool, Duration grace) throws InterruptedException {
        FutureTask<ShutdownReport> drained = new FutureTask<>(() -> pool.drain(grace));
        Thread drainer = TestPools.started(drained);
        time.awaitAlarms(1);
        TestPools.awaitParkedIn(drainer, "drain");
        return drained;
    }

    private BlockingTask stubborn(ThreadPool pool) throws InterruptedException {
        BlockingTask stubborn = pools.uninterruptible();
        pool.execute(stubborn);
        return stubborn.awaitBegun();
    }

    private Runnable task(String name) {
        return () -> ran.add(name);
    }

    @Test
    void the_run_states_are_in_order() throws Exception {
        List<RunState> seen = new CopyOnWriteArrayList<>();
        class StateRecordingPool extends ThreadPool {
            StateRecordingPool() {
                super(ThreadPool.builder("watched").threads(1));
            }

            @Override
            protected void terminated() {
                seen.add(runState());
            }
        }
        ThreadPool pool = pools.keep(new StateRecordingPool());
        seen.add(pool.runState());
        BlockingTask stubborn = stubborn(pool);
        pool.shutdown();
        seen.add(pool.runState());
        pool.shutdownNow();
        seen.add(pool.runState());
        pool.shutdown();
        seen.add(pool.runState());
        stubborn.release();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        seen.add(pool.runState());

        assertThat(seen)
                .containsExactly(
                        RunState.RUNNING,
                        RunState.SHUTDOWN,
                        RunState.STOP,
                        RunState.STOP,
                        RunState.TIDYING,
                        RunState.TERMINATED);
        pool.shutdownNow();
        assertThat(pool.runState()).isEqualTo(RunState.TERMINATED);
    }

    @Test
    void a_task_that_was_taken_but_not_begun_when_the_pool_was_stopped_is_reported_as_interrupted() throws Exception {
        BlockingTask beginning = pools.uninterruptible();
        AtomicReference<BlockingTask> gate = new AtomicReference<>();
        TimeSource gated = new TimeSource() {
            @Override
            public long nanoTime() {
                BlockingTask closed = Thread.currentThread().getName().equals("p-1") ? gate.getAndSet(null) : null;
                if (closed != null) {
                    closed.run(); // between the queue and the begin of the task
                }
                return time.nanoTime();
            }

            @Override
            public Alarm after(Duration delay, Runnable action) {
                return time.after(delay, action);
            }
        };
        ThreadPool pool = pools.keep(ThreadPool.builder("p")
                .threads(1)
                .timeSource(gated)
                .listener(new PoolListener() {})
                .build());
        FutureTask<Thread> first = new FutureTask<>(Thread::currentThread);
        pool.execute(first);
        TestPools.awaitParkedIn(first.get(), "take");
        gate.set(beginning);
        Callable<Boolean> callable = () -> ran.add("second");
        Future<Boolean> future = pool.submit(callable);
        beginning.awaitBegun();
        FutureTask<ShutdownReport> drained = draining(pool, Duration.ZERO);
        beginning.release();

        ShutdownReport report = drained.get();
        assertThat(report.interrupted()).singleElement().satisfies(task -> {
            assertThat(task.runnable()).isSameAs(future);
            assertThat(task.task()).isSameAs(callable);
        });
        assertThat(report.completedBefore()).isEqualTo(1);
        assertThat(report.completedDuring()).isZero();
        assertThat(report.terminated()).isTrue();
    }

    @EachQueue
    void the_state_never_goes_back_when_threads_race_to_end_the_pool(QueueKind queueKind) throws Exception {
        for (int round = 0; round < 100; round++) {
            ThreadPool pool = queueKind.pool(1, 2, 10);
            pool.execute(() -> {});
            Callable<Object> observer = () -> {
                RunState before = RunState.RUNNING;
                while (before != RunState.TERMINATED) {
                    RunState now = pool.runState();
                    assertThat(now).isGreaterThanOrEqualTo(before);
                    before = now;
                }
                return null;
            };
            Together.together(List.of(observer, pool::shutdownNow, () -> {
                pool.shutdown();
                return null;
            }));
            assertThat(pool.isTerminated()).isTrue();
        }
    }

    @EachQueue
    void stats_are_read_at_one_time(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 2, 3)
                .rejection(new ThreadPool.DiscardPolicy())
                .build());
        ThreadPool.Stats fresh = pool.stats();
        assertThat(fresh.runState()).isEqualTo(RunState.RUNNING);
        assertThat(fresh.coreThreads()).isEqualTo(1);
        assertThat(fresh.maxThreads()).isEqualTo(2);
        assertThat(fresh.threads()).isEqualTo(0);
        assertThat(fresh.largestThreads()).isEqualTo(0);
        assertThat(fresh.active()).isEqualTo(0);
        assertThat(fresh.queued()).isEqualTo(0);
        assertThat(fresh.completed()).isEqualTo(0);
        assertThat(fresh.rejected()).isEqualTo(0);
        assertThat(fresh.handedBack()).isEqualTo(0);
        assertThat(fresh.removed()).isEqualTo(0);
        pool.submit(() -> {}).get();
        TestPools.awaitCompleted(pool, 1);
        BlockingTask blocker = pools.occupy(pool);
        Runnable removed = task("removed");
        pool.execute(task("waiting"));
        pool.execute(removed);
        pool.execute(task("waiting"));
        pools.occupy(pool);
        pool.execute(task("discarded"));
        assertThat(pool.remove(removed)).isTrue();

        ThreadPool.Stats busy = pool.stats();
        assertThat(busy.runState()).isEqualTo(RunState.RUNNING);
        assertThat(busy.coreThreads()).isEqualTo(1);
        assertThat(busy.maxThreads()).isEqualTo(2);
        assertThat(busy.threads()).isEqualTo(2);
        assertThat(busy.largestThreads()).isEqualTo(2);
        assertThat(busy.active()).isEqualTo(2);
        assertThat(busy.queued()).isEqualTo(2);
        assertThat(busy.completed()).isEqualTo(1);
        assertThat(busy.rejected()).isEqualTo(1);
        assertThat(busy.handedBack()).isEqualTo(0);
        assertThat(busy.removed()).isEqualTo(1);
        assertThat(busy.accepted()).isEqualTo(6);

        pool.shutdownNow();
        blocker.awaitInterrupt();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        ThreadPool.Stats ended = pool.stats();
        assertThat(ended.runState()).isEqualTo(RunState.TERMINATED);
        assertThat(ended.coreThreads()).isEqualTo(1);
        assertThat(ended.maxThreads()).isEqualTo(2);
        assertThat(ended.threads()).isEqualTo(0);
        assertThat(ended.largestThreads()).isEqualTo(2);
        assertThat(ended.active()).isEqualTo(0);
        assertThat(ended.queued()).isEqualTo(0);
        assertThat(ended.completed()).isEqualTo(3);
        assertThat(ended.rejected()).isEqualTo(1);
        assertThat(ended.handedBack()).isEqualTo(2);
        assertThat(ended.removed()).isEqualTo(1);
        assertThat(ended.accepted()).isEqualTo(6);
    }

    @Test
    void shutdownNow_returns_the_tasks_of_a_delay_queue_in_the_order_in_which_they_are_due() throws Exception {
        record DelayedTask(int days, long due) implements Delayed, Runnable {
            DelayedTask(int days) {
                this(days, System.nanoTime() + TimeUnit.DAYS.toNanos(days));
            }

            @Override
            public long getDelay(TimeUnit unit) {
                return unit.convert(due - System.nanoTime(), TimeUnit.NANOSECONDS);
            }

            @Override
            public int compareTo(Delayed other) {
                return Long.compare(due, ((DelayedTask) other).due);
            }

            @Override
            public void run() {}
        }
        @SuppressWarnings({"unchecked", "rawtypes"})
        BlockingQueue<Runnable> queue = (BlockingQueue) new DelayQueue<>();
        ThreadPool pool = pools.on(queue, 1, 1);
        pools.occupy(pool);
        List<Runnable> expected = new ArrayList<>();
        for (int days : List.of(5, 1, 4, 8, 2, 7, 3, 0, 6, 0)) {
            DelayedTask later = new DelayedTask(days);
            expected.add(later);
            pool.execute(later);
        }
        expected.sort((a, b) -> Long.compare(((DelayedTask) a).due, ((DelayedTask) b).due));

        assertThat(pool.shutdownNow()).containsExactlyElementsOf(expected);
        assertThat(queue).isEmpty();
    }

    @Test
    void shutdownNow_returns_the_tasks_of_the_built_in_queue_by_priority_and_then_by_age() throws Exception {
        record RankedTask(int rank, int number) implements Runnable {
            @Override
            public void run() {}
        }
        ThreadPool pool = pools.keep(ThreadPool.builder("ranked")
                .threads(1)
                .priority(task -> task instanceof RankedTask ranked ? ranked.rank : 0)
                .build());
        pools.occupy(pool);
        for (int number = 0; number < 9; number++) {
            pool.execute(new RankedTask(number % 3, number));
        }

        assertThat(pool.shutdownNow())
                .extracting(task -> ((RankedTask) task).number)
                .containsExactly(2, 5, 8, 1, 4, 7, 0, 3, 6);
    }

    @EachQueue
    void draining_an_idle_pool_terminates_it(QueueKind queueKind) {
        ThreadPool pool = pool(queueKind, 2);

        ShutdownReport report = pool.drain(GRACE);

        assertThat(report)
                .isEqualTo(new ShutdownReport(
                        "test", true, 0, 0, List.of(), List.of(), List.of(), 0, Duration.ZERO, Duration.ZERO));
        assertThat(report.accepted()).isZero();
        assertThat(pool.isTerminated()).isTrue();
    }

    @EachQueue
    void tasks_that_end_within_the_grace_period_are_completed_and_not_interrupted(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        pool.submit(() -> {}).get();
        TestPools.awaitCompleted(pool, 1);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("waiting"));
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);
        assertThatThrownBy(() -> pool.execute(task("late"))).isInstanceOf(RejectedExecutionException.class);
        time.advance(GRACE.minusNanos(1));
        assertThat(drained.isDone()).isFalse();

        blocker.release();

        assertThat(drained.get())
                .isEqualTo(new ShutdownReport(
                        "test", true, 1, 2, List.of(), List.of(), List.of(), 0, GRACE.minusNanos(1), Duration.ZERO));
        assertThat(ran).containsExactly("waiting");
        assertThat(blocker.interrupts()).isZero();
        assertThat(time.alarms()).isZero();
    }

    @EachQueue
    void at_the_deadline_running_tasks_are_interrupted_and_queued_tasks_are_handed_back(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pool(queueKind, 2);
        BlockingTask first = pools.occupy(pool);
        BlockingTask second = pools.occupy(pool);
        Runnable waiting = task("waiting");
        Callable<String> callable = () -> "never";
        pool.execute(waiting);
        Future<String> future = pool.submit(callable);
        Future<?> futureOfRunnable = pool.submit(waiting);
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);

        time.advance(GRACE);

        ShutdownReport report = drained.get();
        assertThat(report.terminated()).isTrue();
        assertThat(report.interrupted())
                .containsExactlyInAnyOrder(new Stopped(first, first), new Stopped(second, second));
        assertThat(report.handedBack())
                .containsExactly(
                        new Stopped(waiting, waiting),
                        new Stopped((Runnable) future, callable),
                        new Stopped((Runnable) futureOfRunnable, waiting));
        assertThat(report.stillRunning()).isEmpty();
        assertThat(report.completedBefore()).isZero();
        assertThat(report.completedDuring()).isZero();
        assertThat(report.waited()).isEqualTo(GRACE);
        assertThat(report.interrupting()).isZero();
        assertThat(report.accepted()).isEqualTo(5);
        assertThat(first.interrupts()).isEqualTo(1);
        assertThat(second.interrupts()).isEqualTo(1);
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void a_task_that_ignores_its_interrupt_is_reported_with_its_stack(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(2, 2, 10)
                .timeSource(time)
                .threadFactory(Thread.ofPlatform().name("worker-", 1).factory())
                .build());
        BlockingTask blocker = pools.occupy(pool);
        BlockingTask stubborn = pools.uninterruptible();
        pool.submit((Runnable) stubborn);
        stubborn.awaitBegun();
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);
        time.advance(GRACE);
        stubborn.awaitInterrupt();
        blocker.awaitInterrupt();
        blocker.thread().join();
        time.awaitAlarms(1);
        time.advance(LAST_WAIT.minusNanos(1));
        assertThat(drained.isDone()).isFalse();

        time.advance(Duration.ofNanos(1));

        ShutdownReport report = drained.get();
        assertThat(report.terminated()).isFalse();
        assertThat(report.interrupted()).containsExactly(new Stopped(blocker, blocker));
        assertThat(report.stillRunning()).singleElement().satisfies(running -> {
            assertThat(running.thread()).isEqualTo(stubborn.thread().getName());
            assertThat(running.task()).isSameAs(stubborn);
            assertThat(running.age()).isEqualTo(GRACE.plus(LAST_WAIT));
            assertThat(running.stack())
                    .extracting(StackTraceElement::getClassName)
                    .contains(BlockingTask.class.getName());
        });
        assertThat(report.waited()).isEqualTo(GRACE);
        assertThat(report.interrupting()).isEqualTo(LAST_WAIT);
        assertThat(report.accepted()).isEqualTo(2);
        assertThat(report.toString()).contains("\"test\"", "did not terminate").doesNotContain("\n");
        assertThat(pool.runState()).isEqualTo(RunState.STOP);
        stubborn.release();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
    }

    @EachQueue
    void the_last_wait_lasts_for_stuckAfter_and_then_ages_are_exact(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
                .timeSource(time)
                .stuckAfter(Duration.ofMinutes(1))
                .listener(new PoolListener() {})
                .build());
        BlockingTask stubborn = stubborn(pool);
        time.advance(Duration.ofSeconds(7));
        FutureTask<ShutdownReport> drained = new FutureTask<>(() -> pool.drain(GRACE));
        TestPools.awaitParkedIn(TestPools.started(drained), "drain");
        time.advance(GRACE);
        stubborn.awaitInterrupt();
        Wait.until(() -> {
            time.advance(Duration.ofSeconds(1));
            return drained.isDone();
        });

        ShutdownReport report = drained.get();
        assertThat(report.waited()).isEqualTo(GRACE);
        assertThat(report.interrupting()).isGreaterThanOrEqualTo(Duration.ofMinutes(1));
        assertThat(report.stillRunning())
                .singleElement()
                .extracting(ShutdownReport.StillRunning::age)
                .isEqualTo(Duration.ofSeconds(7).plus(GRACE).plus(report.interrupting()));
    }

    @EachQueue
    void a_task_is_reported_as_it_was_submitted_although_its_future_was_cancelled(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask stubborn = pools.uninterruptible();
        Future<?> future = pool.submit((Runnable) stubborn);
        stubborn.awaitBegun();
        future.cancel(false);
        FutureTask<ShutdownReport> drained = draining(pool, Duration.ofSeconds(1));
        time.advance(Duration.ofSeconds(1));
        stubborn.awaitInterrupt();
        time.awaitAlarms(1);
        time.advance(LAST_WAIT);

        assertThat(drained.get().stillRunning())
                .singleElement()
                .extracting(ShutdownReport.StillRunning::task)
                .isSameAs(stubborn);
    }

    @EachQueue
    void an_interrupted_task_is_reported_as_it_was_submitted(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 2);
        BlockingTask plain = pools.blocker();
        BlockingTask cancelled = pools.uninterruptible();
        Future<?> future = pool.submit((Runnable) plain);
        Future<?> cancelledFuture = pool.submit((Runnable) cancelled);
        plain.awaitBegun();
        cancelled.awaitBegun();
        cancelledFuture.cancel(false);
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);
        time.advance(GRACE);
        cancelled.awaitInterrupt();
        cancelled.release();

        assertThat(drained.get().interrupted())
                .containsExactlyInAnyOrder(
                        new Stopped((Runnable) future, plain), new Stopped((Runnable) cancelledFuture, cancelled));
    }

    @EachQueue
    void without_a_grace_period_all_tasks_are_interrupted_at_once(QueueKind queueKind) throws Exception {
        for (Duration grace : List.of(Duration.ZERO, Duration.ofSeconds(-1))) {
            ThreadPool pool = pool(queueKind, 1);
            BlockingTask blocker = pools.occupy(pool);
            pool.execute(task("never"));

            ShutdownReport report = pool.drain(grace);

            assertThat(report.terminated()).isTrue();
            assertThat(report.interrupted()).containsExactly(new Stopped(blocker, blocker));
            assertThat(report.handedBack()).hasSize(1);
            assertThat(report.waited()).isZero();
            assertThat(report.accepted()).isEqualTo(2);
        }
        assertThatNullPointerException().isThrownBy(() -> pool(queueKind, 1).drain(null));
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void an_interrupted_drain_interrupts_tasks_at_once_continues_to_wait_and_keeps_its_interrupt(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask stubborn = stubborn(pool);
        pool.execute(task("never"));
        List<Boolean> flags = new CopyOnWriteArrayList<>();
        FutureTask<ShutdownReport> drained = new FutureTask<>(() -> {
            ShutdownReport report = pool.drain(GRACE);
            flags.add(Thread.currentThread().isInterrupted());
            return report;
        });
        Thread drainer = TestPools.started(drained);
        time.awaitAlarms(1);
        TestPools.awaitParkedIn(drainer, "drain");

        drainer.interrupt();
        stubborn.awaitInterrupt();
        assertThat(pool.runState()).isEqualTo(RunState.STOP);
        drainer.interrupt(); // a second interrupt does not end the wait either
        TestPools.awaitParkedIn(drainer, "drain");
        assertThat(drained.isDone()).isFalse();
        stubborn.release();

        ShutdownReport report = drained.get();
        assertThat(report.terminated()).isTrue();
        assertThat(report.interrupted()).containsExactly(new Stopped(stubborn, stubborn));
        assertThat(report.handedBack()).hasSize(1);
        assertThat(report.waited()).isZero();
        assertThat(flags).containsExactly(true);
        assertThat(time.alarms()).isZero();
    }

    @EachQueue
    void a_pool_that_has_been_shut_down_before_can_be_drained(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("waiting"));
        pool.shutdown();
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);
        blocker.release();
        assertThat(drained.get().completedDuring()).isEqualTo(2);
        assertThat(drained.get().terminated()).isTrue();

        ShutdownReport again = pool.drain(GRACE);
        assertThat(again)
                .isEqualTo(new ShutdownReport(
                        "test", true, 2, 0, List.of(), List.of(), List.of(), 0, Duration.ZERO, Duration.ZERO));
    }

    @EachQueue
    void tasks_handed_back_by_an_earlier_stop_are_counted_as_removed(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        pools.occupy(pool);
        Runnable removed = task("removed");
        pool.execute(removed);
        pool.execute(task("handed back"));
        pool.execute(task("handed back"));
        pool.remove(removed);
        assertThat(pool.shutdownNow()).hasSize(2);
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();

        ShutdownReport report = pool.drain(GRACE);

        assertThat(report.handedBack()).isEmpty();
        assertThat(report.removed()).isEqualTo(3);
        assertThat(report.accepted()).isEqualTo(4);
    }

    @EachQueue
    void tasks_removed_during_the_drain_are_in_the_report(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        BlockingTask blocker = pools.occupy(pool);
        Runnable removed = task("removed");
        pool.execute(removed);
        pool.execute(task("waiting"));
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);

        assertThat(pool.remove(removed)).isTrue();
        blocker.release();

        assertThat(drained.get().completedDuring()).isEqualTo(2);
        assertThat(drained.get().removed()).isEqualTo(1);
        assertThat(drained.get().accepted()).isEqualTo(3);
    }

    @EachQueue
    void tasks_handed_back_to_another_caller_during_the_drain_are_in_the_report(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        pools.occupy(pool);
        pool.execute(task("waiting"));
        pool.execute(task("waiting"));
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);

        assertThat(pool.shutdownNow()).hasSize(2);

        assertThat(drained.get().terminated()).isTrue();
        assertThat(drained.get().handedBack()).isEmpty();
        assertThat(drained.get().accepted()).isEqualTo(3);
    }

    @EachQueue
    void tasks_dropped_by_the_discard_oldest_policy_are_in_the_report(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 1)
                .timeSource(time)
                .rejection(new ThreadPool.DiscardOldestPolicy())
                .build());
        pools.occupy(pool);
        pool.execute(task("dropped"));
        pool.execute(task("dropped"));
        pool.execute(task("waiting"));

        ShutdownReport report = pool.drain(Duration.ZERO);

        assertThat(report.handedBack()).hasSize(1);
        assertThat(report.removed()).isEqualTo(2);
        assertThat(report.accepted()).isEqualTo(4);
    }

    @EachQueue
    void a_task_that_failed_is_completed(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 10)
                .timeSource(time)
                .threadFactory(task -> {
                    Thread thread = new Thread(task);
                    thread.setUncaughtExceptionHandler((dying, thrown) -> ran.add(thrown.getMessage()));
                    return thread;
                })
                .build());
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        pool.execute(task("behind"));
        FutureTask<ShutdownReport> drained = draining(pool, GRACE);
        blocker.release();

        assertThat(drained.get().completedDuring()).isEqualTo(3);
        assertThat(drained.get().accepted()).isEqualTo(3);
    }

    @EachQueue
    void a_task_that_drains_its_own_pool_is_still_running(QueueKind queueKind) throws Exception {
        ThreadPool pool = pool(queueKind, 1);
        List<ShutdownReport> reports = new CopyOnWriteArrayList<>();
        Runnable drainer = () -> {
            reports.add(pool.drain(Duration.ZERO));
            ran.add("interrupted " + Thread.currentThread().isInterrupted());
        };
        pool.execute(drainer);
        time.awaitAlarms(1);
        Wait.until(() -> {
            time.advance(LAST_WAIT);
            return pool.isTerminated();
        });

        assertThat(reports).singleElement().satisfies(report -> {
            assertThat(report.terminated()).isFalse();
            assertThat(report.stillRunning())
                    .extracting(ShutdownReport.StillRunning::task)
                    .containsExactly(drainer);
            assertThat(report.accepted()).isEqualTo(1);
        });
        assertThat(ran).containsExactly("interrupted true");
    }

    @EachQueue
    void the_report_of_a_drain_is_complete_although_tasks_are_submitted_meanwhile(QueueKind queueKind)
            throws Exception {
        for (int round = 0; round < 100; round++) {
            ThreadPool pool = queueKind.pool(round % 2, 2, 20);
            AtomicLong accepted = new AtomicLong();
            AtomicInteger runs = new AtomicInteger();
            Callable<Object> submitter = () -> {
                for (int task = 0; task < 50; task++) {
                    try {
                        pool.execute(runs::incrementAndGet);
                        accepted.incrementAndGet();
                    } catch (RejectedExecutionException rejected) {
                        Thread.onSpinWait();
                    }
                }
                return null;
            };
            List<ShutdownReport> reports = new CopyOnWriteArrayList<>();
            Duration grace = round % 3 == 0 ? Duration.ofHours(1) : Duration.ZERO;
            Together.together(List.of(submitter, submitter, () -> reports.add(pool.drain(grace))));

            ShutdownReport report = reports.getFirst();
            assertThat(report.terminated()).isTrue();
            assertThat(report.accepted()).isEqualTo(accepted.get());
            assertThat(report.completedBefore()
                            + report.completedDuring()
                            + report.interrupted().size())
                    .isEqualTo(runs.get());
            assertThat(report.handedBack().size()).isEqualTo(accepted.get() - runs.get());
        }
    }

    @EachQueue
    void two_concurrent_drains_hand_back_each_task_once(QueueKind queueKind) throws Exception {
        for (int round = 0; round < 50; round++) {
            ThreadPool pool = pools.of(queueKind, 1, 1, 100);
            pools.occupy(pool);
            for (int task = 0; task < 100; task++) {
                pool.execute(() -> ran.add("never"));
            }
            List<Stopped> handedBack = new CopyOnWriteArrayList<>();
            Callable<Object> drainer =
                    () -> handedBack.addAll(pool.drain(Duration.ZERO).handedBack());

            Together.together(List.of(drainer, drainer));

            assertThat(handedBack).hasSize(100);
            assertThat(pool.stats().handedBack()).isEqualTo(100);
        }
        assertThat(ran).isEmpty();
    }

    @Test
    void a_task_that_an_earlier_stop_has_interrupted_has_completed_before_the_drain() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("p").threads(2).build());
        BlockingTask interrupted = pools.occupy(pool);
        BlockingTask stubborn = stubborn(pool);
        pool.shutdownNow();
        TestPools.awaitCompleted(pool, 1, 1);
        stubborn.release();

        ShutdownReport report = pool.drain(GRACE);

        assertThat(interrupted.interrupts()).isEqualTo(1);
        assertThat(report.completedBefore() + report.completedDuring()).isEqualTo(2);
        assertThat(report.completedBefore()).isPositive();
        assertThat(report.completedDuring()).isNotNegative();
        assertThat(report.interrupted()).isEmpty();
    }

    @Test
    void a_future_whose_cancellation_throws_keeps_no_other_from_being_handed_back_and_cancelled() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("p").threads(1).build());
        pools.occupy(pool);
        List<FutureTask<?>> futures = List.of(full("a"), full("b"));
        futures.forEach(pool::execute);
        List<String> reported = new CopyOnWriteArrayList<>();
        FutureTask<List<Runnable>> handedBack = new FutureTask<>(pool::shutdownNow);

        Thread.ofPlatform()
                .uncaughtExceptionHandler((thread, failure) -> reported.add(failure.getMessage()))
                .start(handedBack);

        assertThat(handedBack.get()).isEqualTo(futures);
        assertThat(futures).allMatch(Future::isCancelled);
        assertThat(reported).containsExactly("a: the queue is full", "b: the queue is full");
    }

    /** Returns a future like those of an ExecutorCompletionService whose queue is full. */
    private static FutureTask<?> full(String name) {
        return new FutureTask<>(() -> name) {
            @Override
            protected void done() {
                throw new IllegalStateException(name + ": the queue is full");
            }
        };
    }

    @EachQueue
    void handed_back_futures_are_not_cancelled_on_request(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 1, 10).cancelHandedBack(false).build());
        pools.occupy(pool);
        Future<?> future = pool.submit(task("never"));
        Runnable plain = task("never");
        pool.execute(plain);

        ShutdownReport report = pool.drain(Duration.ZERO);

        assertThat(future.isDone()).isFalse();
        assertThat(report.handedBack()).extracting(Stopped::cancel).containsExactly(true, false);
        assertThat(future.isCancelled()).isTrue();
        assertThat(report.handedBack().getFirst().cancel()).as("a second time").isFalse();
    }

    @EachQueue
    void handed_back_futures_are_cancelled_by_default(QueueKind queueKind) throws Exception {
        ThreadPool stopped = pools.keep(queueKind.plan(1, 1, 10).build());
        pools.occupy(stopped);
        Future<?> returned = stopped.submit(task("never"));
        assertThat(stopped.shutdownNow()).containsExactly((Runnable) returned);
        assertThat(returned.isCancelled()).isTrue();

        ThreadPool drained = pools.keep(queueKind.plan(1, 1, 10).build());
        pools.occupy(drained);
        Callable<String> callable = () -> "never";
        Future<String> future = drained.submit(callable);
        ShutdownReport report = drained.drain(Duration.ZERO);
        assertThat(future.isCancelled()).isTrue();
        assertThat(report.handedBack())
                .as("and still has the submitted task")
                .containsExactly(new Stopped((Runnable) future, callable));
    }

    @EachQueue
    void futures_dropped_by_a_policy_are_cancelled_by_default(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 1)
                .rejection(new ThreadPool.DiscardPolicy())
                .build());
        pools.occupy(pool);
        Future<?> oldest = pool.submit(task("never"));
        assertThat(pool.submit(task("never")).isCancelled()).isTrue();

        pool.setRejectionHandler(new ThreadPool.DiscardOldestPolicy());
        Future<?> newest = pool.submit(task("never"));
        assertThat(oldest.isCancelled()).isTrue();
        assertThat(newest.isDone()).isFalse();

        pool.shutdown();
        assertThat(pool.submit(task("never")).isCancelled()).isTrue();
        pool.setRejectionHandler(new ThreadPool.CallerRunsPolicy());
        assertThat(pool.submit(task("never")).isCancelled()).isTrue();
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void futures_dropped_by_a_policy_are_not_cancelled_on_request(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 1)
                .cancelHandedBack(false)
                .rejection(new ThreadPool.DiscardOldestPolicy())
                .build());
        pools.occupy(pool);
        Future<?> oldest = pool.submit(task("never"));
        pool.submit(task("never"));

        assertThat(oldest.isDone()).isFalse();
        assertThat(oldest.cancel(false)).isTrue();
    }

    @EachQueue
    void an_interrupt_for_idle_threads_never_reaches_a_task(QueueKind queueKind) throws Exception {
        AtomicInteger interrupted = new AtomicInteger();
        AtomicInteger runs = new AtomicInteger();
        ThreadPool pool = pools.of(queueKind, 2, 4, 100);
        Callable<Object> submitter = () -> {
            for (int i = 0; i < 400; i++) {
                int before = i;
                pool.execute(() -> {
                    if (Thread.currentThread().isInterrupted()) {
                        interrupted.incrementAndGet();
                    }
                    runs.incrementAndGet();
                });
                Wait.until(() -> runs.get() > before);
            }
            return null;
        };
        Callable<Object> meddler = () -> {
            while (runs.get() < 400) {
                pool.setCorePoolSize(1);
                pool.setMaximumPoolSize(1);
                pool.setKeepAliveTime(1, TimeUnit.NANOSECONDS);
                pool.allowCoreThreadTimeOut(true);
                pool.allowCoreThreadTimeOut(false);
                pool.setMaximumPoolSize(4);
                pool.setCorePoolSize(2);
                pool.setKeepAliveTime(1, TimeUnit.HOURS);
            }
            return null;
        };

        Together.together(List.of(submitter, meddler));

        assertThat(interrupted).hasValue(0);
        assertThat(pool.getTaskCount()).isEqualTo(400);
    }
}
