package dev.raddle.surroundings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupTask;
import dev.raddle.group.TaskHandle;
import dev.raddle.pool.ThreadPool;
import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.structured.StructuredTaskScope;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Outcome;
import dev.raddle.task.Rate;
import dev.raddle.task.Task;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.VirtualTime;
import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** While the thread that an alarm needs cannot be started, tasks settle, and later everything goes on. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NoThreadCanBeStartedTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Queue<Throwable> reported = new ConcurrentLinkedQueue<>();
    private final ExceptionSink sink = ExceptionSink.to((source, failure) -> reported.add(failure));
    private final ScarceTime time = new ScarceTime();

    /** A time source that needs a thread for each alarm, of which there may be none. */
    private static final class ScarceTime implements TimeSource {
        final VirtualTime time = new VirtualTime();
        volatile boolean hasThreads = true;
        volatile boolean isBroken; // alarms cannot be cancelled

        @Override
        public long nanoTime() {
            return time.nanoTime();
        }

        @Override
        public Alarm after(Duration delay, Runnable action) {
            if (!hasThreads) {
                throw new OutOfMemoryError("unable to create native thread");
            }
            Alarm armed = time.after(delay, action);
            return isBroken ? ScarceTime::cannotCancel : armed;
        }

        private static boolean cannotCancel() {
            throw new IllegalStateException("planned");
        }

        @Override
        public boolean follow(Runnable action) {
            return time.follow(action);
        }
    }

    private GroupPolicy.Builder policy() {
        return GroupPolicy.builder().timeSource(time).exceptionSink(sink).closeTimeout(Duration.ZERO);
    }

    @Test
    void a_task_that_has_returned_settles_although_its_idle_group_gets_no_alarm() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            time.hasThreads = false;

            assertThat(executor.submit("key", () -> 1).await().value()).isEqualTo(1);

            assertThat(reported).hasExactlyElementsOfTypes(OutOfMemoryError.class);
            time.hasThreads = true;
            executor.submit("other", () -> 1).await();
            time.time.advance(Duration.ofDays(1));
            assertThat(executor.activeGroupKeys())
                    .as("the alarm was armed later")
                    .isEmpty();
        }
    }

    @Test
    void tasks_that_wait_for_a_rate_start_after_an_alarm_of_a_later_task() throws Exception {
        for (GroupPolicy.Builder policy : List.of(
                policy().defaultRatePerGroup(Rate.perSecond(1).burst(1)),
                policy().globalRate(Rate.perSecond(1).burst(1)))) {
            time.hasThreads = true;
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                    policy.idleGroupTtl(Duration.ZERO).build())) {
                executor.submit("key", () -> 1).await();
                time.hasThreads = false;
                TaskHandle<Integer> second = executor.submit("key", () -> 2);
                assertThat(reported).isNotEmpty();

                time.hasThreads = true;
                TaskHandle<Integer> third = executor.submit("key", () -> 3);

                time.time.advance(SECOND);
                assertThat(second.await().value()).isEqualTo(2);
                time.time.advance(SECOND);
                assertThat(third.await().value()).isEqualTo(3);
            }
        }
    }

    @Test
    void a_submission_whose_timeout_cannot_be_armed_throws_and_has_no_effect() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                policy().defaultMaxConcurrencyPerGroup(1).build())) {
            executor.submit("held", () -> {
                end.await();
                return 1;
            });
            time.hasThreads = false;
            TaskSpec<Integer> spec = TaskSpec.named("limited", () -> 1);

            assertThatThrownBy(() -> executor.submit("key", spec.timeout(SECOND)))
                    .isInstanceOf(OutOfMemoryError.class);
            assertThatThrownBy(() -> executor.submit("held", spec.queueTimeout(SECOND)))
                    .isInstanceOf(OutOfMemoryError.class);

            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().totalActiveCount()).isEqualTo(1);
            end.countDown();
        }
    }

    @Test
    void a_submission_to_a_scope_whose_alarm_cannot_be_armed_throws_and_has_no_effect() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                events.add("submitted");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long nanos) {
                events.add(outcome.status().toString());
            }
        };
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(time).addListener(listener);
        try (ThreadScope scope = ThreadScope.open("scope", options)) {
            time.hasThreads = false;

            assertThatThrownBy(() -> scope.submit("limited", () -> 1, SECOND)).isInstanceOf(OutOfMemoryError.class);
            assertThatThrownBy(() -> scope.schedule(SECOND, () -> 1)).isInstanceOf(OutOfMemoryError.class);

            assertThat(events).isEmpty();
            assertThat(scope.metrics().submitted()).isZero();
            time.hasThreads = true;
            assertThat(scope.submit("limited", () -> 1, SECOND).await()).isEqualTo(1);
            assertThat(events).containsExactly("submitted", "SUCCESS");
            assertThat(scope.metrics().submitted()).isEqualTo(1);
        }
    }

    @Test
    void nothing_of_executeAll_goes_on_after_it_has_thrown() throws Exception {
        AtomicInteger inside = new AtomicInteger();
        Callable<Integer> endless = () -> {
            inside.incrementAndGet();
            try {
                new CountDownLatch(1).await();
                return 1;
            } finally {
                inside.decrementAndGet();
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy().build())) {
            time.hasThreads = false;
            GroupTask<Integer> first = new GroupTask<>("key", "endless", endless);
            GroupTask<Integer> second =
                    new GroupTask<>("key", TaskSpec.named("limited", () -> 1).timeout(SECOND));

            assertThatThrownBy(() -> executor.executeAll(List.of(first, second)))
                    .isInstanceOf(OutOfMemoryError.class);

            assertThat(inside).hasValue(0);
        }
    }

    @Test
    void a_scope_whose_deadline_cannot_be_armed_is_not_opened() throws Exception {
        time.hasThreads = false;
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(time).withDeadline(SECOND);
        StructuredScopeOptions structured = StructuredScopeOptions.defaults().withTimeSource(time);
        try (var outer = StructuredTaskScope.open()) {
            assertThatThrownBy(() -> ThreadScope.open("scope", options)).isInstanceOf(OutOfMemoryError.class);
            assertThatThrownBy(
                            () -> ThreadScope.open("scope").withTimeSource(time).withDeadline(SECOND))
                    .isInstanceOf(OutOfMemoryError.class);
            assertThat(ThreadScope.current()).isEmpty();
            assertThatThrownBy(() -> StructuredTaskScope.open(
                            all -> all.withOptions(structured).withTimeout(SECOND)))
                    .isInstanceOf(OutOfMemoryError.class);
            outer.fork(() -> 1); // which throws if another scope of this thread is open
            outer.join();
        }
    }

    @Test
    void a_scope_whose_alarm_cannot_be_cancelled_is_closed() throws Exception {
        List<String> events = new CopyOnWriteArrayList<>();
        time.isBroken = true;
        ScopeOptions options = ScopeOptions.defaults().withTimeSource(time).withDeadline(SECOND);
        StructuredScopeOptions structured = StructuredScopeOptions.defaults().withTimeSource(time);
        try (var outer = StructuredTaskScope.open()) {
            ThreadScope scope = ThreadScope.open("scope", options);
            scope.defer(() -> events.add("deferred"));
            assertThatThrownBy(scope::close).hasMessage("planned");
            assertThat(ThreadScope.current()).isEmpty();
            assertThat(events).containsExactly("deferred");

            var inner =
                    StructuredTaskScope.open(all -> all.withOptions(structured).withTimeout(SECOND));
            assertThatThrownBy(inner::close).hasMessage("planned");
            outer.fork(() -> 1); // which throws if another scope of this thread is open
            outer.join();
        }
    }

    @Test
    void a_periodic_task_whose_next_round_cannot_be_armed_fails() throws Exception {
        try (ThreadScope scope =
                ThreadScope.open("scope", ScopeOptions.defaults().withTimeSource(time))) {
            Task<?> job = scope.scheduleWithFixedDelay(SECOND, SECOND, () -> time.hasThreads = false);

            time.time.advance(SECOND);

            assertThatThrownBy(job::await).isInstanceOf(OutOfMemoryError.class);
        }
    }

    @Test
    void a_scope_waits_for_its_tasks_although_it_cannot_report_them() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        ThreadScope scope = ThreadScope.open(
                "scope", ScopeOptions.defaults().withTimeSource(time).withExceptionSink(sink));
        CountDownLatch begun = new CountDownLatch(1);
        Task<Integer> task = scope.submit(() -> {
            begun.countDown();
            while (end.getCount() > 0) {
                Thread.onSpinWait(); // whether interrupted or not
            }
            return 1;
        });
        begun.await(); // otherwise close() may cancel it before
        time.hasThreads = false;
        Thread.ofPlatform().daemon().start(() -> {
            while (reported.isEmpty()) {
                Thread.onSpinWait();
            }
            end.countDown();
        });

        scope.close();

        assertThat(end.getCount()).isZero();
        assertThat(task.isDone()).isTrue();
    }

    @Test
    void a_pool_runs_a_task_whose_rescue_could_not_be_armed_and_terminates() throws Exception {
        CountDownLatch inFactory = new CountDownLatch(1);
        CountDownLatch refuse = new CountDownLatch(1);
        ThreadPool pool = ThreadPool.builder("pool")
                .threads(1)
                .timeSource(time)
                .threadFactory(task -> {
                    if (refuse.getCount() > 0) {
                        inFactory.countDown();
                        uninterrupted(refuse);
                        throw new OutOfMemoryError("unable to create native thread");
                    }
                    return new Thread(task);
                })
                .build();
        FutureTask<Void> submitter = new FutureTask<>(() -> pool.execute(() -> {}), null);
        Thread.ofPlatform().daemon().start(submitter);
        inFactory.await();
        CountDownLatch ran = new CountDownLatch(1);
        pool.execute(ran::countDown); // relies on the worker of the submitter
        time.hasThreads = false;
        refuse.countDown();
        assertThatThrownBy(submitter::get).hasCauseInstanceOf(OutOfMemoryError.class);

        time.hasThreads = true;
        pool.shutdown();
        time.time.advance(SECOND);

        ran.await();
        assertThat(pool.awaitTermination(1, TimeUnit.DAYS)).isTrue();
    }

    private static void uninterrupted(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException impossible) {
            throw new AssertionError(impossible);
        }
    }
}
