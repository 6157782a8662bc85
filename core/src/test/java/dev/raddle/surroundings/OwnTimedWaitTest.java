package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.GroupTask;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.StructuredTaskScope;
import dev.raddle.scope.ThreadScope;
import dev.raddle.structured.StructuredTaskScope.CancelledByTimeoutException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Task;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.Wait;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A caller's own wait with a time limit ends although no alarm of real time fires. */
@Timeout(60)
class OwnTimedWaitTest {

    private static final Duration SHORT = Duration.ofMillis(20);

    private final CountDownLatch release = new CountDownLatch(1);
    private final CountDownLatch hold = new CountDownLatch(1);
    private final GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
            GroupPolicy.builder().defaultMaxConcurrencyPerGroup(1).build());

    /** Occupies the thread of the alarms, so that none fires before {@link #release}. */
    @BeforeEach
    void blockAlarms() throws InterruptedException {
        CountDownLatch blocked = new CountDownLatch(1);
        TimeSource.system().after(Duration.ZERO, () -> {
            blocked.countDown();
            Wait.uninterruptibly(release);
        });
        blocked.await();
    }

    @AfterEach
    void unblockAlarms() {
        release.countDown();
        hold.countDown();
        groups.close();
    }

    private TaskHandle<Integer> occupyGroup() throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        TaskHandle<Integer> holder = groups.submit("held", () -> {
            begun.countDown();
            hold.await();
            return 1;
        });
        begun.await();
        return holder;
    }

    @Test
    void tryCall_of_a_group_that_is_full_returns_empty_after_its_timeout() throws Exception {
        occupyGroup();

        assertThat(groups.tryCall("held", SHORT, () -> 1)).isEmpty();

        assertThat(groups.groupStats("held").orElseThrow().queuedCount()).isZero();
    }

    @Test
    void call_is_rejected_after_its_queue_timeout() throws Exception {
        occupyGroup();

        assertThatThrownBy(
                        () -> groups.call("held", TaskSpec.named("a", () -> 1).queueTimeout(SHORT)))
                .isInstanceOf(RejectedTaskException.class);

        assertThat(groups.groupStats("held").orElseThrow().queuedCount()).isZero();
    }

    @Test
    void call_ends_when_the_timeout_of_the_task_passes_while_it_waits() throws Exception {
        occupyGroup();

        assertThatThrownBy(
                        () -> groups.call("held", TaskSpec.named("a", () -> 1).timeout(SHORT)))
                .isInstanceOf(TaskTimeoutException.class);

        assertThat(groups.groupStats("held").orElseThrow().queuedCount()).isZero();
    }

    @Test
    void call_runs_if_the_slot_becomes_free_before_its_timeouts() throws Exception {
        occupyGroup();
        TaskSpec<Integer> spec =
                TaskSpec.named("a", () -> 2).queueTimeout(Duration.ofHours(1)).timeout(Duration.ofHours(2));
        FutureTask<Integer> caller = new FutureTask<>(() -> groups.call("held", spec));
        Thread.ofPlatform().daemon().start(caller);
        Wait.until(() -> groups.groupStats("held").orElseThrow().queuedCount() == 1);

        hold.countDown();

        assertThat(caller.get()).isEqualTo(2);
    }

    @Test
    void a_caller_waits_between_two_attempts() throws Exception {
        AtomicInteger attempts = new AtomicInteger();

        int value = groups.call(
                "free",
                TaskSpec.named("a", () -> {
                            if (attempts.incrementAndGet() == 1) {
                                throw new IllegalStateException("first");
                            }
                            return 2;
                        })
                        .retry(RetryPolicy.fixedDelay(2, SHORT)));

        assertThat(value).isEqualTo(2);
    }

    @Test
    void waits_for_tasks_of_a_group_end_after_their_timeouts() throws Exception {
        TaskHandle<Integer> holder = occupyGroup();

        assertThat(holder.await(20, TimeUnit.MILLISECONDS).error()).isInstanceOf(TimeoutException.class);
        assertThat(holder.join(20, TimeUnit.MILLISECONDS).error()).isInstanceOf(TimeoutException.class);
        List<GroupResult<Integer>> results = groups.executeAll(List.of(new GroupTask<>("held", "a", () -> 1)), SHORT);
        assertThat(results.getFirst().error()).isInstanceOf(TimeoutException.class);
    }

    @Test
    void waits_for_groups_end_after_their_timeouts() throws Exception {
        occupyGroup();

        assertThat(groups.awaitIdle("held", SHORT)).isFalse();
        assertThat(groups.awaitIdle(SHORT)).isFalse();
        assertThat(groups.shutdownGroup("held", SHORT)).isFalse();
        occupyGroup();
        assertThat(groups.shutdown(SHORT)).isFalse();
    }

    @Test
    void close_of_an_executor_stops_its_tasks_after_the_close_timeout() throws Exception {
        CountDownLatch begun = new CountDownLatch(1);
        TaskHandle<Integer> endless;
        try (GroupExecutor closing = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().closeTimeout(SHORT).build())) {
            endless = closing.submit("a", () -> {
                begun.countDown();
                hold.await();
                return 1;
            });
            begun.await();
        }

        assertThat(endless.join().status()).isEqualTo(TaskStatus.CANCELLED);
    }

    @Test
    void a_wait_for_a_task_of_a_scope_ends_after_its_timeout() throws Exception {
        try (ThreadScope scope = ThreadScope.open("s")) {
            Task<Integer> task = scope.submit(() -> {
                hold.await();
                return 1;
            });

            assertThatThrownBy(() -> task.await(SHORT)).isInstanceOf(TimeoutException.class);
            hold.countDown();
        }
    }

    @Test
    void joins_of_structured_scopes_end_at_their_deadlines() throws Exception {
        try (var scope = new StructuredTaskScope<Integer>()) {
            scope.fork(() -> {
                hold.await();
                return 1;
            });

            assertThatThrownBy(() -> scope.joinUntil(Instant.now().plus(SHORT))).isInstanceOf(TimeoutException.class);
            scope.shutdown();
        }
        try (var scope = dev.raddle.structured.StructuredTaskScope.<Integer>open(with -> with.withTimeout(SHORT))) {
            scope.fork(() -> {
                hold.await();
                return 1;
            });

            assertThatThrownBy(scope::join).hasCauseInstanceOf(CancelledByTimeoutException.class);
            assertThat(scope.isCancelled()).isTrue();
        }
    }

    @Test
    void waits_for_the_end_of_a_pool_end_after_their_timeouts() throws Exception {
        ThreadPool pool = ThreadPool.builder("p").threads(1).build();
        CountDownLatch begun = new CountDownLatch(1);
        pool.submit(() -> {
            begun.countDown();
            hold.await();
            return 1;
        });
        begun.await();

        assertThat(pool.awaitTermination(20, TimeUnit.MILLISECONDS)).isFalse();
        assertThat(pool.drain(SHORT).interrupted()).hasSize(1);
    }

    @Test
    void waits_for_the_queue_of_a_pool_end_after_their_timeouts() throws Exception {
        try (ThreadPool pool = ThreadPool.builder("p")
                .threads(1)
                .queueCapacity(1)
                .rejection(new ThreadPool.BlockPolicy(SHORT))
                .build()) {
            assertThat(pool.getQueue().poll(20, TimeUnit.MILLISECONDS)).isNull();
            pool.execute(() -> Wait.uninterruptibly(hold));
            pool.execute(() -> {}); // fills the queue as soon as the worker has the first task

            assertThat(pool.getQueue().offer(() -> {}, 20, TimeUnit.MILLISECONDS))
                    .isFalse();
            assertThatThrownBy(() -> pool.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
            hold.countDown();
        }
    }

    @Test
    void idle_threads_of_a_pool_end_after_their_keep_alive_whatever_the_queue() throws Exception {
        for (boolean ownQueue : new boolean[] {true, false}) {
            CountDownLatch ran = new CountDownLatch(1);
            Thread[] worker = {null};
            var plan = ThreadPool.builder("p").threads(1).keepAlive(SHORT).allowCoreTimeout(true);
            try (ThreadPool pool = (ownQueue ? plan : plan.queue(new LinkedBlockingQueue<>())).build()) {
                pool.execute(() -> {
                    worker[0] = Thread.currentThread();
                    ran.countDown();
                });
                ran.await();

                worker[0].join();

                assertThat(pool.getPoolSize()).isZero();
            }
        }
    }
}
