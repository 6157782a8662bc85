package dev.raddle.group;

import static dev.raddle.task.WaitReason.FLEET_LIMIT;
import static dev.raddle.task.WaitReason.GROUP_LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.scope.ScopeOptions;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rate;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskStatus;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CountDownLatch;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

class PermitSourceTest {

    private static final TaskContext.Key<String> TENANT = TaskContext.Key.named("tenant");

    private final VirtualTime time = new VirtualTime();
    private final StepScheduler steps = new StepScheduler();
    private final List<String> ran = new ArrayList<>();
    private final FakePermits source = new FakePermits();
    private final ExceptionSink sink = ExceptionSink.logging();

    private GroupPolicy.Builder policy() {
        return TestTasks.stepped(steps)
                .timeSource(time)
                .defaultMaxConcurrencyPerGroup(4)
                .exceptionSink(sink)
                .permits(source);
    }

    private static GroupExecutor executor(GroupPolicy.Builder policy) {
        return GroupExecutor.newVirtualThreadExecutor(policy.build());
    }

    /** Performs an action and everything that the executor offloads because of it, in the calling thread. */
    private void perform(Runnable action) {
        time.after(Duration.ZERO, action);
        time.advance(Duration.ZERO);
    }

    private <T> T perform(Supplier<T> action) {
        List<T> result = new ArrayList<>();
        perform(() -> {
            result.add(action.get());
        });
        return result.getFirst();
    }

    private TaskHandle<Boolean> submit(
            GroupExecutor executor, String key, String id, UnaryOperator<TaskSpec<Boolean>> options) {
        return perform(() -> executor.submit(key, options.apply(TaskSpec.named(id, () -> ran.add(id)))));
    }

    private List<TaskHandle<Boolean>> submit(GroupExecutor executor, String key, int tasks) {
        List<TaskHandle<Boolean>> handles = new ArrayList<>();
        perform(() -> {
            for (int i = 0; i < tasks; i++) {
                String id = key + i;
                handles.add(executor.submit(key, id, () -> ran.add(id)));
            }
        });
        return handles;
    }

    private void grant(String key, int permits) {
        perform(() -> source.grant(key, permits));
    }

    private PermitSource.Reclaimed reclaim(String key, int most) {
        return perform(() -> source.holder().reclaim(key, most));
    }

    private int revoke(String key, int permits) {
        return perform(() -> source.holder().revoke(key, permits, "the lease of pod-7 has ended"));
    }

