package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.task.WaitReason;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Together;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class GroupLimitsTest {

    // Submitting.

    @Tag("S1")
    @Test
    void a_null_is_refused_before_a_listener_is_notified_and_a_state_changes() {
        List<String> heard = new ArrayList<>();
        TaskLifecycleListener listener = new TaskLifecycleListener() {
            @Override
            public void onSubmitted(String groupKey, String taskId) {
                heard.add(taskId);
            }
        };
        Callable<String> task = () -> "x";

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(
                GroupPolicy.builder().taskLifecycleListener(listener).build())) {
            assertThatNullPointerException().isThrownBy(() -> executor.submit(null, "t", task));
            assertThatNullPointerException().isThrownBy(() -> executor.submit("a", null, task));
            assertThatNullPointerException().isThrownBy(() -> executor.submit("a", "t", (Callable<String>) null));
            assertThatNullPointerException().isThrownBy(() -> executor.submit(null, TaskSpec.named("t", task)));
            assertThatNullPointerException().isThrownBy(() -> executor.submit("a", (TaskSpec<String>) null));

            assertThat(heard).isEmpty();
            assertThat(executor.activeGroupKeys()).isEmpty();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(0, 0, 0, 0, Integer.MAX_VALUE));
        }
    }

    @Tag("S2")
    @Test
    void an_executor_refuses_tasks_after_every_kind_of_shutdown() {
        List<Consumer<GroupExecutor>> ways = List.of(
                GroupExecutor::shutdown,
                GroupExecutor::close,
                executor -> executor.shutdown(Duration.ZERO),
                executor -> executor.shutdown(Duration.ofDays(1)));
        AtomicInteger called = new AtomicInteger();

        for (Consumer<GroupExecutor> way : ways) {
            GroupExecutor executor =
                    GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build());
            way.accept(executor);

            assertThatIllegalStateException()
                    .isThrownBy(() -> executor.submit("a", "t", called::incrementAndGet))
                    .withMessageContainingAll("\"t\"", "\"a\"");
            assertThatIllegalStateException()
                    .isThrownBy(() -> executor.executeAll(List.of(new GroupTask<>("a", "t", called::incrementAndGet))));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
        assertThat(called).hasValue(0);
    }

    @Tag("S3")
    @Test
    void submit_returns_although_the_group_or_the_cap_is_full() throws Exception {
        GroupPolicy policy = GroupPolicy.builder().globalMaxInFlight(1).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            executor.submit("a", "first", tasks.blocked("x"));
            tasks.awaitBegun(1);
            TaskHandle<String> behindTheGroup = executor.submit("a", "t", tasks.blocked("x"));
            TaskHandle<String> behindTheCap = executor.submit("b", "t", tasks.blocked("x"));

            assertThat(behindTheGroup.isDone()).isFalse();
            assertThat(behindTheCap.isDone()).isFalse();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 1, 2, 1, 1));
        }
    }

    // The limit holds at every instant.

    @Tag("S4")
    @Test
    void two_of_eight_tasks_run_at_once_under_a_limit_of_two() throws Exception {
        GroupPolicy policy =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                handles.add(executor.submit("a", "t" + i, tasks.blocked("x")));
            }
            tasks.awaitBegun(2);
            for (int ended = 0; ended < 6; ended++) {
                assertThat(tasks.inside()).isEqualTo(2);
                tasks.release(1);
                tasks.awaitBegun(1);
            }
            tasks.release(2);
            for (TaskHandle<String> handle : handles) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertThat(tasks.peak()).isEqualTo(2);
        }
    }

    @Tag("S4")
    @Test
    void the_limit_holds_across_evictions() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();
        runConcurrently(policy, 2, (executor, round) -> executor.evictGroup("a"));
    }

    @Tag("S4")
    @Test
    void the_limit_holds_across_evictions_under_a_cap() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4)
                .globalMaxInFlight(3)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();
        runConcurrently(policy, 3, (executor, round) -> executor.evictGroup("a"));
    }

    @Tag("S4")
    @Test
    void the_largest_limit_holds_while_limits_change() throws Exception {
        GroupPolicy policy = GroupPolicy.builder().build();
        runConcurrently(policy, 3, (executor, round) -> executor.setMaxConcurrency("a", 1 + round % 3));
    }

    @Tag("S4")
    @Test
    void the_limit_holds_while_the_group_is_shut_down_repeatedly() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();
        runConcurrently(policy, 2, (executor, round) -> executor.shutdownGroup("a"));
    }

    private interface Disturbance {
        void disturb(GroupExecutor executor, int round);
    }

    /** Four threads submit to one group while a fifth changes it; every task ends once, and the limit always holds. */
    private static void runConcurrently(GroupPolicy policy, int limit, Disturbance disturbance) throws Exception {
        int perThread = 2_000;
        AtomicInteger submitting = new AtomicInteger(4);
        List<TaskHandle<String>> handles = Collections.synchronizedList(new ArrayList<>());
        AtomicInteger called = new AtomicInteger();
        TestTasks tasks = new TestTasks();
        Callable<String> task = () -> {
            called.incrementAndGet();
            return tasks.brief("x").call();
        };
        List<Callable<Object>> actions = new ArrayList<>();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int thread = 0; thread < 4; thread++) {
                actions.add(() -> {
                    for (int i = 0; i < perThread; i++) {
                        handles.add(executor.submit("a", "t", task));
                    }
                    return submitting.decrementAndGet();
                });
            }
            actions.add(() -> {
                for (int round = 0; submitting.get() > 0; round++) {
                    disturbance.disturb(executor, round);
                }
                return null;
            });
            Together.together(actions);

            Map<TaskStatus, Integer> ends = new HashMap<>();
            for (TaskHandle<String> handle : handles) {
                ends.merge(handle.await().status(), 1, Integer::sum);
            }
            assertThat(handles).hasSize(4 * perThread);
            assertThat(ends).doesNotContainKey(TaskStatus.FAILED);
            assertThat(ends.getOrDefault(TaskStatus.SUCCESS, 0)).isEqualTo(called.get());
            assertThat(executor.submit("a", "afterwards", task).await().value()).isEqualTo("x");
            assertThat(executor.awaitIdle("a", Duration.ofMinutes(2))).isTrue();
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(executor.stats().totalQueuedCount()).isZero();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
        assertThat(tasks.peak()).isBetween(1, limit);
    }

    @Tag("S4")
    @Test
    void an_evicted_group_starts_no_new_task_before_the_running_ones_have_released_slots() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultMaxConcurrencyPerGroup(2).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "t1", () -> "x");
            executor.submit("a", "t2", () -> "x");
            executor.evictGroup("a");
            executor.submit("a", "t3", () -> "x");
            executor.submit("a", "t4", () -> "x");
            assertThat(steps.size()).isEqualTo(2); // those that ran before

            steps.runNext();
            assertThat(steps.size()).isEqualTo(2); // one of each
            assertThat(executor.groupStats("a").orElseThrow().activeCount()).isEqualTo(2);
        }
    }

    @Tag("S4")
    @Test
    void the_limit_holds_when_a_group_is_removed_and_created_repeatedly() throws Exception {
        AtomicInteger lives = new AtomicInteger();
        TestTasks tasks = new TestTasks();
        GroupPolicy policy = GroupPolicy.builder()
                .idleGroupTtl(Duration.ZERO)
                .concurrencyResolver(key -> {
                    lives.incrementAndGet();
                    return 2;
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(Collections.nCopies(4, () -> {
                for (int i = 0; i < 500; i++) {
                    assertThat(executor.submit("a", "t", tasks.brief("x"))
                                    .await()
                                    .status())
                            .isEqualTo(TaskStatus.SUCCESS);
                }
                return null;
            }));
            int before = lives.get();
            for (int i = 0; i < 10; i++) {
                executor.submit("a", "t", tasks.brief("x")).await();
            }
            assertThat(lives).hasValue(before + 10);
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
        assertThat(tasks.peak()).isBetween(1, 2);
    }

    // Several groups.

    @Tag("S5")
    @Test
    void groups_run_concurrently() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(Map.of("a", 2, "b", 2))
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            for (int i = 0; i < 4; i++) {
                executor.submit("a", "a" + i, tasks.blocked("x"));
                executor.submit("b", "b" + i, tasks.blocked("x"));
            }
            tasks.awaitBegun(4);

            assertThat(tasks.inside()).isEqualTo(4);
            assertThat(executor.groupStats("a").orElseThrow().activeCount()).isEqualTo(2);
            assertThat(executor.groupStats("b").orElseThrow().activeCount()).isEqualTo(2);
        }
    }

    @Tag("S6")
    @Test
    void each_key_has_the_limit_that_the_resolver_returns_for_it() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .concurrencyResolver(key -> key.startsWith("vip:") ? 4 : 1)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (String key : List.of("vip:a", "b", "c")) {
                for (int i = 0; i < 6; i++) {
                    executor.submit(key, "t" + i, () -> "x");
                }
            }

            assertThat(executor.groupStats("vip:a").orElseThrow())
                    .isEqualTo(new GroupStats("vip:a", 4, 2, 4, Integer.MAX_VALUE));
            assertThat(executor.groupStats("b").orElseThrow())
                    .isEqualTo(new GroupStats("b", 1, 5, 1, Integer.MAX_VALUE));
            assertThat(executor.groupStats("c").orElseThrow())
                    .isEqualTo(new GroupStats("c", 1, 5, 1, Integer.MAX_VALUE));
            assertThat(steps.size()).isEqualTo(6);
        }
    }

    // No task waits beside a free slot.

    /** Groups whose tasks run in the order of a random walk. The tasks that a scheduler holds are those with slots. */
    private static final class Walk {

        private static final List<String> KEYS = List.of("a", "b", "c");

        private final Random random;
        private final Map<String, StepScheduler> steps = new HashMap<>();
        private final Map<String, Integer> limits = new HashMap<>();
        private final List<TaskHandle<String>> handles = new ArrayList<>();
        private final AtomicInteger called = new AtomicInteger();
        private final GroupExecutor executor;
        private int cap = 4;

        Walk(long seed) {
            random = new Random(seed);
            KEYS.forEach(key -> steps.put(key, new StepScheduler()));
            KEYS.forEach(key -> limits.put(key, firstLimit(key)));
            executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                    .scheduler(steps::get)
                    .concurrencyResolver(Walk::firstLimit)
                    .globalMaxInFlight(cap)
                    .rejectionPolicy(RejectionPolicy.DISCARD)
                    .build());
        }

        private static int firstLimit(String key) {
            return key.charAt(0) - 'a' + 1;
        }

        private int held(String key) {
            return steps.get(key).size();
        }

        private int held() {
            return KEYS.stream().mapToInt(this::held).sum();
        }

        private boolean hasWaiting(String key) {
            return handles.stream()
                    .anyMatch(handle -> handle.groupKey().equals(key)
                            && executor.explain(handle).waitingFor() != WaitReason.NOTHING);
        }

        private void step() {
            String key = KEYS.get(random.nextInt(KEYS.size()));
            int action = random.nextInt(20);
            if (action < 8) {
                handles.add(executor.submit(key, "t" + handles.size(), () -> "x" + called.incrementAndGet()));
            } else if (action < 14) {
                steps.get(key).runNext();
            } else if (action < 16 && !handles.isEmpty()) {
                handles.get(random.nextInt(handles.size())).cancel(true);
            } else if (action == 16) {
                executor.evictGroup(key);
                limits.put(key, firstLimit(key));
            } else if (action == 17) {
                limits.put(key, 1 + random.nextInt(4));
                executor.setMaxConcurrency(key, limits.get(key));
            } else if (action == 18) {
                cap = 1 + random.nextInt(6);
                executor.setGlobalMaxInFlight(cap);
            } else {
                executor.setWeight(key, 1 + random.nextInt(4));
            }
        }

        private void check(Map<String, Integer> heldBefore, int allHeldBefore) {
            assertThat(held()).isLessThanOrEqualTo(Math.max(cap, allHeldBefore));
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(held());
            for (String key : KEYS) {
                assertThat(held(key)).isLessThanOrEqualTo(Math.max(limits.get(key), heldBefore.get(key)));
                if (held(key) < limits.get(key) && held() < cap) {
                    assertThat(hasWaiting(key))
                            .as("a task waits beside a free slot of " + key)
                            .isFalse();
                }
            }
        }

        void go(int length) throws InterruptedException {
            for (int i = 0; i < length; i++) {
                Map<String, Integer> before = new HashMap<>();
                KEYS.forEach(key -> before.put(key, held(key)));
                int allBefore = held();
                step();
                check(before, allBefore);
            }
            while (held() > 0) {
                KEYS.forEach(key -> steps.get(key).runAll());
            }
            int succeeded = 0;
            for (TaskHandle<String> handle : handles) {
                assertThat(handle.isDone()).isTrue();
                succeeded += handle.await().status() == TaskStatus.SUCCESS ? 1 : 0;
            }
            assertThat(succeeded).isEqualTo(called.get()).isPositive();
            assertThat(executor.stats().totalActiveCount()).isZero();
            assertThat(executor.stats().globalInFlightUsed()).isZero();
            executor.close();
        }
    }

    @Tag("S7")
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void in_every_sequence_of_operations_no_task_waits_beside_a_free_slot_and_no_limit_is_exceeded(long seed)
            throws Exception {
        new Walk(seed).go(600);
    }

    @Tag("S7")
    @Test
    void no_wake_up_is_lost_when_threads_submit_cancel_and_evict_while_tasks_end() throws Exception {
        List<TaskHandle<String>> handles = Collections.synchronizedList(new ArrayList<>());
        TestTasks tasks = new TestTasks();
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .globalMaxInFlight(5)
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<Callable<Object>> actions = new ArrayList<>();
            for (int thread = 0; thread < 4; thread++) {
                Random random = new Random(thread);
                actions.add(() -> {
                    for (int i = 0; i < 2_000; i++) {
                        String key = "g" + random.nextInt(4);
                        TaskHandle<String> handle = executor.submit(key, "t" + i, tasks.brief("x"));
                        handles.add(handle);
                        if (random.nextInt(4) == 0) {
                            handle.cancel(random.nextBoolean());
                        }
                        if (random.nextInt(100) == 0) {
                            executor.evictGroup(key);
                        }
                    }
                    return null;
                });
            }
            Together.together(actions);

            for (TaskHandle<String> handle : handles) { // each ends without a further submission
                assertThat(handle.await(2, TimeUnit.MINUTES).error() instanceof TimeoutException)
                        .as("lost: " + executor.explain(handle))
                        .isFalse();
            }
            for (int group = 0; group < 4; group++) {
                assertThat(executor.awaitIdle("g" + group, Duration.ofMinutes(2)))
                        .isTrue();
            }
            assertThat(executor.stats().globalInFlightUsed()).isZero();
            assertThat(executor.stats().totalQueuedCount()).isZero();
        }
        assertThat(tasks.peak()).isBetween(1, 5);
    }

    @Tag("S7")
    @Test
    void a_task_that_is_submitted_while_a_slot_is_released_is_started() throws Exception {
        GroupPolicy policy = GroupPolicy.builder().globalMaxInFlight(1).build();
        AtomicInteger round = new AtomicInteger(); // no later submission could repair a lost wakeup
        AtomicInteger group = new AtomicInteger();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(Collections.nCopies(2, () -> {
                String key = "g" + group.getAndIncrement();
                Random random = new Random(key.hashCode());
                for (int i = 0; i < 3_000; i++) {
                    TestTasks.meet(round, 2);
                    for (int spins = random.nextInt(300); spins > 0; spins--) {
                        Thread.onSpinWait(); // so that a submission may occur at any moment of the other's task
                    }
                    assertThat(executor.submit(key, "t", () -> "x")
                                    .await(2, TimeUnit.MINUTES)
                                    .value())
                            .isEqualTo("x");
                }
                return null;
            }));
        }
    }

    @Tag("S7")
    @ParameterizedTest
    @ValueSource(ints = {2, Integer.MAX_VALUE})
    void when_a_wide_task_leaves_the_head_of_the_queue_the_tasks_behind_it_start_if_they_fit(int cap) {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(2)
                .globalMaxInFlight(cap)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "holds one of two", () -> "x");
            TaskHandle<String> wide =
                    executor.submit("a", TaskSpec.named("needs both", () -> "x").cost(2));
            executor.submit("a", "needs one", () -> "x");
            assertThat(steps.size()).isEqualTo(1);

            wide.cancel(false);
            assertThat(steps.size()).isEqualTo(2);
            assertThat(executor.groupStats("a").orElseThrow())
                    .isEqualTo(new GroupStats("a", 2, 0, 2, Integer.MAX_VALUE));
        }
    }

    // First in, first out.

    @Tag("S8")
    @ParameterizedTest
    @ValueSource(ints = {1, 3})
    void tasks_of_a_group_start_in_the_order_of_their_submission(int limit) {
        StepScheduler steps = new StepScheduler();
        List<Integer> started = new ArrayList<>();
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultMaxConcurrencyPerGroup(limit).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 100; i++) {
                int number = i;
                executor.submit("a", "t" + i, () -> started.add(number));
            }
            steps.runAll();
        }
        assertThat(started).isEqualTo(IntStream.range(0, 100).boxed().toList());
    }

    @Tag("S8")
    @ParameterizedTest
    @ValueSource(ints = {2, Integer.MAX_VALUE})
    void the_tasks_of_each_submitting_thread_start_in_order_of_submission(int cap) throws Exception {
        GroupPolicy policy = GroupPolicy.builder().globalMaxInFlight(cap).build();
        Map<Integer, List<Integer>> started = new ConcurrentHashMap<>();
        AtomicInteger submitter = new AtomicInteger();
        List<TaskHandle<Boolean>> handles = Collections.synchronizedList(new ArrayList<>());

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(Collections.nCopies(4, () -> {
                int self = submitter.getAndIncrement();
                started.put(self, new ArrayList<>()); // written by one task at a time
                for (int i = 0; i < 300; i++) {
                    int number = i;
                    handles.add(
                            executor.submit("a", "t", () -> started.get(self).add(number)));
                }
                return null;
            }));
            for (TaskHandle<Boolean> handle : handles) {
                assertThat(handle.await().value()).isTrue();
            }
        }
        assertThat(started).hasSize(4);
        assertThat(started.values())
                .allSatisfy(numbers -> assertThat(numbers)
                        .isEqualTo(IntStream.range(0, 300).boxed().toList()));
    }

    // Threads.

    @Tag("S9")
    @Test
    void each_task_runs_on_a_virtual_thread_of_its_own() throws Exception {
        Set<Thread> threads = ConcurrentHashMap.newKeySet();
        GroupPolicy policy =
                GroupPolicy.builder().defaultMaxConcurrencyPerGroup(3).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<Boolean>> handles = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                handles.add(executor.submit("a", "t" + i, () -> threads.add(Thread.currentThread())));
            }
            for (TaskHandle<Boolean> handle : handles) {
                assertThat(handle.await().value()).isTrue(); // no other task ran on that thread
            }
        }
        assertThat(threads).hasSize(200).allMatch(Thread::isVirtual);
    }

    @Tag("S9")
    @Test
    void a_waiting_task_has_no_thread() throws Exception {
        AtomicInteger threads = new AtomicInteger();
        Scheduler counting = task -> {
            threads.incrementAndGet();
            Scheduler.virtualThreads().execute(task);
        };
        GroupPolicy policy = GroupPolicy.builder().scheduler(key -> counting).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            TaskHandle<String> last = executor.submit("a", "t", tasks.blocked("x"));
            for (int i = 1; i < 1_000; i++) {
                last = executor.submit("a", "t" + i, tasks.blocked("x"));
            }
            assertThat(threads).hasValue(1);
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isEqualTo(999);

            tasks.release(1_000);
            last.await();
            assertThat(threads).hasValue(1_000);
        }
    }

    // The cap over all groups.

    @Tag("S10")
    @Test
    void four_tasks_of_three_groups_run_at_once_under_a_cap_of_four() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4)
                .globalMaxInFlight(4)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 12; i++) {
                handles.add(executor.submit("g" + i % 3, "t" + i, tasks.blocked("x" + i)));
            }
            tasks.awaitBegun(4);
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(3, 4, 8, 4, 4));

            tasks.release(12);
            for (int i = 0; i < 12; i++) {
                assertThat(handles.get(i).await().value()).isEqualTo("x" + i);
            }
            assertThat(tasks.peak()).isEqualTo(4);
        }
    }

    @Tag("S10")
    @Test
    void the_cap_holds_when_many_threads_submit_to_many_groups() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(3)
                .globalMaxInFlight(4)
                .build();
        TestTasks tasks = new TestTasks();
        List<TaskHandle<String>> handles = Collections.synchronizedList(new ArrayList<>());

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(Collections.nCopies(4, () -> {
                for (int i = 0; i < 1_000; i++) {
                    handles.add(executor.submit("g" + i % 8, "t" + i, tasks.brief("x")));
                }
                return null;
            }));
            for (TaskHandle<String> handle : handles) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertThat(executor.stats().globalInFlightUsed()).isZero();
        }
        assertThat(handles).hasSize(4_000);
        assertThat(tasks.peak()).isBetween(1, 4);
    }

    @Tag("S10")
    @Test
    void a_cap_that_is_introduced_counts_the_tasks_that_run_already() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultMaxConcurrencyPerGroup(3).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 3; i++) {
                executor.submit("a", "t" + i, () -> "x");
            }
            executor.setGlobalMaxInFlight(4);
            executor.submit("b", "t1", () -> "x");
            executor.submit("b", "t2", () -> "x");

            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 4, 1, 4, 4));
            steps.runAll();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 0, 0, 0, 4));
        }
    }

    // The bulkhead.

    @Tag("S13")
    @Test
    void no_more_tasks_execute_than_the_bulkhead_allows_under_every_concurrency() throws Exception {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(4)
                .defaultMaxInFlightPerGroup(3)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy);
                TestTasks tasks = new TestTasks()) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                handles.add(executor.submit("a", "t" + i, tasks.blocked("x")));
            }
            tasks.awaitBegun(3);
            assertThat(executor.groupStats("a").orElseThrow())
                    .isEqualTo(new GroupStats("a", 3, 3, 4, Integer.MAX_VALUE));

            tasks.release(6);
            for (TaskHandle<String> handle : handles) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertThat(tasks.peak()).isEqualTo(3);
        }
    }

    @Tag("S13")
    @Test
    void tasks_that_wait_for_the_bulkhead_count_against_the_queue_threshold() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(4)
                .perGroupMaxInFlight(Map.of("a", 3))
                .defaultQueueThresholdPerGroup(2)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                handles.add(executor.submit("a", "t" + i, () -> "x"));
            }

            assertThat(steps.size()).isEqualTo(3);
            assertThat(executor.groupStats("a").orElseThrow().queuedCount()).isEqualTo(2);
            assertThat(handles.stream().map(TaskHandle::isDone))
                    .containsExactly(false, false, false, false, false, true);
        }
    }

    // Several limits at once.

    @Tag("S14")
    @Test
    void a_task_that_waits_for_the_cap_holds_no_slot_of_its_group() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps).globalMaxInFlight(1).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "holds the cap", () -> "x");
            executor.submit("b", "waits for the cap", () -> "x");

            assertThat(executor.groupStats("b").orElseThrow())
                    .isEqualTo(new GroupStats("b", 0, 1, 1, Integer.MAX_VALUE));
            assertThat(executor.stats().globalInFlightUsed()).isEqualTo(1);
        }
    }

    @Tag("S14")
    @Test
    void a_task_that_waits_for_its_group_or_its_bulkhead_holds_no_slot_of_the_cap() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .perGroupMaxConcurrency(Map.of("bulkhead", 5))
                .perGroupMaxInFlight(Map.of("bulkhead", 1))
                .globalMaxInFlight(10)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 5; i++) {
                executor.submit("limit", "t" + i, () -> "x");
                executor.submit("bulkhead", "t" + i, () -> "x");
            }

            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 2, 8, 2, 10));
        }
    }

    @Tag("S14")
    @Test
    void wide_tasks_take_all_their_slots_or_none_so_two_groups_cannot_deadlock() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(4)
                .globalMaxInFlight(5)
                .build();
        AtomicInteger called = new AtomicInteger();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 100; i++) {
                executor.submit(
                        "a", TaskSpec.named("a" + i, called::incrementAndGet).cost(3));
                executor.submit(
                        "b", TaskSpec.named("b" + i, called::incrementAndGet).cost(3));
            }
            for (int ended = 0; ended < 200; ended++) {
                assertThat(steps.size()).isEqualTo(1);
                assertThat(executor.stats().globalInFlightUsed()).isEqualTo(3);
                assertThat(executor.stats().totalActiveCount()).isEqualTo(3);
                steps.runNext();
            }
            assertThat(called).hasValue(200);
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(2, 0, 0, 0, 5));
        }
    }

    @Tag("S14")
    @Test
    void every_end_of_a_task_releases_exactly_the_slots_that_it_took() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultMaxConcurrencyPerGroup(3)
                .defaultMaxInFlightPerGroup(2)
                .defaultQueueThresholdPerGroup(0)
                .globalMaxInFlight(4)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<Consumer<TaskHandle<Object>>> ends = List.of(
                    handle -> steps.runNext(), handle -> handle.cancel(true), handle -> executor.evictGroup("a"));
            for (Callable<Object> task : List.<Callable<Object>>of(() -> "x", GroupLimitsTest::fail)) {
                for (Consumer<TaskHandle<Object>> end : ends) {
                    TaskHandle<Object> handle =
                            executor.submit("a", TaskSpec.named("wide", task).cost(100));
                    assertThat(executor.stats().globalInFlightUsed()).isEqualTo(2);
                    assertThat(executor.submit("a", "refused", task).isDone()).isTrue();
                    assertThat(executor.submit(
                                            "a", TaskSpec.named("refused", task).cost(100))
                                    .isDone())
                            .isTrue();
                    assertThat(executor.stats().globalInFlightUsed()).isEqualTo(2);

                    end.accept(handle);
                    steps.runAll();
                    assertThat(executor.stats().globalInFlightUsed()).isZero();
                    assertThat(executor.stats().totalActiveCount()).isZero();
                }
            }
        }
    }

    private static Object fail() {
        throw new AssertionError("on purpose");
    }

    // Changing limits.

    @Tag("S16")
    @Test
    void a_higher_limit_starts_waiting_tasks_at_once() {
        StepScheduler steps = new StepScheduler();

        try (GroupExecutor executor =
                GroupExecutor.newVirtualThreadExecutor(TestTasks.stepped(steps).build())) {
            for (int i = 0; i < 10; i++) {
                executor.submit("a", "t" + i, () -> "x");
            }
            assertThat(steps.size()).isEqualTo(1);

            executor.setMaxConcurrency("a", 4);
            assertThat(steps.size()).isEqualTo(4);
            assertThat(executor.groupStats("a").orElseThrow())
                    .isEqualTo(new GroupStats("a", 4, 6, 4, Integer.MAX_VALUE));
        }
    }

    @Tag("S16")
    @Test
    void under_a_lower_limit_running_tasks_go_on_and_no_task_starts_until_a_slot_is_free() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy =
                TestTasks.stepped(steps).defaultMaxConcurrencyPerGroup(3).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            List<TaskHandle<String>> handles = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                handles.add(executor.submit("a", "t" + i, () -> "x"));
            }
            executor.setMaxConcurrency("a", 1);
            assertThat(steps.size()).isEqualTo(3);

            steps.runNext();
            steps.runNext();
            assertThat(steps.size()).isEqualTo(1); // the third of the tasks that ran before
            assertThat(executor.explain(handles.get(3)).waitingFor()).isEqualTo(WaitReason.GROUP_LIMIT);

            steps.runNext();
            assertThat(steps.size()).isEqualTo(1);
            assertThat(executor.explain(handles.get(3)).waitingFor()).isEqualTo(WaitReason.NOTHING);
            assertThat(executor.explain(handles.get(4)).waitingFor()).isEqualTo(WaitReason.GROUP_LIMIT);
        }
    }

    @Tag("S16")
    @Test
    void a_higher_cap_starts_waiting_tasks_at_once_and_a_lower_one_by_attrition() {
        StepScheduler steps = new StepScheduler();
        GroupPolicy policy = TestTasks.stepped(steps).globalMaxInFlight(1).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 6; i++) {
                executor.submit("g" + i, "t", () -> "x");
            }
            assertThat(steps.size()).isEqualTo(1);
            executor.setGlobalMaxInFlight(4);
            assertThat(steps.size()).isEqualTo(4);

            executor.setGlobalMaxInFlight(2);
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(6, 4, 2, 4, 2));
            steps.runNext();
            steps.runNext();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(6, 2, 2, 2, 2));
            steps.runNext();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(6, 2, 1, 2, 2));
        }
    }

    @Tag("S16")
    @Test
    void no_wake_up_is_lost_when_limits_change_while_tasks_end() throws Exception {
        int count = 3_000;
        CountDownLatch ended = new CountDownLatch(count);
        GroupPolicy policy = GroupPolicy.builder().globalMaxInFlight(2).build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(List.of(
                    () -> {
                        for (int i = 0; i < count; i++) {
                            executor.submit("a", "t", () -> {
                                ended.countDown();
                                return null;
                            });
                        }
                        return null;
                    },
                    () -> {
                        for (int round = 1; round <= count; round++) {
                            executor.setMaxConcurrency("a", 1 + round % 8);
                            executor.setGlobalMaxInFlight(1 + round % 5);
                        }
                        return null;
                    }));

            ended.await(); // without a further submission or change
            assertThat(executor.awaitIdle("a", Duration.ofMinutes(2))).isTrue();
            assertThat(executor.stats()).isEqualTo(new GroupExecutorStats(1, 0, 0, 0, 1));
        }
    }
}
