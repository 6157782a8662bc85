package dev.raddle.group;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class GroupPolicyTest {

    // The limits of a group.

    @Tag("P1")
    @Test
    void a_number_that_is_set_for_a_key_takes_precedence_and_the_resolver_is_not_called() {
        List<String> asked = new ArrayList<>();
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(Map.of("set", 7))
                .concurrencyResolver(key -> {
                    asked.add(key);
                    return 3;
                })
                .defaultMaxConcurrencyPerGroup(5)
                .build();

        assertThat(policy.resolveConcurrency("set")).isEqualTo(7);
        assertThat(policy.resolveConcurrency("other")).isEqualTo(3);
        assertThat(asked).containsExactly("other");
    }

    @Tag("P1")
    @Test
    void a_key_without_a_number_and_without_a_resolver_gets_the_default() {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(Map.of("set", 7))
                .defaultMaxConcurrencyPerGroup(5)
                .build();

        assertThat(policy.resolveConcurrency("other")).isEqualTo(5);
    }

    @Tag("P2")
    @ParameterizedTest
    @ValueSource(ints = {0, -5, Integer.MIN_VALUE})
    void a_resolver_that_returns_less_than_one_means_one(int answer) {
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> answer)
                .weightResolver(key -> answer)
                .defaultMaxConcurrencyPerGroup(5)
                .build();

        assertThat(policy.resolveConcurrency("a")).isEqualTo(1);
        assertThat(policy.resolveWeight("a")).isEqualTo(1);
    }

    static Stream<Throwable> resolverExceptions() {
        return Stream.of(
                new IllegalStateException("no connection"),
                new StackOverflowError("resolver"),
                new AssertionError("resolver"),
                new IOException("sneaked past the compiler"));
    }

    @Tag("P3")
    @ParameterizedTest
    @MethodSource("resolverExceptions")
    void a_resolver_that_throws_means_the_default_and_its_exception_reaches_the_sink(Throwable thrown)
            throws Exception {
        List<Throwable> reported = Collections.synchronizedList(new ArrayList<>());
        List<String> sources = Collections.synchronizedList(new ArrayList<>());
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> GroupPolicyTest.<RuntimeException>sneak(thrown))
                .defaultMaxConcurrencyPerGroup(5)
                .exceptionSink(ExceptionSink.to((source, error) -> {
                    sources.add(source);
                    reported.add(error);
                }))
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            assertThat(executor.submit("a", "t", () -> "x").await().value()).isEqualTo("x");
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(5);
        }
        assertThat(policy.exceptionSink().count()).isEqualTo(1);
        assertThat(reported).containsExactly(thrown);
        assertThat(sources).containsExactly("concurrencyResolver for group \"a\"");
    }

    @SuppressWarnings("unchecked") // so that the resolver can throw a checked exception
    private static <E extends Throwable> int sneak(Throwable thrown) throws E {
        throw (E) thrown;
    }

    @Tag("P4")
    @Test
    void by_default_a_group_runs_one_task_at_a_time_and_nothing_else_is_limited() {
        GroupPolicy policy = GroupPolicy.builder().build();

        assertThat(policy.defaultMaxConcurrencyPerGroup()).isEqualTo(1);
        assertThat(policy.resolveConcurrency("any")).isEqualTo(1);
        assertThat(policy.globalMaxInFlight()).isEqualTo(Integer.MAX_VALUE);
        assertThat(policy.globalQueueThreshold()).isEqualTo(Integer.MAX_VALUE);
        assertThat(policy.defaultMaxInFlightPerGroup()).isEqualTo(Integer.MAX_VALUE);
        assertThat(policy.defaultQueueThresholdPerGroup()).isEqualTo(Integer.MAX_VALUE);
        assertThat(policy.perGroupMaxConcurrency()).isEmpty();
        assertThat(policy.perGroupMaxInFlight()).isEmpty();
        assertThat(policy.perGroupQueueThreshold()).isEmpty();
        assertThat(policy.rejectionPolicy()).isEqualTo(RejectionPolicy.ABORT);
        assertThat(policy.rejectionHandler()).isNull();
        assertThat(policy.taskLifecycleListener()).isNull();
        assertThat(policy.concurrencyResolver()).isNull();
        assertThat(policy.queueTimeout()).isNull();
        assertThat(policy.resolveWeight("any")).isEqualTo(1);
        assertThat(policy.idleGroupTtl()).isEqualTo(Duration.ofSeconds(60));
        assertThat(policy.maxIdleGroups()).isEqualTo(65_536);
        assertThat(policy.reuseThreads()).isFalse();
        assertThat(policy.closeTimeout()).isEqualTo(Duration.ofSeconds(30));
    }

    @Tag("P4")
    @Test
    void an_automatic_cap_is_four_times_the_processors() {
        assertThat(GroupPolicy.AUTO).isEqualTo(4 * Runtime.getRuntime().availableProcessors());
    }

    // The calls of the resolver.

    @Tag("P5")
    @Test
    void sixty_four_concurrent_first_submits_call_the_resolver_once() throws Exception {
        int submitters = 64;
        AtomicInteger asked = new AtomicInteger();
        CountDownLatch othersReturned = new CountDownLatch(submitters - 1);
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> {
                    Wait.uninterrupted(othersReturned);
                    return asked.incrementAndGet();
                })
                .build();
        List<TaskHandle<String>> handles = Collections.synchronizedList(new ArrayList<>());

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(Collections.nCopies(submitters, () -> {
                handles.add(executor.submit("a", "t", () -> "x"));
                othersReturned.countDown();
                return null;
            }));

            assertThat(handles).hasSize(submitters);
            for (TaskHandle<String> handle : handles) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertThat(asked).hasValue(1);
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(1);
        }
    }

    @Tag("P5")
    @Test
    void first_submits_that_race_call_the_resolver_once_for_each_group() throws Exception {
        int groups = 2_000;
        Map<String, Integer> asked = new ConcurrentHashMap<>();
        AtomicInteger round = new AtomicInteger();
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> asked.merge(key, 1, Integer::sum))
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            Together.together(Collections.nCopies(2, () -> {
                for (int i = 0; i < groups; i++) {
                    TestTasks.meet(round, 2);
                    executor.submit("g" + i, "t", () -> "x");
                }
                return null;
            }));
        }
        assertThat(asked).hasSize(groups);
        assertThat(asked.values()).containsOnly(1);
    }

    @Tag("P5")
    @Test
    void the_first_result_of_the_resolver_holds_for_the_lifetime_of_the_group() throws Exception {
        AtomicInteger asked = new AtomicInteger();
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> asked.incrementAndGet())
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            for (int i = 0; i < 10; i++) {
                executor.submit("a", "t" + i, () -> "x").await();
                assertThat(executor.groupStats("a").orElseThrow().maxConcurrency())
                        .isEqualTo(1);
            }
        }
        assertThat(asked).hasValue(1);
    }

    @Tag("P5")
    @Test
    void an_evicted_group_calls_the_resolver_again() {
        StepScheduler steps = new StepScheduler();
        AtomicInteger asked = new AtomicInteger();
        GroupPolicy policy = TestTasks.stepped(steps)
                .concurrencyResolver(key -> asked.incrementAndGet())
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "t1", () -> "x");
            executor.evictGroup("a"); // although a task of it has not ended
            executor.submit("a", "t2", () -> "x");
            executor.submit("a", "t3", () -> "x");

            assertThat(asked).hasValue(2);
            assertThat(executor.groupStats("a").orElseThrow())
                    .isEqualTo(new GroupStats("a", 2, 1, 2, Integer.MAX_VALUE));
        }
    }

    @Tag("P5")
    @Test
    void an_idle_group_that_was_removed_calls_the_resolver_again_and_one_that_was_kept_does_not() {
        StepScheduler steps = new StepScheduler();
        VirtualTime time = new VirtualTime();
        AtomicInteger asked = new AtomicInteger();
        GroupPolicy policy = TestTasks.stepped(steps)
                .timeSource(time)
                .idleGroupTtl(Duration.ofSeconds(60))
                .concurrencyResolver(key -> asked.incrementAndGet())
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "t1", () -> "x");
            steps.runAll();
            time.advance(Duration.ofSeconds(59));
            executor.submit("a", "t2", () -> "x");
            steps.runAll();
            assertThat(asked).hasValue(1);

            time.advance(Duration.ofSeconds(61));
            executor.submit("a", "t3", () -> "x");
            assertThat(asked).hasValue(2);
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(2);
        }
    }

    @Tag("P6")
    @Test
    void a_resolver_may_call_the_executor_and_submit_to_other_groups_and_its_own() throws Exception {
        AtomicReference<GroupExecutor> self = new AtomicReference<>();
        List<TaskHandle<String>> inner = Collections.synchronizedList(new ArrayList<>());
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> {
                    GroupExecutor executor = self.get();
                    if (key.equals("a")) {
                        inner.add(executor.submit("a", "to its own", () -> "x"));
                        inner.add(executor.submit("b", "to another", () -> "x"));
                        executor.setMaxConcurrency("a", 3);
                        executor.stats();
                        executor.groupStats("a");
                        executor.activeGroupKeys();
                        executor.pauseGroup("c");
                        executor.resumeGroup("c");
                    } else if (key.equals("b")) {
                        inner.add(executor.submit("a", "back to the first", () -> "x"));
                        executor.evictGroup("b");
                    }
                    return 2;
                })
                .rejectionPolicy(RejectionPolicy.DISCARD)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            self.set(executor);
            assertThat(executor.submit("a", "t", () -> "x").await().status()).isEqualTo(TaskStatus.SUCCESS);

            assertThat(inner).hasSize(3);
            for (TaskHandle<String> handle : inner) {
                assertThat(handle.await().status())
                        .as(handle.taskId())
                        .isEqualTo(handle.groupKey().equals("b") ? TaskStatus.REJECTED : TaskStatus.SUCCESS);
            }
            assertThat(executor.groupStats("a").orElseThrow().maxConcurrency()).isEqualTo(3);
        }
        assertThat(policy.exceptionSink().count()).isZero();
    }

    @Tag("P6")
    @Test
    void while_a_resolver_runs_other_threads_use_the_executor_and_the_same_group() throws Exception {
        CountDownLatch asked = new CountDownLatch(1);
        CountDownLatch answer = new CountDownLatch(1);
        GroupPolicy policy = GroupPolicy.builder()
                .concurrencyResolver(key -> {
                    if (key.equals("slow")) {
                        asked.countDown();
                        Wait.uninterrupted(answer);
                    }
                    return 2;
                })
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            AtomicReference<TaskHandle<String>> first = new AtomicReference<>();
            Thread submitter = Thread.ofPlatform().start(() -> first.set(executor.submit("slow", "first", () -> "x")));
            asked.await();

            TaskHandle<String> second = executor.submit("slow", "second", () -> "x");
            TaskHandle<String> third = executor.submit("slow", "third", () -> "x");
            assertThat(third.cancel(false)).isTrue();
            assertThat(executor.submit("quick", "t", () -> "x").await().value()).isEqualTo("x");
            assertThat(executor.stats().totalQueuedCount()).isEqualTo(2);
            assertThat(executor.activeGroupKeys()).containsExactlyInAnyOrder("slow", "quick");
            assertThat(second.isDone()).isFalse();

            answer.countDown();
            submitter.join();
            assertThat(first.get().await().value()).isEqualTo("x");
            assertThat(second.await().value()).isEqualTo("x");
            assertThat(third.await().status()).isEqualTo(TaskStatus.CANCELLED);
        }
    }

    // Building.

    static Stream<Arguments> invalidPolicies() {
        return Stream.of(
                invalid(
                        b -> b.defaultMaxConcurrencyPerGroup(0),
                        "defaultMaxConcurrencyPerGroup must be at least 1, was 0"),
                invalid(b -> b.globalMaxInFlight(0), "globalMaxInFlight must be at least 1, was 0"),
                invalid(b -> b.defaultMaxInFlightPerGroup(-2), "defaultMaxInFlightPerGroup must be at least 1, was -2"),
                invalid(b -> b.globalQueueThreshold(-1), "globalQueueThreshold must be at least 0, was -1"),
                invalid(
                        b -> b.defaultQueueThresholdPerGroup(-1),
                        "defaultQueueThresholdPerGroup must be at least 0, was -1"),
                invalid(
                        b -> b.perGroupMaxConcurrency(Map.of("k1", 0)),
                        "perGroupMaxConcurrency of group \"k1\" must be at least 1, was 0"),
                invalid(
                        b -> b.perGroupMaxConcurrency(Collections.singletonMap("k2", null)),
                        "perGroupMaxConcurrency of group \"k2\" must be at least 1, was null"),
                invalid(
                        b -> b.perGroupMaxInFlight(Map.of("k3", -3)),
                        "perGroupMaxInFlight of group \"k3\" must be at least 1, was -3"),
                invalid(
                        b -> b.perGroupMaxInFlight(Collections.singletonMap("k4", null)),
                        "perGroupMaxInFlight of group \"k4\" must be at least 1, was null"),
                invalid(
                        b -> b.perGroupQueueThreshold(Map.of("k5", -1)),
                        "perGroupQueueThreshold of group \"k5\" must be at least 0, was -1"),
                invalid(
                        b -> b.perGroupQueueThreshold(Collections.singletonMap("k6", null)),
                        "perGroupQueueThreshold of group \"k6\" must be at least 0, was null"),
                invalid(
                        b -> b.rejectionPolicy(null),
                        "rejectionPolicy must be one of ABORT, DISCARD, CALLER_RUNS, was null"),
                invalid(b -> b.maxIdleGroups(-1), "maxIdleGroups must be at least 0, was -1"),
                invalid(
                        b -> b.queueTimeout(Duration.ofNanos(-1)),
                        "queueTimeout must not be negative, was PT-0.000000001S"),
                invalid(b -> b.idleGroupTtl(Duration.ofSeconds(-1)), "idleGroupTtl must not be negative, was PT-1S"),
                invalid(b -> b.closeTimeout(Duration.ofSeconds(-1)), "closeTimeout must not be negative, was PT-1S"));
    }

    private static Arguments invalid(UnaryOperator<GroupPolicy.Builder> setting, String message) {
        return Arguments.of(message, setting);
    }

    @Tag("P7")
    @ParameterizedTest(name = "{0}")
    @MethodSource("invalidPolicies")
    void build_refuses_a_value_out_of_range_and_names_it(String message, UnaryOperator<GroupPolicy.Builder> setting) {
        GroupPolicy.Builder builder = setting.apply(GroupPolicy.builder());

        assertThatIllegalArgumentException().isThrownBy(builder::build).withMessage(message);
    }

    @Tag("P7")
    @Test
    void build_names_everything_that_is_out_of_range() {
        GroupPolicy.Builder builder = GroupPolicy.builder()
                .globalMaxInFlight(0)
                .perGroupMaxInFlight(Map.of("a", 0))
                .rejectionPolicy(null);

        assertThatIllegalArgumentException()
                .isThrownBy(builder::build)
                .withMessageContainingAll("globalMaxInFlight", "perGroupMaxInFlight of group \"a\"", "rejectionPolicy");
    }

    @Tag("P7")
    @Test
    void build_accepts_the_smallest_values() {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(1)
                .globalMaxInFlight(1)
                .defaultMaxInFlightPerGroup(1)
                .globalQueueThreshold(0)
                .defaultQueueThresholdPerGroup(0)
                .perGroupMaxConcurrency(Map.of("a", 1))
                .perGroupMaxInFlight(Map.of("a", 1))
                .perGroupQueueThreshold(Map.of("a", 0))
                .maxIdleGroups(0)
                .queueTimeout(Duration.ZERO)
                .idleGroupTtl(Duration.ZERO)
                .closeTimeout(Duration.ZERO)
                .build();

        assertThat(policy.globalMaxInFlight()).isEqualTo(1);
        assertThat(policy.resolveQueueThreshold("a")).isZero();
    }

    @Tag("P8")
    @Test
    void later_changes_to_the_maps_and_the_builder_do_not_affect_a_policy() {
        Map<String, Integer> concurrency = new HashMap<>(Map.of("a", 2));
        Map<String, Integer> inFlight = new HashMap<>(Map.of("a", 3));
        Map<String, Integer> thresholds = new HashMap<>(Map.of("a", 4));
        GroupPolicy.Builder builder = GroupPolicy.builder()
                .perGroupMaxConcurrency(concurrency)
                .perGroupMaxInFlight(inFlight)
                .perGroupQueueThreshold(thresholds);
        for (Map<String, Integer> map : List.of(concurrency, inFlight, thresholds)) {
            map.put("a", 0); // would not even be valid
            map.put("b", 9);
        }

        GroupPolicy policy = builder.build();
        builder.perGroupMaxConcurrency(Map.of("a", 8)).perGroupMaxInFlight(null).perGroupQueueThreshold(Map.of());
        builder.defaultMaxConcurrencyPerGroup(7).rejectionPolicy(RejectionPolicy.DISCARD);

        assertThat(policy.perGroupMaxConcurrency()).isEqualTo(Map.of("a", 2));
        assertThat(policy.perGroupMaxInFlight()).isEqualTo(Map.of("a", 3));
        assertThat(policy.perGroupQueueThreshold()).isEqualTo(Map.of("a", 4));
        assertThat(policy.resolveConcurrency("b")).isEqualTo(1);
        assertThat(policy.rejectionPolicy()).isEqualTo(RejectionPolicy.ABORT);
        assertThat(builder.build().resolveConcurrency("a")).isEqualTo(8);
    }

    @Tag("P8")
    @Test
    void the_maps_of_a_policy_are_unmodifiable() {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(new HashMap<>(Map.of("a", 2)))
                .perGroupMaxInFlight(new HashMap<>(Map.of("a", 3)))
                .perGroupQueueThreshold(new HashMap<>(Map.of("a", 4)))
                .build();

        for (Map<String, Integer> map : List.of(
                policy.perGroupMaxConcurrency(), policy.perGroupMaxInFlight(), policy.perGroupQueueThreshold())) {
            assertThatThrownBy(() -> map.put("a", 9)).isInstanceOf(UnsupportedOperationException.class);
            assertThatThrownBy(map::clear).isInstanceOf(UnsupportedOperationException.class);
        }
        assertThat(policy.propagation().propagators()).isUnmodifiable();
    }

    @Tag("P8")
    @Test
    void a_map_that_is_null_is_empty() {
        GroupPolicy policy = GroupPolicy.builder()
                .perGroupMaxConcurrency(Map.of("a", 2))
                .perGroupMaxConcurrency(null)
                .perGroupMaxInFlight(Map.of("a", 2))
                .perGroupMaxInFlight(null)
                .perGroupQueueThreshold(Map.of("a", 2))
                .perGroupQueueThreshold(null)
                .build();

        assertThat(policy.perGroupMaxConcurrency()).isEmpty();
        assertThat(policy.perGroupMaxInFlight()).isEmpty();
        assertThat(policy.perGroupQueueThreshold()).isEmpty();
        assertThat(policy.resolveMaxInFlight("a")).isEqualTo(Integer.MAX_VALUE);
    }

    @Tag("P9")
    @Test
    void bulkhead_and_queue_threshold_are_the_numbers_set_for_the_key_else_the_default() {
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxInFlightPerGroup(32)
                .perGroupMaxInFlight(Map.of("a", 16))
                .defaultQueueThresholdPerGroup(100)
                .perGroupQueueThreshold(Map.of("a", 0))
                .build();

        assertThat(policy.resolveMaxInFlight("a")).isEqualTo(16);
        assertThat(policy.resolveMaxInFlight("b")).isEqualTo(32);
        assertThat(policy.resolveQueueThreshold("a")).isZero();
        assertThat(policy.resolveQueueThreshold("b")).isEqualTo(100);
    }

    @Tag("P9")
    @Test
    void resolving_the_limits_of_a_null_key_throws() {
        GroupPolicy policy = GroupPolicy.builder().build();

        assertThatNullPointerException().isThrownBy(() -> policy.resolveConcurrency(null));
        assertThatNullPointerException().isThrownBy(() -> policy.resolveMaxInFlight(null));
        assertThatNullPointerException().isThrownBy(() -> policy.resolveQueueThreshold(null));
        assertThatNullPointerException().isThrownBy(() -> policy.resolveWeight(null));
    }

    @Tag("P10")
    @ParameterizedTest
    @EnumSource(RejectionPolicy.class)
    void a_rejection_handler_replaces_every_rejection_policy(RejectionPolicy ignored) throws Exception {
        StepScheduler steps = new StepScheduler();
        AtomicInteger called = new AtomicInteger();
        RejectionHandler handler = new RejectionHandler() {
            @Override
            public <T> GroupResult<T> onRejected(String groupKey, String taskId, Callable<T> task) {
                return GroupResult.rejected(groupKey, taskId);
            }
        };
        GroupPolicy policy = TestTasks.stepped(steps)
                .defaultQueueThresholdPerGroup(0)
                .rejectionPolicy(ignored)
                .rejectionHandler(handler)
                .build();

        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            executor.submit("a", "t1", () -> "x");
            TaskHandle<Integer> refused = executor.submit("a", "t2", called::incrementAndGet);

            assertThat(refused.await().status()).isEqualTo(TaskStatus.REJECTED); // ABORT would throw
            assertThat(called).hasValue(0); // CALLER_RUNS would have called it
            assertThat(policy.rejectionHandler()).isSameAs(handler);
        }
    }
}