    @Test
    void the_source_is_notified_once_of_what_a_burst_wants_within_the_limit_of_the_group() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 6);

            assertThat(source.demands()).containsExactly("a 4 0");
            assertThat(steps.size()).isZero();
        }
    }

    @Test
    void a_grant_is_used_by_the_next_waiting_task_in_order_of_priority_and_arrival() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 2);
            submit(executor, "a", "urgent", spec -> spec.priority(1));
            assertThat(source.demands()).containsExactly("a 2 0", "a 3 0");

            grant("a", 2);
            perform(steps::runAll);

            assertThat(ran).containsExactly("urgent", "a0", "a1");
        }
    }

    @Test
    void a_permit_is_used_by_one_task_after_the_other_and_offered_once_when_it_is_unused() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 1);
            grant("a", 1);
            assertThat(source.demands()).containsExactly("a 1 0"); // the grant was counted against it
            perform(steps::runAll);
            assertThat(source.demands()).containsExactly("a 0 1");

            for (int i = 0; i < 10; i++) {
                submit(executor, "a", 1);
                assertThat(steps.size()).isEqualTo(1);
                perform(steps::runAll);
            }
            assertThat(source.demands()).isEmpty();

            assertThat(reclaim("a", 5)).isEqualTo(new PermitSource.Reclaimed(0, 1));
            submit(executor, "a", 1);
            assertThat(source.demands()).containsExactly("a 1 0");
        }
    }

    @Test
    void a_busy_group_whose_tasks_arrive_as_they_end_reports_nothing() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 2);
            grant("a", 1);
            source.demands();

            for (int i = 0; i < 10; i++) {
                perform(() -> assertThat(steps.runNext()).isTrue());
                submit(executor, "a", 1);
            }
            assertThat(source.demands()).isEmpty();

            perform(steps::runAll);
            assertThat(source.demands()).containsExactly("a 0 1");
        }
    }

    @Test
    void more_permits_than_wanted_are_accepted_and_offered_back() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 2);
            grant("a", 5);

            assertThat(steps.size()).isEqualTo(2);
            assertThat(source.demands()).containsExactly("a 2 0", "a 0 3");
            assertThat(reclaim("a", 2)).isEqualTo(new PermitSource.Reclaimed(2, 0));
            assertThat(source.demands()).containsExactly("a 0 1");
            assertThat(reclaim("a", 9)).isEqualTo(new PermitSource.Reclaimed(1, 0));
            assertThat(reclaim("a", 9)).isEqualTo(PermitSource.Reclaimed.NONE);
        }
    }

    @Test
    void a_permit_for_one_task_is_spent_when_that_has_ended() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 2);
            assertThat((boolean) perform(() -> source.holder().grantOnce("a", 1)))
                    .isTrue();
            source.demands();
            perform(steps::runAll);

            assertThat(ran).containsExactly("a0");
            assertThat(source.demands()).containsExactly("a 1 1");
            assertThat(reclaim("a", 9)).isEqualTo(new PermitSource.Reclaimed(0, 1));
            grant("a", 1);
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "a1");
        }
    }

    @Test
    void a_group_without_tasks_accepts_no_permit() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ZERO))) {
            assertThat(source.holder().grant("a", 1)).isFalse();
            assertThat(source.holder().reclaim("a", 1)).isEqualTo(PermitSource.Reclaimed.NONE);
            assertThat(source.holder().revoke("a", 1, "lost")).isZero();
            source.holder().limit("a", 1);

            TaskHandle<Boolean> handle = submit(executor, "a", 1).getFirst();
            perform(() -> handle.cancel(false));
            assertThat(source.holder().grant("a", 1)).isFalse();
        }
    }

    @Test
    void a_revocation_takes_unused_permits_first_and_then_those_of_the_youngest_tasks() {
        try (GroupExecutor executor = executor(policy())) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 3);
            grant("a", 4);

            assertThat(revoke("a", 2)).isEqualTo(2);

            assertThat(handles.get(1).isDone()).isFalse();
            GroupResult<Boolean> lost = handles.get(2).join();
            assertThat(lost.status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(lost.error())
                    .isInstanceOf(CancelledException.class)
                    .hasMessage("lost a permit of group \"a\": the lease of pod-7 has ended");
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "a1");
            assertThat(revoke("a", 9)).isEqualTo(2);
            assertThat(executor.groupStats("a").orElseThrow().permits()).isEqualTo(new GroupStats.Permits(0, 0, 0));
        }
    }

    @Test
    void a_running_task_that_loses_its_permit_is_interrupted() throws InterruptedException {
        try (TestTasks tasks = new TestTasks();
                GroupExecutor executor = executor(policy().scheduler(null))) {
            TaskHandle<String> handle = executor.submit("a", tasks.blocked("done"));
            source.reports.acquire();
            source.grant("a", 1);
            tasks.awaitBegun(1);

            assertThat(source.holder().revoke("a", 1, "gone")).isEqualTo(1);

            assertThat(handle.join().status()).isEqualTo(TaskStatus.CANCELLED);
            assertThat(executor.awaitIdle("a", Duration.ofSeconds(30))).isTrue();
        }
    }

    @Test
    void a_task_that_continues_without_its_permit_counts_against_later_permits_until_it_ends() {
        try (GroupExecutor executor = executor(policy().lostPermits(LostPermitPolicy.CONTINUE))) {
            submit(executor, "a", 3);
            grant("a", 1);
            source.demands();
            assertThat(revoke("a", 1)).isEqualTo(1);
            assertThat(source.demands())
                    .as("one of them in addition to the running task")
                    .containsExactly("a 3 0");

            grant("a", 1);
            assertThat(steps.size()).isEqualTo(1);
            grant("a", 1);
            assertThat(steps.size()).isEqualTo(2);
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "a1", "a2");
            assertThat(executor.groupStats("a").orElseThrow().permits()).isEqualTo(new GroupStats.Permits(0, 2, 0));
        }
    }

    @Test
    void a_task_takes_as_many_permits_as_it_costs_and_loses_its_place_if_it_loses_one() {
        try (GroupExecutor executor = executor(policy())) {
            TaskHandle<Boolean> wide = submit(executor, "a", "wide", spec -> spec.cost(3));
            submit(executor, "a", "next", spec -> spec);
            assertThat(source.demands()).containsExactly("a 3 0", "a 4 0");
            grant("a", 2);
            assertThat(steps.size()).isZero();
            grant("a", 1);
            assertThat(steps.size()).isEqualTo(1);

            assertThat(revoke("a", 1)).isEqualTo(1);
            assertThat(wide.join().status()).isEqualTo(TaskStatus.CANCELLED);
            perform(steps::runAll);
            assertThat(ran).containsExactly("next");
        }
    }

    @Test
    void permits_that_do_not_suffice_for_the_first_task_are_taken_back_and_wanted_again() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", "wide", spec -> spec.cost(3));
            grant("a", 2);

            perform(() -> assertThat(source.holder().reclaimGathered("a")).isEqualTo(new PermitSource.Reclaimed(2, 0)));
            assertThat(source.wanted("a")).isEqualTo(3);
            perform(() -> assertThat(source.holder().reclaimGathered("a")).isEqualTo(PermitSource.Reclaimed.NONE));
            grant("a", 3);
            perform(() -> assertThat(source.holder().reclaimGathered("a")).isEqualTo(PermitSource.Reclaimed.NONE));
            perform(steps::runAll);
            assertThat(ran).containsExactly("wide");
        }
    }

    @Test
    void a_cost_is_clipped_to_the_limit_of_the_fleet_and_no_more_is_wanted() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", "wide", spec -> spec.cost(9));
            submit(executor, "a", 3);
            assertThat(source.wanted("a")).isEqualTo(4);

            perform(() -> source.holder().limit("a", 2));
            assertThat(source.wanted("a")).isEqualTo(2);
            grant("a", 1);
            assertThat(steps.size()).isZero();
            perform(() -> source.holder().limit("a", 1));
            perform(steps::runAll);
            assertThat(ran).containsExactly("wide", "a0", "a1", "a2");
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> source.holder().limit("a", 0))
                    .withMessage("the limit of group \"a\" must be at least 1, was 0");
        }
    }

    @Test
    void a_task_and_what_it_submits_have_its_fencing_number() {
        List<OptionalLong> fences = new ArrayList<>();
        try (GroupExecutor executor = executor(policy());
                GroupExecutor other = executor(policy().permits(null))) {
            perform(() -> executor.submit(
                    "a", TaskSpec.named("wide", () -> fences.add(fence())).cost(2)));
            perform(() -> executor.submit("a", () -> {
                fences.add(fence());
                return other.submit("b", () -> fences.add(fence()));
            }));
            perform(() -> TaskContext.current()
                    .with(TENANT, "x")
                    .run(() -> executor.submit("a", () -> {
                        fences.add(fence());
                        assertThat(TaskContext.current().get(TENANT)).isEqualTo("x");
                        return other.submit("b", () -> fences.add(fence()));
                    })));
            assertThat(fence()).isEmpty();
            grant("a", 4);
            perform(steps::runAll);
        }

        assertThat(fences)
                .containsExactly(
                        OptionalLong.of(2),
                        OptionalLong.of(3),
                        OptionalLong.of(4),
                        OptionalLong.of(3),
                        OptionalLong.of(4));
    }

    private static OptionalLong fence() {
        return TaskContext.current().fence();
    }

    @Test
    void calls_subtasks_and_placed_tasks_have_the_fencing_number() throws Exception {
        FakePermits generous = new FakePermits() {
            @Override
            void onDemand(String key, int wanted, int unused) {
                grant(key, wanted);
            }
        };
        try (GroupExecutor executor = executor(policy().scheduler(null).permits(generous))) {
            List<Object> seen = executor.call("a", () -> {
                try (ThreadScope scope = ThreadScope.open()) {
                    return List.of(fence(), scope.submit("child", () -> fence()).await());
                }
            });
            assertThat(seen).containsExactly(OptionalLong.of(1), OptionalLong.of(1));

            ScopeOptions inGroup = ScopeOptions.defaults().withScheduler(executor.scheduler("b"));
            try (ThreadScope scope = ThreadScope.open("in group", inGroup)) {
                assertThat(scope.submit("placed", () -> fence()).await()).isEqualTo(OptionalLong.of(2));
            }
        }
    }

    @Test
    void an_explanation_and_the_statistics_say_where_the_fleet_stands() {
        source.status = new PermitStatus(3, 2, List.of(new PermitStatus.Holding("pod-7", 3, Duration.ofSeconds(4))));
        try (GroupExecutor executor = executor(policy())) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 6);

            assertThat(executor.explain(handles.getFirst()))
                    .isEqualTo(new Explanation(FLEET_LIMIT, 0, 0).withPermits(1, source.status))
                    .hasToString("waits for 1 of 3 permits of the fleet, 2nd in line, held by pod-7 for 4 s");
            assertThat(executor.explain(handles.get(1)).toString()).endsWith(" for 4 s, 1 before it");
            assertThat(executor.explain(handles.get(5)).waitingFor()).isEqualTo(GROUP_LIMIT);
            grant("a", 1);
            assertThat(executor.groupStats("a"))
                    .contains(new GroupStats(
                            "a",
                            1,
                            5,
                            4,
                            Integer.MAX_VALUE,
                            null,
                            null,
                            null,
                            new GroupStats.Permits(3, 1, 3),
                            false,
                            null));
            source.status = PermitStatus.UNKNOWN;
            assertThat(executor.explain(handles.get(1))).hasToString("waits for 1 permit of the fleet");
            source.status = new PermitStatus(3, 0, List.of(), "no answer of the server");
            assertThat(executor.explain(handles.get(1)))
                    .hasToString("waits for 1 of 3 permits of the fleet: no answer of the server");
        }
    }

    @Test
    void a_wait_is_described_for_any_number_of_permits_places_and_holders() {
        PermitStatus.Holding first = new PermitStatus.Holding("x", 1, Duration.ofMillis(1_900));
        assertThat(new PermitStatus(0, 11, List.of()).describe(2)).isEqualTo("2 permits of the fleet, 11th in line");
        assertThat(new PermitStatus(5, 21, List.of(first, first)).describe(1))
                .isEqualTo("1 of 5 permits of the fleet, 21st in line, held by x for 1 s and by another JVM");
        assertThat(new PermitStatus(5, 3, List.of(first, first, first)).describe(1))
                .isEqualTo("1 of 5 permits of the fleet, 3rd in line, held by x for 1 s and by 2 other JVMs");
    }

    @Test
    void a_queue_that_is_full_for_want_of_permits_rejects_with_that_reason() {
        try (GroupExecutor executor = executor(policy().defaultQueueThresholdPerGroup(1))) {
            submit(executor, "a", 1);
            GroupResult<Boolean> rejected = executor.submit("a", () -> ran.add("no"))
                    .toCompletableFuture()
                    .handle((result, thrown) -> result)
                    .join();
            assertThat(rejected).isNull();
            assertThatThrownBy(() -> executor.call("a", () -> "no"))
                    .hasMessageContaining("permits: 0 permits of the fleet, 0 running, 1 of 1 waiting");
            source.status = new PermitStatus(3, 0, List.of(), "no answer of the server");
            assertThatThrownBy(() -> executor.call("a", () -> "no"))
                    .hasMessageContaining("1 of 1 waiting, no answer of the server");
        }
    }

    @Test
    void a_try_without_a_wait_uses_only_a_permit_that_is_there() throws Exception {
        try (GroupExecutor executor = executor(policy())) {
            assertThat(executor.tryCall("a", Duration.ZERO, () -> "ran")).isEmpty();
            submit(executor, "a", 1);
            grant("a", 1);
            perform(steps::runAll);
            assertThat(executor.tryCall("a", Duration.ZERO, () -> "ran")).isEqualTo(Optional.of("ran"));
            assertThat(executor.tryCall("a", Duration.ZERO, () -> "again")).isEqualTo(Optional.of("again"));
        }
    }

    @Test
    void queue_timeouts_and_cancellations_make_the_demand_smaller() {
        try (GroupExecutor executor = executor(policy())) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 2);
            TaskHandle<Boolean> late = submit(executor, "a", "late", spec -> spec.queueTimeout(Duration.ofSeconds(1)));
            assertThat(source.demands()).containsExactly("a 2 0", "a 3 0");

            time.advance(Duration.ofSeconds(1));
            assertThat(late.isDone()).isTrue();
            assertThat(source.demands()).containsExactly("a 2 0");
            perform(() -> handles.forEach(handle -> handle.cancel(false)));
            assertThat(source.demands()).containsExactly("a 0 0");
        }
    }

    @Test
    void a_paused_group_and_one_on_hold_want_nothing_and_offer_what_they_have() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 1);
            perform(() -> executor.pauseGroup("a"));
            grant("a", 1);
            assertThat(steps.size()).isZero();
            assertThat(source.demands()).containsExactly("a 1 0", "a 0 0", "a 0 1");
            reclaim("a", 1);
            perform(() -> executor.resumeGroup("a"));
            assertThat(source.demands()).containsExactly("a 1 0");

            perform(() -> executor.holdGroup("a", Duration.ofSeconds(1)));
            assertThat(source.demands()).containsExactly("a 0 0");
            time.advance(Duration.ofSeconds(1));
            assertThat(source.demands()).containsExactly("a 1 0");
            grant("a", 1);
            assertThat(steps.size()).isEqualTo(1);
        }
    }

    @Test
    void a_throttled_group_asks_for_a_permit_when_its_rate_allows_the_next_task() {
        try (GroupExecutor executor =
                executor(policy().defaultRatePerGroup(Rate.perSecond(1).burst(1)))) {
            submit(executor, "a", 3);
            assertThat(source.demands()).containsExactly("a 3 0");
            grant("a", 2);
            assertThat(steps.size()).isEqualTo(1);
            assertThat(source.demands()).containsExactly("a 0 1");
            assertThat(reclaim("a", 1).total()).isEqualTo(1);

            time.advance(Duration.ofSeconds(1));
            assertThat(source.demands()).containsExactly("a 2 0");
            grant("a", 1);
            assertThat(steps.size()).isEqualTo(2);
        }
    }

    @Test
    void the_first_task_of_a_throttled_group_without_a_permit_is_not_forgotten() {
        try (GroupExecutor executor =
                executor(policy().defaultRatePerGroup(Rate.perSecond(1).burst(1)))) {
            submit(executor, "a", 1);
            grant("a", 1);
            perform(steps::runAll);
            assertThat(reclaim("a", 1).total()).isEqualTo(1);
            source.demands();

            submit(executor, "a", 1);
            assertThat(source.demands()).isEmpty();
            time.advance(Duration.ofSeconds(1));
            assertThat(source.demands()).containsExactly("a 1 0");
        }
    }

    @Test
    void an_evicted_group_offers_its_permits_and_is_removed_when_they_are_reclaimed() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ZERO))) {
            List<TaskHandle<Boolean>> handles = submit(executor, "a", 6);
            grant("a", 2);
            source.demands();
            perform(() -> executor.evictGroup("a"));

            assertThat(handles.get(5).toCompletableFuture()).isCompletedExceptionally();
            assertThat(source.demands()).containsExactly("a 0 0");
            perform(steps::runAll);
            assertThat(source.demands()).containsExactly("a 0 2");
            assertThat(executor.activeGroupKeys()).containsExactly("a");
            assertThat(reclaim("a", 2)).isEqualTo(new PermitSource.Reclaimed(0, 2));
            assertThat(executor.engine.groups).isEmpty();
        }
    }

    @Test
    void a_group_that_was_shut_down_keeps_its_permits_for_the_next_task_of_the_key() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 2);
            grant("a", 1);
            perform(() -> executor.shutdownGroup("a"));
            assertThat(source.demands()).contains("a 0 1");
            perform(steps::runAll);
            assertThat(ran).isEmpty();

            submit(executor, "a", 1);
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0");
        }
    }

    @Test
    void an_idle_group_with_permits_is_kept_until_they_are_reclaimed() {
        try (GroupExecutor executor = executor(policy().idleGroupTtl(Duration.ofSeconds(1)))) {
            submit(executor, "a", 1);
            grant("a", 1);
            perform(steps::runAll);
            time.advance(Duration.ofHours(1));
            assertThat(executor.activeGroupKeys()).containsExactly("a");

            reclaim("a", 1);
            time.advance(Duration.ofSeconds(2));
            assertThat(executor.activeGroupKeys()).isEmpty();
        }
    }

    @Test
    void a_changed_limit_of_the_group_changes_the_demand() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 9);
            perform(() -> executor.setMaxConcurrency("a", 6));
            perform(() -> executor.setMaxConcurrency("a", 1));
            assertThat(source.demands()).containsExactly("a 4 0", "a 6 0", "a 1 0");
            grant("a", 2);
            assertThat(steps.size()).isEqualTo(1);
            assertThat(source.demands()).containsExactly("a 0 1");
            perform(() -> executor.setMaxConcurrency("a", 2));
            assertThat(steps.size()).isEqualTo(2);
        }
    }

    @Test
    void a_group_that_is_in_line_at_the_cap_and_loses_its_permit_lets_the_next_group_pass() {
        try (GroupExecutor executor = executor(policy().globalMaxInFlight(1))) {
            submit(executor, "a", 1);
            grant("a", 1);
            submit(executor, "b", 1);
            grant("b", 1);
            submit(executor, "c", 1);
            grant("c", 1);
            assertThat(steps.size()).isEqualTo(1);

            assertThat(revoke("b", 1)).isEqualTo(1);
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "c0");
            assertThat(source.wanted("b")).isEqualTo(1);
            grant("b", 1);
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "c0", "b0");
        }
    }

    @Test
    void reused_threads_need_a_permit_for_each_task() {
        try (GroupExecutor executor = executor(policy().reuseThreads(true))) {
            submit(executor, "a", 3);
            perform(() -> source.holder().grantOnce("a", 1));
            perform(() -> source.holder().grantOnce("a", 2));
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "a1");
        }
    }

    @Test
    void a_rejected_task_that_its_caller_runs_needs_no_permit() {
        try (GroupExecutor executor =
                executor(policy().defaultQueueThresholdPerGroup(0).rejectionPolicy(RejectionPolicy.CALLER_RUNS))) {
            assertThat(executor.submit("a", () -> fence()).join().value()).isEqualTo(OptionalLong.empty());
        }
    }

    @Test
    void a_permit_that_is_granted_while_the_limits_are_looked_up_is_used_when_they_are_known() {
        try (GroupExecutor executor = executor(policy().concurrencyResolver(key -> {
            source.grant(key, 1);
            return 4;
        }))) {
            submit(executor, "a", 1);
            perform(steps::runAll);
            assertThat(ran).containsExactly("a0");
        }
    }

    @Test
    void a_source_may_grant_within_open_and_demand() {
        FakePermits eager = new FakePermits() {
            @Override
            public Session open(Holder newHolder) {
                Session session = super.open(newHolder);
                assertThat(newHolder.grant("a", 1)).isFalse();
                return session;
            }

            @Override
            void onDemand(String key, int wanted, int unused) {
                holder().reclaim(key, unused);
                grant(key, wanted);
            }
        };
        try (GroupExecutor executor = executor(policy().permits(eager))) {
            submit(executor, "a", 9);
            assertThat(steps.size()).isEqualTo(4);
            perform(steps::runAll);
            assertThat(ran).hasSize(9);
            assertThat(executor.groupStats("a").orElseThrow().permits()).isEqualTo(new GroupStats.Permits(0, 0, 0));
        }
    }

    @Test
    void exceptions_of_a_source_are_reported_and_its_tasks_keep_waiting() {
        boolean[] fails = {true};
        FakePermits broken = new FakePermits() {
            @Override
            void onDemand(String key, int wanted, int unused) {
                if (fails[0]) {
                    throw new IllegalStateException("no connection");
                }
            }

            @Override
            void onClose() {
                throw new IllegalStateException("no connection");
            }
        };
        try (GroupExecutor executor = executor(policy().permits(broken))) {
            TaskHandle<Boolean> handle = submit(executor, "a", 1).getFirst();
            assertThat(sink.count()).isEqualTo(1);
            assertThat(handle.isDone()).isFalse();

            fails[0] = false;
            submit(executor, "a", 1);
            assertThat(broken.demands()).containsExactly("a 1 0", "a 2 0");
            perform(() -> broken.grant("a", 2));
            assertThat(steps.size()).isEqualTo(2);
        }
        assertThat(sink.count()).isEqualTo(2);
        PermitSource without = holder -> {
            throw new IllegalStateException("no address");
        };
        assertThatIllegalStateException()
                .isThrownBy(() -> executor(policy().permits(without)).close())
                .withMessage("no address");
    }

    @Test
    void a_status_that_cannot_be_read_is_unknown() {
        PermitSource mute = holder -> new PermitSource.Session() {
            @Override
            public void demand(String groupKey, int wanted, int unused) {}

            @Override
            public PermitStatus status(String groupKey) {
                throw new IllegalStateException("no connection");
            }

            @Override
            public void close() {}
        };
        try (GroupExecutor executor = executor(policy().permits(mute))) {
            TaskHandle<Boolean> handle = submit(executor, "a", 1).getFirst();
            assertThat(executor.explain(handle)).hasToString("waits for 1 permit of the fleet");
        }
    }

    @Test
    void what_a_shut_down_executor_does_not_use_any_more_can_be_reclaimed_before_it_has_terminated()
            throws InterruptedException {
        TestTasks tasks = new TestTasks();
        GroupExecutor executor = executor(policy());
        submit(executor, "a", 1);
        grant("a", 1);
        perform(steps::runAll);
        perform(() -> executor.submit("b", tasks.blocked("done")));
        grant("b", 1);
        Thread runner = steps.startNext().orElseThrow();
        tasks.awaitBegun(1);
        Thread closer = Thread.ofPlatform().start(() -> executor.shutdown(Duration.ofHours(1)));
        time.awaitAlarms(1);

        assertThat(executor.engine.groups.keySet()).containsExactly("b");
        assertThat(source.holder().grant("a", 9)).isFalse();
        assertThat(reclaim("a", 1)).isEqualTo(new PermitSource.Reclaimed(0, 1));
        assertThat(reclaim("a", 1)).isEqualTo(PermitSource.Reclaimed.NONE);
        assertThat(source.closed).isZero();
        tasks.close();
        runner.join();
        closer.join();
        assertThat(source.closed).isEqualTo(1);
        assertThat(source.holder().reclaim("b", 1)).isEqualTo(PermitSource.Reclaimed.NONE);
    }

    @Test
    void a_shutdown_by_an_alarm_does_not_wait_for_the_source() {
        GroupExecutor executor = executor(policy());
        perform(() -> assertThat(executor.shutdown(Duration.ZERO)).isTrue());
        assertThat(source.closed).isEqualTo(1);
    }

    @Test
    void close_waits_for_a_source_that_blocks_for_two_seconds_at_most() throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        FakePermits stuck = new FakePermits() {
            @Override
            void onClose() {
                closing.countDown();
                try {
                    never.await();
                } catch (InterruptedException stopped) {
                    throw new IllegalStateException(stopped);
                }
            }
        };
        GroupExecutor executor = executor(policy().permits(stuck));
        Thread closer = Thread.ofPlatform().start(executor::close);
        closing.await();
        time.awaitAlarms(1);
        time.advance(Duration.ofMillis(1_999));
        assertThat(closer.isAlive()).isTrue();
        time.advance(Duration.ofMillis(1));
        closer.join();
        never.countDown();
    }

    @Test
    void a_source_that_blocks_delays_neither_submissions_nor_the_tasks_that_have_permits() throws Exception {
        CountDownLatch entered = new CountDownLatch(1);
        CountDownLatch exit = new CountDownLatch(1);
        FakePermits slow = new FakePermits() {
            @Override
            void onDemand(String key, int wanted, int unused) {
                entered.countDown();
                try {
                    exit.await();
                } catch (InterruptedException stopped) {
                    throw new IllegalStateException(stopped);
                }
            }
        };
        try (GroupExecutor executor = executor(policy().scheduler(null).permits(slow))) {
            List<TaskHandle<Integer>> handles = new ArrayList<>();
            handles.add(executor.submit("a", () -> 0));
            entered.await();
            for (int i = 1; i < 50; i++) {
                int value = i;
                handles.add(executor.submit("a", () -> value));
            }
            slow.grant("a", 1);
            for (TaskHandle<Integer> handle : handles) {
                assertThat(handle.await().status()).isEqualTo(TaskStatus.SUCCESS);
            }
            assertThat(slow.demands()).hasSize(1);
            exit.countDown();
        }
    }

    @Test
    void a_task_that_waits_for_one_without_a_permit_is_not_taken_for_a_deadlock() throws Exception {
        try (GroupExecutor executor = executor(policy().scheduler(null).globalMaxInFlight(1))) {
            TaskHandle<String> outer = executor.submit("a", () -> {
                TaskHandle<String> inner = executor.submit("a", () -> "inner");
                return inner.await().orElseThrow();
            });
            source.reports.acquire();
            executor.setGlobalMaxInFlight(2);
            source.grant("a", 1);
            while (source.wanted("a") != 1
                    || executor.groupStats("a").orElseThrow().activeCount() != 1) {
                source.reports.acquire();
            }
            source.grant("a", 1);
            assertThat(outer.await().value()).isEqualTo("inner");
        }
    }

    @Test
    void permits_that_were_used_again_after_their_offer_are_offered_again() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 1);
            grant("a", 1);
            perform(steps::runAll);
            assertThat(source.demands()).containsExactly("a 1 0", "a 0 1");
            submit(executor, "a", 2);
            assertThat(source.demands()).containsExactly("a 1 0"); // the source takes back nothing now
            grant("a", 1);

            perform(steps::runAll);

            assertThat(source.demands()).last().isEqualTo("a 0 2");
            assertThat(reclaim("a", 2)).isEqualTo(new PermitSource.Reclaimed(0, 2));
        }
    }

    @Test
    void a_permit_that_is_wanted_again_at_once_is_reported_again() {
        try (GroupExecutor executor = executor(policy())) {
            submit(executor, "a", 1);
            assertThat(source.demands()).containsExactly("a 1 0");

            perform(() -> {
                source.grant("a", 1);
                executor.submit("a", "next", () -> ran.add("next")); // before the reporter can see that none was wanted
            });
            assertThat(source.demands()).containsExactly("a 1 0");

            perform(steps::runAll);
            assertThat(ran).containsExactly("a0", "next"); // one after the other with the same permit
        }
    }

    @Test
    void a_limit_does_not_adapt_while_the_permits_of_the_source_keep_tasks_waiting() {
        List<AdaptiveLimit.Sample> samples = new ArrayList<>();
        AdaptiveLimit adaptive = AdaptiveLimit.custom(sample -> {
                    samples.add(sample);
                    return sample.limit() + 1;
                })
                .initial(20);
        try (GroupExecutor executor = executor(policy().adaptiveLimit(key -> adaptive))) {
            perform(() -> {
                for (int i = 0; i < 200; i++) {
                    executor.submit("a", () -> time.advance(Duration.ofMillis(10)));
                }
            });
            grant("a", 2);
            for (int i = 0; i < 190; i++) {
                assertThat(steps.runNext()).isTrue();
            }

            assertThat(samples).isEmpty();
        }
    }

    @Test
    void a_raised_cap_makes_a_wide_task_want_more_permits() {
        GroupPolicy.Builder policy = policy().defaultMaxConcurrencyPerGroup(8).globalMaxInFlight(4);
        try (GroupExecutor executor = executor(policy)) {
            submit(executor, "b", 1);
            grant("b", 1);
            submit(executor, "a", "wide", spec -> spec.cost(8));
            grant("a", 4); // enough under this cap, of which the other group has taken one slot
            assertThat(source.demands()).containsExactly("b 1 0", "a 4 0");

            perform(() -> executor.setGlobalMaxInFlight(8));
            assertThat(source.demands()).containsExactly("a 4 0");
            grant("a", 4);
            perform(steps::runAll);
            assertThat(ran).containsExactly("b0", "wide");
        }
    }

    @Test
    void a_holder_has_no_effect_after_the_session_was_closed() {
        GroupExecutor executor = executor(policy());
        submit(executor, "a", 1);
        grant("a", 1);
        perform(() -> executor.shutdown());
        perform(steps::runAll); // the end of the rejected task removes the group once more
        perform(executor::close);

        assertThat(source.closed).isEqualTo(1);
        assertThat(source.holder().grant("a", 2)).isFalse();
        assertThat(source.holder().grantOnce("a", 3)).isFalse();
        assertThat(source.holder().reclaim("a", 9)).isEqualTo(PermitSource.Reclaimed.NONE);
        assertThat(source.holder().revoke("a", 9, "late")).isZero();
        source.holder().limit("a", 1);
        assertThat(executor.groupStats("a")).isEmpty();
    }
}
