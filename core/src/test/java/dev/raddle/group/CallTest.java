package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.Locks;
import dev.raddle.task.NamedTask;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.Phaser;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class CallTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();

    private GroupPolicy.Builder stepped() {
        return TestTasks.stepped(steps).timeSource(time);
    }

    private static void awaitQueued(GroupExecutor executor, int count) {
        Wait.until(() -> executor.stats().totalQueuedCount() >= count);
    }

    private static <T> FutureTask<T> inThread(Callable<T> body) {
        FutureTask<T> task = new FutureTask<>(body);
        Thread.ofPlatform().daemon().start(task);
        return task;
    }

    @Test
    void a_call_has_the_name_of_a_named_task() {
        record Import(String name) implements NamedTask, Callable<String> {
            @Override
            public String call() {
                return name;
            }
        }
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.pauseGroup("a");
            FutureTask<String> call = inThread(() -> executor.call("a", new Import("import-7")));
            awaitQueued(executor, 1);
            assertThat(executor.explain("a", "import-7")).isPresent();
            executor.resumeGroup("a");
            assertThat(call).succeedsWithin(Duration.ofSeconds(30)).isEqualTo("import-7");
        }
    }

    @Test
    void a_call_runs_in_the_callers_thread_and_returns_the_value_of_the_task() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            assertThat(executor.call("a", Thread::currentThread)).isSameAs(Thread.currentThread());
            assertThat(executor.<String>call("a", () -> null)).isNull();
            assertThat(executor.tryCall("a", Duration.ofSeconds(1), Thread::currentThread))
                    .contains(Thread.currentThread());
            assertThat(executor.<String>tryCall("a", Duration.ofSeconds(1), () -> null))
                    .isEmpty();
            assertThat(TaskContext.current()
                            .with(TENANT, "t")
                            .<String>call(() -> executor.call(
                                    "a", () -> TaskContext.current().get(TENANT))))
                    .isEqualTo("t");

            assertThat(steps.size()).isZero();
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void a_call_throws_the_exception_of_the_task() {
        List<Throwable> thrown = List.of(
                new IllegalArgumentException(),
                new IOException(),
                new StackOverflowError(),
                new CancellationException(),
                new InterruptedException());
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            for (Throwable each : thrown) {
                assertThatThrownBy(() -> executor.call("a", () -> CallTest.<String, RuntimeException>sneaky(each)))
                        .isSameAs(each);
            }
            Throwable neither = new Throwable("neither exception nor error");
            assertThatIllegalStateException()
                    .isThrownBy(() -> executor.call("a", () -> CallTest.<String, RuntimeException>sneaky(neither)))
                    .withCause(neither);
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @SuppressWarnings("unchecked")
    private static <T, X extends Throwable> T sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    @Test
    void a_call_without_a_key_or_a_task_throws() {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            assertThatNullPointerException().isThrownBy(() -> executor.call(null, () -> ""));
            assertThatNullPointerException().isThrownBy(() -> executor.call("a", (Callable<String>) null));
            assertThatNullPointerException().isThrownBy(() -> executor.tryCall("a", null, () -> ""));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Test
    void calls_and_tasks_wait_in_one_queue_under_one_limit() throws Exception {
        List<String> order = new CopyOnWriteArrayList<>();
        BlockingTask holder = new BlockingTask();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().closeTimeout(Duration.ZERO).build())) {
            executor.submit("a", "holder", holder);
            executor.submit("a", "t1", () -> order.add("t1"));
            FutureTask<Boolean> first = inThread(() -> executor.call("a", () -> order.add("call 1")));
            awaitQueued(executor, 2);
            executor.submit("a", "t2", () -> order.add("t2"));
            FutureTask<Boolean> second = inThread(() -> executor.call("a", () -> order.add("call 2")));
            awaitQueued(executor, 4);
            TaskHandle<Boolean> last = executor.submit("a", "t3", () -> order.add("t3"));

            holder.release();

            last.await();
            first.get();
            second.get();
            assertThat(order).containsExactly("t1", "call 1", "t2", "call 2", "t3");
        }
    }

    @Test
    void a_call_holds_slots_of_its_group_and_of_the_cap_while_it_runs() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().globalMaxInFlight(1).build())) {
            GroupExecutorStats inside = executor.call("a", () -> {
                executor.submit("b", "t1", () -> "");
                assertThat(steps.size()).as("it waits for the cap").isZero();
                return executor.stats();
            });

            assertThat(inside.totalActiveCount()).isEqualTo(1);
            assertThat(inside.globalInFlightUsed()).isEqualTo(1);
            assertThat(steps.size()).isEqualTo(1);
        }
    }

    @Test
    void an_interrupted_call_that_waits_leaves_the_queue_and_throws() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultQueueThresholdPerGroup(1).build())) {
            TaskHandle<String> holder = executor.submit("a", "holder", () -> "");
            List<Thread> waiter = new CopyOnWriteArrayList<>();
            FutureTask<String> caller = inThread(() -> {
                waiter.add(Thread.currentThread());
                return executor.call("a", () -> "never");
            });
            awaitQueued(executor, 1);

            waiter.getFirst().interrupt();

            assertThatThrownBy(caller::get).hasCauseInstanceOf(InterruptedException.class);
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isZero();
            TaskHandle<String> inItsPlace = executor.submit("a", "t1", () -> "value");
            steps.runAll();
            assertThat(holder.isDone()).isTrue();
            assertThat(inItsPlace.await().value()).isEqualTo("value");
        }
    }

    @Test
    void an_interrupted_caller_that_need_not_wait_runs_its_task() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            Thread.currentThread().interrupt();
            boolean seen = executor.call("a", () -> Thread.currentThread().isInterrupted());

            assertThat(seen).isTrue();
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void an_interrupt_that_races_with_the_grant_never_loses_the_permit() throws Exception {
        int rounds = 10_000;
        AtomicInteger called = new AtomicInteger();
        AtomicInteger interrupted = new AtomicInteger();
        Phaser phase = new Phaser(2);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().globalMaxInFlight(1).build())) {
            List<Thread> threads = new CopyOnWriteArrayList<>();
            FutureTask<Void> caller = inThread(() -> {
                threads.add(Thread.currentThread());
                for (int i = 0; i < rounds; i++) {
                    phase.arriveAndAwaitAdvance(); // the slot is taken
                    try {
                        executor.call("a", called::incrementAndGet);
                    } catch (InterruptedException interrupt) {
                        interrupted.incrementAndGet();
                    }
                    phase.arriveAndAwaitAdvance(); // the interrupt has been sent
                    Thread.interrupted();
                }
                return null;
            });
            Phaser race = new Phaser(2);
            FutureTask<Void> interrupter = inThread(() -> {
                for (int i = 0; i < rounds; i++) {
                    race.arriveAndAwaitAdvance();
                    threads.getFirst().interrupt();
                    race.arriveAndAwaitAdvance();
                }
                return null;
            });
            for (int i = 0; i < rounds; i++) {
                executor.submit("a", "holder", () -> "");
                phase.arriveAndAwaitAdvance();
                awaitQueued(executor, 1);
                race.arriveAndAwaitAdvance();
                steps.runAll(); // grants the caller, while it is interrupted
                race.arriveAndAwaitAdvance();
                phase.arriveAndAwaitAdvance();
                GroupExecutorStats after = executor.stats();
                if (after.totalActiveCount() + after.totalQueuedCount() + after.globalInFlightUsed() != 0) {
                    throw new AssertionError("round " + i + ": " + after);
                }
            }
            caller.get();
            interrupter.get();
        }
        assertThat(called.get() + interrupted.get()).isEqualTo(rounds);
    }

    @Test
    void try_call_leaves_the_queue_and_is_empty_if_it_is_not_granted_in_time() throws Exception {
        List<String> ran = new ArrayList<>();
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            executor.submit("a", "holder", () -> ran.add("holder"));
            FutureTask<Optional<Boolean>> caller =
                    inThread(() -> executor.tryCall("a", Duration.ofSeconds(2), () -> ran.add("never")));
            time.awaitAlarms(1);

            time.advance(Duration.ofSeconds(2).minusNanos(1));
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(1);
            time.advance(Duration.ofNanos(1));

            assertThat(caller.get()).isEmpty();
            assertThat(executor.stats().totalQueuedCount()).isZero();
            steps.runAll();
            assertThat(ran).containsExactly("holder");
            assertThat(executor.stats().totalActiveCount()).isZero();
        }
    }

    @Test
    void try_call_runs_if_it_is_granted_in_time() throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().idleGroupTtl(Duration.ZERO).build())) {
            executor.submit("a", "holder", () -> "");
            FutureTask<Optional<Thread>> caller =
                    inThread(() -> executor.tryCall("a", Duration.ofSeconds(2), Thread::currentThread));
            time.awaitAlarms(1);

            steps.runAll();

            assertThat(caller.get()).isPresent();
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void try_call_with_a_timeout_of_zero_runs_at_once_or_not_at_all() throws Exception {
        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build())) {
            assertThat(executor.tryCall("a", Duration.ZERO, () -> "free")).contains("free");
            assertThat(executor.tryCall("a", Duration.ofSeconds(-1), () -> "free"))
                    .contains("free");
            executor.submit("a", "holder", () -> "");

            assertThat(executor.tryCall("a", Duration.ZERO, () -> "never")).isEmpty();
            assertThat(executor.tryCall("a", Duration.ofSeconds(Long.MIN_VALUE), () -> "never"))
                    .isEmpty();

            assertThat(executor.stats().totalQueuedCount()).isZero();
        }
    }

    @Test
    void try_call_with_a_timeout_of_zero_gets_a_free_slot_of_the_cap_although_another_thread_is_about_to_grant_one()
            throws Exception {
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().defaultMaxConcurrencyPerGroup(2).globalMaxInFlight(2).build())) {
            executor.submit("holders", "one", () -> "");
            executor.submit("holders", "other", () -> "");
            TaskHandle<String> waits = executor.submit("a", "waits", () -> "value");
            FutureTask<Optional<String>> attempt =
                    new FutureTask<>(() -> executor.tryCall("b", Duration.ZERO, () -> "free"));
            Thread granting = new Thread(steps::runNext);
            Thread attempting = new Thread(attempt);

            Locks.holding(((GroupRun<?>) waits).group, () -> {
                granting.start();
                Wait.until(() -> Locks.waits(granting));
                steps.runNext(); // now both slots are free, and one task waits for them
                attempting.start();
                Wait.until(() -> attempt.isDone() || isIn("serveBeforeWaiting", attempting));
            });

            assertThat(attempt.get()).contains("free");
            granting.join();
            steps.runAll();
            assertThat(waits.await().value()).isEqualTo("value");
        }
    }

    private static boolean isIn(String method, Thread thread) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getMethodName().equals(method));
    }

    @ParameterizedTest
    @EnumSource
    void try_call_that_finds_the_queue_full_is_empty_under_every_policy(RejectionPolicy policy) throws Exception {
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                throw new AssertionError("a handler has no say in an attempt");
            }
        };
        for (RejectionHandler each : new RejectionHandler[] {null, handler}) {
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                    .defaultQueueThresholdPerGroup(0)
                    .rejectionPolicy(policy)
                    .rejectionHandler(each)
                    .build())) {
                executor.submit("a", "holder", () -> "");

                assertThat(executor.tryCall("a", Duration.ofDays(1), () -> "never"))
                        .isEmpty();
            }
        }
    }

    @Test
    void a_rejected_call_throws_unless_the_policy_or_a_handler_supplies_a_result() throws Exception {
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                return GroupResult.success(groupKey, taskId, null, 1, 2);
            }
        };
        for (RejectionPolicy policy : List.of(RejectionPolicy.ABORT, RejectionPolicy.DISCARD)) {
            try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                    .defaultQueueThresholdPerGroup(0)
                    .rejectionPolicy(policy)
                    .build())) {
                executor.submit("a", "holder", () -> "");
                assertThatThrownBy(() -> executor.call("a", () -> "never"))
                        .isInstanceOfSatisfying(RejectedTaskException.class, rejected -> {
                            assertThat(rejected.groupKey()).isEqualTo("a");
                            assertThat(rejected.reason()).startsWith("group-queue: ");
                        });
            }
        }
        GroupPolicy.Builder full = stepped().defaultQueueThresholdPerGroup(0);
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                full.rejectionPolicy(RejectionPolicy.CALLER_RUNS).build())) {
            executor.submit("a", "holder", () -> "");
            assertThat(executor.call("a", Thread::currentThread)).isSameAs(Thread.currentThread());
        }
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                full.rejectionHandler(handler).build())) {
            executor.submit("a", "holder", () -> "");
            assertThat(executor.<String>call("a", () -> "never")).isNull();
        }
    }

    @Test
    void a_call_that_a_handler_skips_throws() {
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                return new GroupResult<>(groupKey, taskId, TaskStatus.SKIPPED, null, null, 1, 1);
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(stepped()
                .defaultQueueThresholdPerGroup(0)
                .rejectionHandler(handler)
                .build())) {
            executor.submit("a", "holder", () -> "");

            assertThatIllegalStateException()
                    .isThrownBy(() -> executor.call("a", () -> "never"))
                    .withMessage("skipped by the rejection handler");
        }
    }

    @Test
    void a_shutdown_interrupts_a_running_call_and_rejects_a_waiting_one() throws Exception {
        BlockingTask blocker = new BlockingTask();
        GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(stepped().build());
        FutureTask<String> runs = inThread(() -> executor.call("a", blocker));
        blocker.awaitBegun();
        FutureTask<String> waits = inThread(() -> executor.call("a", () -> "never"));
        awaitQueued(executor, 1);

        executor.shutdown();

        assertThatThrownBy(runs::get).hasCauseInstanceOf(InterruptedException.class);
        assertThatThrownBy(waits::get).hasCauseInstanceOf(RejectedTaskException.class);
        assertThat(executor.shutdown(Duration.ofDays(1))).isTrue();
    }

    @Test
    void the_caller_keeps_its_interrupt_status_as_the_task_left_it_and_listeners_do_not_see_it() throws Exception {
        List<Boolean> seen = new ArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onCompleted(String key, String id, GroupResult<?> result) {
                seen.add(Thread.currentThread().isInterrupted());
            }
        };
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                stepped().taskLifecycleListener(listener).build())) {
            executor.call("a", () -> {
                Thread.currentThread().interrupt();
                return "value";
            });

            assertThat(Thread.interrupted()).isTrue();
            assertThat(seen).containsExactly(false);
        }
    }
}
