package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class BlockPolicyTest {

    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final TestPools pools = new TestPools();
    private final VirtualTime time = new VirtualTime();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private ThreadPool blocking(QueueKind queueKind, int core, int max, int capacity) {
        return pools.keep(queueKind
                .plan(core, max, capacity)
                .rejection(new ThreadPool.BlockPolicy())
                .timeSource(time)
                .build());
    }

    private ThreadPool blockingFor(QueueKind queueKind, Duration timeout) {
        return pools.keep(queueKind
                .plan(1, 1, 1)
                .rejection(new ThreadPool.BlockPolicy(timeout))
                .timeSource(time)
                .build());
    }

    /** Submits a task to a full pool in another thread, and returns when that thread waits. */
    private FutureTask<Boolean> blocked(ThreadPool pool, String name, List<Thread> submitters) {
        FutureTask<Boolean> submission = new FutureTask<>(() -> {
            try {
                pool.execute(() -> ran.add(name));
                return Thread.currentThread().isInterrupted();
            } catch (RejectedExecutionException rejected) {
                ran.add(Thread.currentThread().isInterrupted() ? "interrupted " + name : "rejected " + name);
                throw rejected;
            }
        });
        Thread submitter = TestPools.started(submission);
        submitters.add(submitter);
        TestPools.awaitParkedIn(submitter, "rejected");
        return submission;
    }

    private FutureTask<Boolean> blocked(ThreadPool pool, String name) {
        return blocked(pool, name, new ArrayList<>());
    }

    private BlockingTask fill(ThreadPool pool) throws InterruptedException {
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(() -> ran.add("waiting"));
        return blocker;
    }

    @EachQueue
    void a_submitter_waits_until_the_queue_has_capacity(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = fill(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");
        assertThat(submission.isDone()).isFalse();
        assertThat(pool.getTaskCount()).isEqualTo(2);

        blocker.release();

        assertThat(submission.get()).isFalse();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("waiting", "late");
        assertThat(pool.stats().rejected()).isZero();
        assertThat(pool.stats().accepted()).isEqualTo(3);
    }

    @EachQueue
    void submitters_are_served_in_the_order_of_their_arrival(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = fill(pool);
        List<FutureTask<Boolean>> submissions = new ArrayList<>();
        List<String> expected = new ArrayList<>(List.of("waiting"));
        for (int i = 0; i < 8; i++) {
            submissions.add(blocked(pool, "late " + i));
            expected.add("late " + i);
        }

        blocker.release();

        for (FutureTask<Boolean> submission : submissions) {
            submission.get();
        }
        TestPools.awaitCompleted(pool, 10);
        assertThat(ran).isEqualTo(expected);
    }

    @EachQueue
    void removing_and_purging_make_room_for_a_submitter(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        Runnable removed = () -> ran.add("removed");
        pool.execute(removed);
        FutureTask<Boolean> first = blocked(pool, "first");

        assertThat(pool.remove(removed)).isTrue();

        first.get();
        FutureTask<Object> cancelled = new FutureTask<>(() -> "never");
        assertThat(pool.getQueue().poll()).isNotNull();
        pool.execute(cancelled);
        FutureTask<Boolean> second = blocked(pool, "second");
        cancelled.cancel(false);
        pool.purge();
        second.get();
        blocker.release();
        TestPools.awaitCompleted(pool, 2);
        assertThat(ran).containsExactly("second");
    }

    @EachQueue
    void a_submitter_gets_the_room_that_a_caller_has_made_in_the_queue(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = fill(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");

        pool.getQueue().poll(); // a queue of the user does not notify the pool
        blocker.release();

        assertThat(submission.get()).isFalse();
        TestPools.awaitCompleted(pool, 2);
        assertThat(ran).containsExactly("late");
    }

    @EachQueue
    void a_submitter_gets_the_thread_that_a_raised_maximum_allows(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        fill(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");

        pool.setMaximumPoolSize(2);

        submission.get();
        Wait.until(() -> pool.getCompletedTaskCount() > 0);
        assertThat(pool.getLargestPoolSize()).isEqualTo(2);
    }

    @EachQueue
    void a_submitter_gets_the_thread_that_a_raised_core_size_allows(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 2, 1);
        List<BlockingTask> blockers = pools.occupy(pool, 1);
        pool.execute(() -> ran.add("waiting"));
        blockers.addAll(pools.occupy(pool, 1));
        FutureTask<Boolean> submission = blocked(pool, "late");
        pool.setMaximumPoolSize(3);

        pool.setCorePoolSize(3);

        submission.get();
        assertThat(pool.getLargestPoolSize()).isEqualTo(3);
    }

    @Test
    void a_larger_capacity_makes_room_for_submitters() throws Exception {
        ThreadPool pool = blocking(QueueKind.BUILT_IN, 1, 1, 1);
        BlockingTask blocker = fill(pool);
        FutureTask<Boolean> first = blocked(pool, "first");
        FutureTask<Boolean> second = blocked(pool, "second");

        pool.setQueueCapacity(3);

        first.get();
        second.get();
        assertThat(pool.getQueue()).hasSize(3);
        blocker.release();
        TestPools.awaitCompleted(pool, 4);
        assertThat(ran).startsWith("waiting");
    }

    @Test
    void with_a_direct_handoff_queue_a_submitter_is_accepted_when_a_thread_is_idle() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("direct")
                .threads(1)
                .queue(new SynchronousQueue<>())
                .rejection(new ThreadPool.BlockPolicy())
                .timeSource(time)
                .build());
        BlockingTask blocker = pools.occupy(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");

        blocker.release();

        assertThat(submission.get()).isFalse();
        TestPools.awaitCompleted(pool, 2);
        assertThat(ran).containsExactly("late");
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void a_submitter_is_rejected_when_its_timeout_elapses_and_not_before(QueueKind queueKind) throws Exception {
        ThreadPool pool = blockingFor(queueKind, TIMEOUT);
        BlockingTask blocker = fill(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");
        time.advance(TIMEOUT.minusNanos(1));
        assertThat(submission.isDone()).isFalse();

        time.advance(Duration.ofNanos(1));

        assertThatThrownBy(submission::get)
                .cause()
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("PT3S");
        assertThat(pool.stats().rejected()).isEqualTo(1);
        assertThat(pool.stats().accepted()).isEqualTo(2);
        blocker.release();
        TestPools.awaitCompleted(pool, 2);
        assertThat(ran).containsExactly("rejected late", "waiting");
        assertThat(time.alarms()).isZero();
    }

    @EachQueue
    void an_accepted_submitter_leaves_no_alarm_behind(QueueKind queueKind) throws Exception {
        ThreadPool pool = blockingFor(queueKind, TIMEOUT);
        BlockingTask blocker = fill(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");
        assertThat(time.alarms()).isEqualTo(1);

        blocker.release();

        submission.get();
        assertThat(time.alarms()).isZero();
        time.advance(Duration.ofDays(1));
        TestPools.awaitCompleted(pool, 3);
        assertThat(pool.stats().rejected()).isZero();
    }

    @EachQueue
    void with_a_zero_timeout_a_submitter_is_rejected_at_once(QueueKind queueKind) throws Exception {
        ThreadPool pool = blockingFor(queueKind, Duration.ZERO);
        fill(pool);

        assertThatThrownBy(() -> pool.execute(() -> ran.add("never"))).isInstanceOf(RejectedExecutionException.class);

        assertThat(pool.getTaskCount()).isEqualTo(2);
    }

    @EachQueue
    void an_interrupted_submitter_does_not_block_the_next(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = fill(pool);
        List<Thread> submitters = new ArrayList<>();
        FutureTask<Boolean> withdrawn = blocked(pool, "withdrawn", submitters);
        FutureTask<Boolean> next = blocked(pool, "next");
        submitters.getFirst().interrupt();
        assertThatThrownBy(withdrawn::get).hasCauseInstanceOf(RejectedExecutionException.class);

        blocker.release();

        next.get();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("interrupted withdrawn", "waiting", "next");
    }

    @EachQueue
    void an_interrupted_submitter_is_rejected_and_keeps_its_interrupt(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        fill(pool);
        Thread.currentThread().interrupt();

        assertThatThrownBy(() -> pool.execute(() -> ran.add("never"))).isInstanceOf(RejectedExecutionException.class);

        assertThat(Thread.interrupted()).isTrue();
        assertThat(pool.getTaskCount()).isEqualTo(2);
        List<Thread> submitters = new ArrayList<>();
        FutureTask<Boolean> submission = blocked(pool, "late", submitters);
        submitters.getFirst().interrupt();
        assertThatThrownBy(submission::get).hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(ran).containsExactly("interrupted late");
        assertThat(pool.stats().rejected()).isEqualTo(2);
    }

    @EachQueue
    void shutdown_rejects_all_waiting_submitters(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = fill(pool);
        List<FutureTask<Boolean>> submissions = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            submissions.add(blocked(pool, "late"));
        }

        pool.shutdown();

        for (FutureTask<Boolean> submission : submissions) {
            assertThatThrownBy(submission::get).hasCauseInstanceOf(RejectedExecutionException.class);
        }
        assertThatThrownBy(() -> pool.execute(() -> ran.add("never")))
                .as("no wait after shutdown")
                .isInstanceOf(RejectedExecutionException.class);
        blocker.release();
        pool.close();
        assertThat(ran).containsExactly("rejected late", "rejected late", "rejected late", "waiting");
        assertThat(pool.stats().rejected()).isEqualTo(4);
    }

    @EachQueue
    void shutdownNow_rejects_all_waiting_submitters(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        fill(pool);
        FutureTask<Boolean> submission = blocked(pool, "late");

        assertThat(pool.shutdownNow()).hasSize(1);

        assertThatThrownBy(submission::get).hasCauseInstanceOf(RejectedExecutionException.class);
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(ran).containsExactly("rejected late");
    }

    @EachQueue
    void a_task_that_submits_to_its_own_full_pool_does_not_wait_for_itself(QueueKind queueKind) throws Exception {
        ThreadPool pool = blocking(queueKind, 1, 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(() -> {
            pool.execute(() -> ran.add("queued"));
            pool.execute(() -> ran.add("inside"));
            ran.add("outside");
        });
        blocker.release();
        TestPools.awaitCompleted(pool, 3);

        assertThat(ran).containsExactly("inside", "outside", "queued");
    }

    @EachQueue
    void many_submitters_with_a_small_queue_lose_no_task(QueueKind queueKind) throws Exception {
        AtomicInteger runs = new AtomicInteger();
        ThreadPool pool = blocking(queueKind, 1, 2, 2);
        List<Callable<Object>> submitters = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            submitters.add(() -> {
                for (int task = 0; task < 1_000; task++) {
                    pool.execute(runs::incrementAndGet);
                }
                return null;
            });
        }

        Together.together(submitters);
        pool.close();

        assertThat(runs).hasValue(4_000);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(4_000);
        assertThat(pool.stats().rejected()).isZero();
    }

    /** A direct handoff queue whose takers signal their arrival and continue only when they are interrupted. */
    private static final class SlowQueue extends SynchronousQueue<Runnable> {
        private static final long serialVersionUID = 1;

        final transient CountDownLatch come = new CountDownLatch(1);
        final transient CountDownLatch never = new CountDownLatch(1);
        final AtomicInteger offers = new AtomicInteger();

        @Override
        public boolean offer(Runnable task) {
            offers.incrementAndGet();
            return super.offer(task);
        }

        @Override
        public Runnable take() throws InterruptedException {
            come.countDown();
            never.await();
            return super.take();
        }
    }

    @Test
    void a_submitter_does_not_poll_for_a_thread_that_is_about_to_wait() throws Exception {
        SlowQueue queue = new SlowQueue();
        ThreadPool pool = pools.keep(ThreadPool.builder("direct")
                .threads(1)
                .queue(queue)
                .rejection(new ThreadPool.BlockPolicy())
                .timeSource(time)
                .build());
        pool.prestartAllCoreThreads();
        queue.come.await(); // the thread is idle, and takes no offered task

        pool.execute(() -> ran.add("handed over"));

        TestPools.awaitCompleted(pool, 1);
        assertThat(ran).containsExactly("handed over");
        assertThat(queue.offers).hasValueLessThanOrEqualTo(2);
        assertThat(pool.stats().accepted()).isEqualTo(1);
    }

    private ThreadPool direct(UnaryOperator<PoolBuilder> rules) {
        return pools.keep(rules.apply(ThreadPool.builder("direct")
                        .queue(new SynchronousQueue<>())
                        .rejection(new ThreadPool.BlockPolicy()))
                .build());
    }

    @Test
    void many_submitters_with_a_direct_handoff_queue_lose_no_task() throws Exception {
        for (ThreadPool pool : List.of(
                direct(rules -> rules.threads(1)),
                direct(rules -> rules.threads(3)),
                direct(rules -> rules.coreThreads(0).maxThreads(1).keepAlive(Duration.ZERO)),
                direct(rules -> rules.coreThreads(0).maxThreads(2).keepAlive(Duration.ofNanos(1))))) {
            AtomicInteger runs = new AtomicInteger();
            AtomicInteger running = new AtomicInteger();
            AtomicInteger most = new AtomicInteger();
            Callable<Object> submitter = () -> {
                for (int task = 0; task < 500; task++) {
                    pool.execute(() -> {
                        most.accumulateAndGet(running.incrementAndGet(), Math::max);
                        runs.incrementAndGet();
                        running.decrementAndGet();
                    });
                }
                return null;
            };

            Together.together(Collections.nCopies(4, submitter));
            pool.close();

            assertThat(runs).hasValue(2_000);
            assertThat(pool.getCompletedTaskCount()).isEqualTo(2_000);
            assertThat(most.get()).isLessThanOrEqualTo(pool.getMaximumPoolSize());
        }
    }

    @Test
    void a_submitter_that_waits_for_a_thread_is_rejected_by_timeout_and_by_shutdown() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("direct")
                .threads(1)
                .queue(new SynchronousQueue<>())
                .rejection(new ThreadPool.BlockPolicy(TIMEOUT))
                .timeSource(time)
                .build());
        BlockingTask blocker = pools.occupy(pool);
        FutureTask<Boolean> first = blocked(pool, "first");
        time.advance(TIMEOUT);
        assertThatThrownBy(first::get).hasCauseInstanceOf(RejectedExecutionException.class);
        FutureTask<Boolean> second = blocked(pool, "second");

        pool.shutdown();

        assertThatThrownBy(second::get).hasCauseInstanceOf(RejectedExecutionException.class);
        blocker.release();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(ran).containsExactly("rejected first", "rejected second");
        assertThat(pool.stats().accepted()).isEqualTo(1);
    }

    @Test
    void a_submitter_gets_a_new_thread_when_the_last_one_ends() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("direct")
                .threads(1)
                .queue(new SynchronousQueue<>())
                .rejection(new ThreadPool.BlockPolicy())
                .threadFactory(worker -> {
                    Thread thread = new Thread(worker);
                    thread.setUncaughtExceptionHandler((dying, thrown) -> {});
                    return thread;
                })
                .build());
        CountDownLatch release = new CountDownLatch(1);
        CountDownLatch begun = new CountDownLatch(1);
        pool.execute(() -> {
            begun.countDown();
            Wait.uninterruptibly(release);
            throw new IllegalStateException("simulated");
        });
        begun.await();
        FutureTask<Boolean> submission = blocked(pool, "late");

        release.countDown();

        submission.get();
        TestPools.awaitCompleted(pool, 2);
        assertThat(ran).containsExactly("late");
    }

    @Test
    void a_null_timeout_is_rejected() {
        assertThatNullPointerException().isThrownBy(() -> new ThreadPool.BlockPolicy(null));
    }
}
