package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** S: a run without threads and clock, whose driver reports what happens. */
@Timeout(60)
class FlowStepperTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final long NANOS = SECOND.toNanos();

    private final FlowBuilder<String> f = FlowPlan.define("steps", String.class);
    private final List<String> log = new ArrayList<>();
    private FlowStepper<?> stepper;

    private List<Step> start(FlowPlan<String, ?> plan, RunOptions options) {
        stepper = plan.stepper("p", options);
        return stepper.start(Instant.EPOCH);
    }

    private List<Step> start(RunOptions options) {
        return start(f.build(), options);
    }

    private List<Step> start() {
        return start(RunOptions.defaults());
    }

    /** Calls an action and reports its result. */
    private List<Step> call(String node, int attempt, long at) {
        Step.Work work = new Step.Start(node, attempt, null, Long.MAX_VALUE);
        return stepper.settled(work, stepper.call(work), at);
    }

    private List<Step> call(String node) {
        return call(node, 1, 0);
    }

    private List<Step> undo(String node) {
        Step.Work work = new Step.Compensate(node, 1);
        return stepper.settled(work, stepper.call(work), 0);
    }

    private static Step started(String node) {
        return new Step.Start(node, 1, null, Long.MAX_VALUE);
    }

    private static Step succeeded(String node) {
        return new Step.Ended(node, NodeState.SUCCESS, ValueSource.ACTION);
    }

    private static Step ended(String node, NodeState state) {
        return new Step.Ended(node, state, ValueSource.NONE);
    }

    private void failing(String id, Dependency<?>... needs) {
        f.action(id, () -> {
                    throw new IOException("no " + id);
                })
                .needs(needs);
    }

    // Steps.

    @Test
    void a_driver_is_told_what_to_call_and_what_has_ended() {
        Node<String> a = f.node("a", c -> c.param() + "a");
        Node<String> b = f.node("b", a, x -> x + "b");
        Node<String> c = f.node("c", a, x -> x + "c");
        FlowPlan<String, String> plan = f.returning(f.node("d", b, c, (x, y) -> x + y));

        assertThat(start(plan, RunOptions.defaults())).containsExactly(started("a"));
        assertThat(call("a")).containsExactly(succeeded("a"), started("b"), started("c"));
        assertThat(call("c", 1, 5)).containsExactly(succeeded("c"));
        assertThat(stepper.state("d")).isEqualTo(NodeState.PENDING);
        assertThat(call("b", 1, 7)).containsExactly(succeeded("b"), started("d"));
        assertThat(stepper.isComplete()).isFalse();
        assertThat(call("d", 1, 9)).containsExactly(succeeded("d"), new Step.Complete(FlowStatus.SUCCESS));
        assertThat(stepper.isComplete()).isTrue();
        assertThat(stepper.result().value()).isEqualTo("pabpac");
        assertThat(stepper.result().elapsed()).isEqualTo(Duration.ofNanos(9));
        assertThat(stepper.result().node("b").startNanos()).isEqualTo(0);
        assertThat(stepper.result().criticalPath()).containsExactly("a", "b", "d");
    }

    @Test
    void a_plan_without_nodes_is_complete_at_once() {
        assertThat(start()).containsExactly(new Step.Complete(FlowStatus.SUCCESS));
    }

    @Test
    void a_skip_is_reported_before_the_node_that_caused_it_starts() {
        f.node("slow", () -> "slow");
        Node<String> pre = f.node("pre", () -> "pre");
        f.node("other", pre, x -> x);
        f.node("quick", () -> "quick");
        f.node("first", () -> "x").needs(anyOf("other", "quick"));

        assertThat(start()).containsExactly(started("slow"), started("pre"), started("quick"));
        assertThat(call("quick"))
                .containsExactly(succeeded("quick"), ended("other", NodeState.SKIPPED), started("first"));
    }

    @Test
    void a_false_condition_and_one_that_throws_end_a_node_without_a_call() {
        f.node("no", () -> "no").when(c -> false).defaultValue("default");
        f.node("broken", () -> "no").when(c -> {
            throw new IllegalStateException("broken");
        });

        assertThat(start())
                .containsExactly(
                        new Step.Ended("no", NodeState.SKIPPED, ValueSource.DEFAULT),
                        ended("broken", NodeState.FAILED),
                        new Step.Complete(FlowStatus.FAILED));
    }

    @Test
    void the_key_of_a_group_is_a_part_of_the_step() {
        f.node("a", () -> "a").group(c -> "tenant-" + c.param());
        f.node("b", () -> "b").group(c -> {
            throw new IllegalStateException("no key");
        });

        assertThat(start())
                .containsExactly(new Step.Start("a", 1, "tenant-p", Long.MAX_VALUE), ended("b", NodeState.FAILED));
    }

    @Test
    void under_fail_fast_a_failure_cancels_what_is_called() {
        f.node("slow", () -> "slow");
        f.node("stubborn", () -> "stubborn").noInterrupt();
        failing("fails");
        start(RunOptions.defaults().onFailure(OnFailure.FAIL_FAST));

        assertThat(call("fails"))
                .containsExactly(
                        ended("fails", NodeState.FAILED),
                        new Step.Cancel("slow"),
                        ended("slow", NodeState.CANCELLED),
                        ended("stubborn", NodeState.CANCELLED),
                        new Step.Complete(FlowStatus.FAILED));
        assertThat(stepper.result().explain("slow")).contains("node \"fails\" failed");
    }

    @Test
    void only_selected_nodes_are_called() {
        f.node("a", () -> "a");
        f.node("b", () -> "b");

        assertThat(start(RunOptions.defaults().only("b"))).containsExactly(ended("a", NodeState.SKIPPED), started("b"));
    }

    // Calls.

    @Test
    void a_call_runs_begin_callback_action_and_fallback_but_decides_nothing() {
        f.node("a", () -> {
                    log.add("action");
                    throw new IOException("no");
                })
                .onBegin(c -> log.add("begin"))
                .onResult(report -> log.add("result " + report.via()))
                .fallback(failure -> "instead of " + failure.getMessage());
        start();

        CallResult result = stepper.call((Step.Work) started("a"));
        assertThat(result).isInstanceOf(CallResult.Recovered.class);
        assertThat(log).containsExactly("begin", "action");
        assertThat(stepper.state("a")).isEqualTo(NodeState.RUNNING);
        assertThat(stepper.settled((Step.Work) started("a"), result, 0))
                .containsExactly(
                        new Step.Ended("a", NodeState.SUCCESS, ValueSource.FALLBACK),
                        new Step.Complete(FlowStatus.SUCCESS));
        assertThat(log).containsExactly("begin", "action", "result FALLBACK");
        assertThat(stepper.result().node("a").value()).isEqualTo("instead of no");
    }

    @Test
    void a_fallback_that_throws_fails_the_node_with_both_exceptions() {
        failing("a");
        ((Node<?>) f.declared("a")).fallback(failure -> {
            throw new IllegalStateException("fallback");
        });
        start();
        call("a");

        assertThat(stepper.result().node("a").cause()).hasMessage("fallback");
        assertThat(stepper.result().node("a").cause().getSuppressed()[0]).hasMessage("no a");
    }

    @Test
    void an_action_has_the_remaining_time_of_its_node_in_real_time() {
        VirtualTime real = new VirtualTime();
        AtomicReference<Duration> left = new AtomicReference<>();
        f.node("a", () -> {
                    EnclosingScope scope = EnclosingScope.innermost();
                    left.set(scope.deadline().remaining());
                    assertThat(scope.deadline().time()).isSameAs(real);
                    assertThat(scope.label()).isEqualTo("node \"a\" of flow \"steps\"");
                    return "a";
                })
                .timeout(SECOND.multipliedBy(3));
        f.node("b", () -> "b");
        List<Step> first = start(RunOptions.timeout(Duration.ofHours(1)).withTimeSource(real));
        assertThat(first.getFirst()).isEqualTo(new Step.Start("a", 1, null, 3 * NANOS));
        assertThat(first.getLast()).isEqualTo(new Step.Start("b", 1, null, 3600 * NANOS));
        call("b", 1, NANOS);
        stepper.call((Step.Work) started("a"));

        assertThat(left.get()).isEqualTo(SECOND.multipliedBy(2));
    }

    @Test
    void a_call_of_a_node_that_has_ended_does_not_enter_the_action() {
        f.node("a", () -> log.add("a")).timeout(SECOND);
        start();
        stepper.passed(NANOS);

        assertThat(stepper.call((Step.Work) started("a")))
                .isInstanceOfSatisfying(
                        CallResult.Failed.class,
                        failed -> assertThat(failed.failure()).isInstanceOf(CancelledException.class));
        assertThat(stepper.call(new Step.Start("x/y", 1, null, 0))).isInstanceOf(CallResult.Failed.class);
        assertThat(log).isEmpty();
    }

    // Attempts.

    private static final RetryPolicy THREE = RetryPolicy.fixedDelay(3, SECOND);

    @Test
    void a_node_sleeps_between_attempts() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        f.node("a", () -> {
                    int attempt = attempts.incrementAndGet();
                    if (attempt < 3) {
                        throw new IOException("no " + attempt);
                    }
                    return "yes";
                })
                .retry(THREE)
                .onBegin(c -> log.add("begin"));
        FlowPlan<String, Void> plan = f.build();
        start(plan, RunOptions.defaults());

        assertThat(call("a", 1, 5)).containsExactly(new Step.SleepUntil("a", 5 + NANOS));
        assertThat(stepper.nextMoment()).isEqualTo(5 + NANOS);
        assertThatThrownBy(() ->
                        stepper.settled(new Step.Start("a", 2, null, Long.MAX_VALUE), new CallResult.Returned("x"), 6))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("no call of node \"a\" of flow \"steps\" is under way; it is RUNNING");
        assertThat(stepper.passed(4 + NANOS)).isEmpty();
        assertThat(stepper.passed(6 + NANOS)).containsExactly(new Step.Start("a", 2, null, Long.MAX_VALUE));
        call("a", 2, 6 + NANOS);
        assertThat(stepper.passed(stepper.nextMoment())).containsExactly(new Step.Start("a", 3, null, Long.MAX_VALUE));
        call("a", 3, 3 * NANOS);
        assertThat(stepper.result().node("a").value()).isEqualTo("yes");
        assertThat(log).containsExactly("begin");
    }

    @Test
    void the_last_failure_has_the_earlier_ones_as_suppressed_exceptions() throws Exception {
        AtomicInteger attempts = new AtomicInteger();
        f.action("a", () -> {
                    throw new IOException("no " + attempts.incrementAndGet());
                })
                .retry(RetryPolicy.attempts(3));
        FlowPlan<String, Void> plan = f.build();
        start(plan, RunOptions.defaults());
        call("a", 1, 0);
        call("a", 2, 0);
        call("a", 3, 0);

        Throwable cause = stepper.result().node("a").cause();
        assertThat(cause).hasMessage("no 3");
        assertThat(cause.getSuppressed()[0]).isInstanceOf(IOException.class).hasMessage("no 1");
        assertThat(cause.getSuppressed()[1]).isInstanceOf(IOException.class).hasMessage("no 2");
    }

    @Test
    void a_node_whose_next_attempt_does_not_fit_into_its_time_is_timed_out() {
        failing("a");
        ((Node<?>) f.declared("a")).retry(THREE).timeout(SECOND);
        start();

        assertThat(call("a", 1, 1)).contains(ended("a", NodeState.TIMED_OUT));
        assertThat(stepper.result().node("a").cause())
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessage("task \"a\" gave up after attempt 1 of 3: the next would begin in 1000 ms, and of its 1000 "
                        + "ms only 999.999999 ms are left");
    }

    @Test
    void a_policy_that_throws_fails_the_node() {
        failing("a");
        ((Node<?>) f.declared("a"))
                .retry(RetryPolicy.builder()
                        .maxAttempts(3)
                        .retryIf((attempt, failure) -> {
                            throw new IllegalStateException("policy");
                        })
                        .build());
        start();
        call("a");

        assertThat(stepper.result().node("a").cause()).hasMessage("policy");
        assertThat(stepper.result().node("a").cause().getSuppressed()[0]).hasMessage("no a");
    }

    // Time.

    @Test
    void a_timeout_takes_effect_when_the_time_is_reported_and_cancels_the_call() {
        f.node("a", () -> "a").timeout(SECOND);
        f.node("b", () -> "b").needs(after("a"));
        start();

        assertThat(stepper.passed(NANOS - 1)).isEmpty();
        assertThat(stepper.passed(5 * NANOS))
                .containsExactly(new Step.Cancel("a"), ended("a", NodeState.TIMED_OUT), started("b"));
        assertThat(stepper.settled((Step.Work) started("a"), new CallResult.Returned("late"), 5 * NANOS))
                .isEmpty();
        assertThat(stepper.state("a")).isEqualTo(NodeState.TIMED_OUT);
        call("b", 1, 6 * NANOS);
        assertThat(stepper.result().node("a").endNanos()).isEqualTo(NANOS);
    }

    @Test
    void a_result_that_is_reported_before_the_time_precedes_the_timeout() {
        f.node("a", () -> "a").timeout(SECOND);
        start();

        assertThat(call("a", 1, 5 * NANOS)).contains(succeeded("a"));
        assertThat(stepper.nextMoment()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void the_deadline_of_the_run_ends_everything() {
        f.node("a", () -> "a");
        f.sleep("s", SECOND.multipliedBy(5));
        start(RunOptions.timeout(SECOND));

        assertThat(stepper.passed(NANOS))
                .containsExactly(
                        new Step.Cancel("a"),
                        ended("a", NodeState.TIMED_OUT),
                        ended("s", NodeState.TIMED_OUT),
                        new Step.Complete(FlowStatus.TIMED_OUT));
        assertThat(stepper.result().explain("a")).contains("ran out of time after 1000 ms");
    }

    @Test
    void a_run_whose_time_is_over_before_it_starts_calls_nothing() {
        f.node("a", () -> "a");

        assertThat(start(RunOptions.timeout(Duration.ZERO)))
                .containsExactly(ended("a", NodeState.TIMED_OUT), new Step.Complete(FlowStatus.TIMED_OUT));
    }

    @Test
    void moments_take_effect_in_their_order_and_equal_ones_in_the_order_of_declaration() throws Exception {
        f.sleep("late", SECOND.multipliedBy(2));
        f.sleep("one", SECOND);
        f.sleep("two", SECOND);
        FlowPlan<String, Void> plan = f.build();
        assertThat(start(plan, RunOptions.defaults()))
                .containsExactly(
                        new Step.SleepUntil("late", 2 * NANOS),
                        new Step.SleepUntil("one", NANOS),
                        new Step.SleepUntil("two", NANOS));

        assertThat(stepper.passed(9 * NANOS))
                .containsExactly(
                        succeeded("one"), succeeded("two"), succeeded("late"), new Step.Complete(FlowStatus.SUCCESS));
    }

    @Test
    void equal_moments_keep_the_order_in_which_they_were_set() throws Exception {
        Node<String> a = f.node("a", () -> "a");
        f.sleep("second", SECOND).needs(order(a));
        f.sleep("first", SECOND.multipliedBy(2));
        FlowPlan<String, Void> plan = f.build();
        start(plan, RunOptions.defaults());
        call("a", 1, NANOS);

        assertThat(stepper.passed(2 * NANOS))
                .containsExactly(succeeded("first"), succeeded("second"), new Step.Complete(FlowStatus.SUCCESS));
    }

    @Test
    void the_time_does_not_go_back() {
        f.node("a", () -> "a");
        Node<Void> s = f.sleep("s", SECOND);
        s.needs(order(f.node("b", () -> "b")));
        start();
        call("a", 1, 10);

        assertThat(call("b", 1, 3)).contains(new Step.SleepUntil("s", 10 + NANOS));
    }

    @Test
    void a_sleep_until_a_moment_counts_from_the_moment_of_the_start() {
        f.sleepUntil("s", c -> Instant.EPOCH.plusSeconds(100));
        stepper = f.build().stepper("p", RunOptions.defaults());

        assertThat(stepper.start(Instant.EPOCH.plusSeconds(90))).containsExactly(new Step.SleepUntil("s", 10 * NANOS));
    }

    // Signals.

    @Test
    void a_signal_is_delivered_once_and_kept_until_its_node_is_reached() throws Exception {
        Node<String> a = f.node("a", () -> "a");
        Node<String> ok = f.signal("ok", String.class).needs(order(a));
        Node<String> now = f.signal("now", String.class);
        FlowPlan<String, String> plan = f.returning(f.node("both", ok, now, String::concat));
        assertThat(start(plan, RunOptions.defaults()))
                .containsExactly(started("a"), new Step.AwaitSignal("now", String.class));
        assertThat(stepper.signalled("ok", "x", 0)).isEmpty();
        assertThat(stepper.signalled("ok", "y", 0)).isEmpty();
        assertThat(call("a")).containsExactly(succeeded("a"), succeeded("ok"));
        assertThat(stepper.signalled("now", "z", 0)).containsExactly(succeeded("now"), started("both"));
        assertThat(stepper.signalled("now", "zz", 0)).isEmpty();
        call("both");
        assertThat(stepper.result().value()).isEqualTo("xz");
        assertThatThrownBy(() -> stepper.signalled("a", "x", 0)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> stepper.signalled("ok", 1, 0)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_sleep_whose_function_throws_calls_its_fallback() {
        f.sleep("s", c -> {
                    throw new IOException("no");
                })
                .fallbackValue(null);

        assertThat(start()).containsExactly(started("s"));
        assertThat(call("s")).contains(new Step.Ended("s", NodeState.SUCCESS, ValueSource.FALLBACK));
    }

    // Compensation.

    @Test
    void succeeded_nodes_are_compensated_one_after_the_other_in_reverse_order() throws Exception {
        Node<String> a = f.node("a", () -> "va").compensate(value -> log.add("undo " + value));
        Node<String> b = f.node("b", a, x -> "vb").compensate(value -> {
            throw new IOException("cannot undo");
        });
        failing("c", order(b));
        FlowPlan<String, Void> plan = f.build();
        start(plan, RunOptions.defaults());
        call("a");
        call("b");
        assertThat(call("c")).containsExactly(ended("c", NodeState.FAILED), new Step.Compensate("b", 1));
        assertThat(undo("b")).containsExactly(new Step.Compensate("a", 1));
        assertThat(undo("a")).containsExactly(new Step.Complete(FlowStatus.FAILED));
        assertThat(log).containsExactly("undo va");
        assertThat(stepper.isComplete()).isTrue();
        assertThat(stepper.result().status()).isEqualTo(FlowStatus.FAILED);
        assertThat(stepper.result().compensationFailures())
                .extracting(CompensationFailure::node)
                .containsExactly("b");
        assertThat(stepper.settled((Step.Work) started("a"), new CallResult.Returned(null), 0))
                .isEmpty();
    }

    // Nested flows.

    private FlowPlan<String, String> inner(FlowBuilder<String> g) {
        Node<String> x = g.node("x", c -> c.param() + "x").compensate(value -> log.add("undo " + value));
        return g.returning(g.node("y", x, value -> value + "y"));
    }

    @Test
    void nodes_of_a_nested_flow_have_the_ids_of_their_path() throws Exception {
        Node<String> in = f.node("in", () -> "in");
        Node<String> sub = f.subflow("sub", inner(FlowPlan.define("inner", String.class)), in);
        FlowPlan<String, String> plan = f.returning(f.node("out", sub, value -> value + "!"));
        start(plan, RunOptions.defaults());

        assertThat(call("in")).containsExactly(succeeded("in"), started("sub/x"));
        assertThat(call("sub/x")).containsExactly(succeeded("sub/x"), started("sub/y"));
        assertThat(stepper.state("sub/x")).isEqualTo(NodeState.SUCCESS);
        assertThat(call("sub/y")).containsExactly(succeeded("sub/y"), succeeded("sub"), started("out"));
        assertThat(stepper.settled((Step.Work) started("sub/y"), new CallResult.Returned("late"), 0))
                .isEmpty();
        call("out");
        assertThat(stepper.result().value()).isEqualTo("inxy!");
        assertThatThrownBy(() -> stepper.settled((Step.Work) started("sup/y"), new CallResult.Returned("late"), 0))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void a_nested_flow_whose_node_was_ended_compensates_before_the_run_ends() throws Exception {
        Node<String> sub = f.subflow("sub", inner(FlowPlan.define("inner", String.class)), f.node("in", () -> "in"));
        sub.timeout(SECOND);
        FlowPlan<String, String> plan = f.returning(sub);
        start(plan, RunOptions.defaults());
        call("in");
        call("sub/x");
        List<Step> late = stepper.passed(NANOS);
        assertThat(late)
                .containsExactlyInAnyOrder(
                        new Step.Cancel("sub/y"),
                        ended("sub", NodeState.TIMED_OUT),
                        ended("sub/y", NodeState.CANCELLED),
                        new Step.Compensate("sub/x", 1));
        assertThat(stepper.isComplete()).isFalse();
        assertThat(undo("sub/x")).containsExactly(new Step.Complete(FlowStatus.FAILED));
        assertThat(log).containsExactly("undo inx");
    }

    @Test
    void a_failed_nested_flow_calls_the_fallback_of_its_node() throws Exception {
        FlowBuilder<String> g = FlowPlan.define("inner", String.class);
        Node<String> bad = g.node("bad", () -> {
            throw new IOException("bad");
        });
        Node<String> sub = f.subflow("sub", g.returning(bad), f.node("in", () -> "in"))
                .fallback(failure -> "instead of " + failure.getMessage());
        FlowPlan<String, String> plan = f.returning(sub);
        start(plan, RunOptions.defaults());
        call("in");

        assertThat(call("sub/bad")).containsExactly(ended("sub/bad", NodeState.FAILED), started("sub"));
        assertThat(call("sub")).contains(new Step.Ended("sub", NodeState.SUCCESS, ValueSource.FALLBACK));
        assertThat(stepper.result().value()).isEqualTo("instead of bad");
    }

    private static String textOf(Object value) {
        return value instanceof List<?> list
                ? "L" + list.stream().map(String::valueOf).collect(Collectors.joining(","))
                : "S" + value;
    }

    @Test
    void a_map_with_a_limit_starts_its_elements_one_after_the_other() throws Exception {
        Node<List<String>> map =
                f.map("map", f.node("in", c -> List.of("a", "b", "c")), MapOptions.limit(2), x -> x + "!");
        FlowPlan<String, List<String>> plan = f.returning(map);
        FlowCodec lists = FlowCodec.of(
                value -> textOf(value).getBytes(StandardCharsets.UTF_8),
                bytes -> {
                    String text = new String(bytes, StandardCharsets.UTF_8);
                    return text.startsWith("L") ? List.of(text.substring(1).split(",", -1)) : text.substring(1);
                },
                Object.class);
        start(plan, RunOptions.defaults());

        assertThat(call("in")).containsExactly(succeeded("in"), started("map/map[0]"), started("map/map[1]"));
        assertThat(call("map/map[1]")).containsExactly(succeeded("map/map[1]"), started("map/map[2]"));
        call("map/map[2]");
        assertThat(call("map/map[0]"))
                .containsExactly(succeeded("map/map[0]"), succeeded("map"), new Step.Complete(FlowStatus.SUCCESS));
        assertThat(stepper.result().value()).isEqualTo(List.of("a!", "b!", "c!"));
    }

    @Test
    void nested_flows_of_any_depth_do_not_grow_the_stack() {
        FlowBuilder<String> g = FlowPlan.define("innermost", String.class);
        FlowPlan<String, String> plan = g.returning(g.node("x", c -> c.param()));
        for (int depth = 0; depth < 3_000; depth++) {
            FlowBuilder<String> around = FlowPlan.define("f", String.class);
            plan = around.returning(around.subflow("s", plan, around.node("in", c -> c.param())));
        }
        List<Step> steps = new ArrayList<>(start(plan, RunOptions.defaults()));
        int calls = 0;
        while (!stepper.isComplete()) {
            Step.Work work = (Step.Work) steps.stream()
                    .filter(Step.Work.class::isInstance)
                    .findFirst()
                    .orElseThrow();
            steps = stepper.settled(work, stepper.call(work), calls++);
        }
        assertThat(stepper.result().value()).isEqualTo("p");
        assertThat(calls).isEqualTo(3_001);
    }

    @Test
    void an_id_that_looks_like_a_path_is_refused() {
        f.subflow("sub", inner(FlowPlan.define("inner", String.class)), f.node("in", () -> "in"));
        f.node("sub/x", () -> "x");

        assertThatThrownBy(() -> f.build().stepper("p", RunOptions.defaults()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("node \"sub/x\" of flow \"steps\" cannot be told from a node of its nested flow \"sub\"; "
                        + "give it an id without a slash");
    }

    // Use.

    @Test
    void a_stepper_is_started_once_and_before_anything_else() {
        f.node("a", () -> "a");
        FlowStepper<Void> fresh = f.build().stepper("p", RunOptions.defaults());
        assertThatThrownBy(() -> fresh.settled((Step.Work) started("a"), new CallResult.Returned("a"), 0))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("call start first");
        assertThatThrownBy(fresh::result).isInstanceOf(IllegalStateException.class);
        fresh.start(Instant.EPOCH);
        assertThatThrownBy(() -> fresh.start(Instant.EPOCH)).isInstanceOf(IllegalStateException.class);
        assertThatThrownBy(() -> fresh.settled((Step.Work) started("b"), new CallResult.Returned("a"), 0))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("unknown id \"b\"");
    }

    @Test
    void a_function_that_the_stepper_calls_may_not_drive_it() {
        List<Throwable> thrown = new ArrayList<>();
        f.node("a", () -> "a").when(c -> {
            try {
                stepper.cancel("from inside", 0);
            } catch (IllegalStateException refused) {
                thrown.add(refused);
            }
            return true;
        });

        assertThat(start()).containsExactly(started("a"));
        assertThat(thrown).hasSize(1);
    }

    @Test
    void a_stepper_has_neither_a_journal_nor_a_deadline() {
        f.node("a", () -> "a");
        FlowPlan<String, Void> plan = f.build();

        assertThatThrownBy(() -> plan.stepper("p", RunOptions.defaults().withJournal(FlowJournal.inMemory())))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("a stepper of flow \"steps\" has no journal: its driver keeps its state");
        assertThatThrownBy(() -> plan.stepper(
                        "p",
                        RunOptions.defaults().withDeadline(dev.raddle.time.Deadline.after(new VirtualTime(), SECOND))))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("set a timeout");
    }

    // Reports that are repeated or late.

    @Test
    void a_repeated_report_of_an_attempt_is_not_that_of_the_next_one() {
        failing("a");
        ((Node<?>) f.declared("a")).retry(RetryPolicy.attempts(3));
        start();
        Step.Work first = (Step.Work) started("a");
        CallResult retry = stepper.call(first);
        assertThat(stepper.settled(first, retry, 0)).containsExactly(new Step.Start("a", 2, null, Long.MAX_VALUE));

        assertThat(stepper.settled(first, retry, 0)).isEmpty();
        assertThat(call("a", 2, 1)).contains(new Step.Start("a", 3, null, Long.MAX_VALUE));
    }

    @Test
    void a_repeated_report_of_an_action_does_not_compensate_its_node() {
        Node<String> pay = f.node("pay", () -> "paid").compensate(value -> log.add("refund " + value));
        failing("ship", Dependency.must("pay"));
        start();
        Step.Work paying = (Step.Work) started("pay");
        CallResult paid = stepper.call(paying);
        stepper.settled(paying, paid, 0);
        assertThat(call("ship")).contains(new Step.Compensate("pay", 1));

        assertThat(stepper.settled(paying, paid, 0)).isEmpty();
        undo("pay");
        assertThat(log).containsExactly("refund paid");
        assertThat(stepper.isComplete()).isTrue();
        assertThat(pay.id()).isEqualTo("pay");
    }

    @Test
    void the_fallback_of_a_node_that_has_timed_out_is_not_called() {
        f.node("slow", () -> {
                    stepper.passed(2 * NANOS);
                    throw new IOException("too late");
                })
                .timeout(SECOND)
                .fallback(failure -> {
                    log.add("fallback");
                    return "recovered";
                });
        start();
        Step.Work work = (Step.Work) started("slow");
        assertThat(stepper.call(work)).isInstanceOf(CallResult.Failed.class);
        assertThat(log).isEmpty();
        assertThat(stepper.state("slow")).isEqualTo(NodeState.TIMED_OUT);
    }

    @Test
    void the_fallback_of_a_node_that_was_cancelled_during_its_call_is_not_called() {
        f.node("slow", () -> {
                    stepper.cancel("no longer needed", 0);
                    throw new IOException("too late");
                })
                .fallback(failure -> {
                    log.add("fallback");
                    return "recovered";
                });
        start();
        Step.Work work = (Step.Work) started("slow");
        CallResult result = stepper.call(work);
        assertThat(result).isInstanceOf(CallResult.Failed.class);
        assertThat(stepper.settled(work, result, 0)).isEmpty();
        assertThat(log).isEmpty();
        assertThat(stepper.state("slow")).isEqualTo(NodeState.CANCELLED);
    }

    // Results of calls.

    @Test
    void a_result_of_a_call_is_written_and_read() throws Exception {
        Exception failure = new IOException("no", new IllegalStateException("why"));
        List<CallResult> results = List.of(
                new CallResult.Returned("v"),
                new CallResult.Returned(null),
                new CallResult.Recovered(null, failure),
                new CallResult.Failed(failure),
                new CallResult.Retry(failure, SECOND));
        for (CallResult each : results) {
            byte[] bytes = each.toBytes(FlowCodec.text());
            CallResult again = CallResult.fromBytes(bytes, FlowCodec.text());
            assertThat(again).hasSameClassAs(each);
            assertThat(again.toBytes(FlowCodec.text())).isEqualTo(bytes);
            for (int length = 0; length < bytes.length; length++) {
                byte[] part = Arrays.copyOf(bytes, length);
                assertThatThrownBy(() -> CallResult.fromBytes(part, FlowCodec.text()))
                        .isInstanceOf(IOException.class)
                        .hasMessageStartingWith("the bytes are not a result of a call: ");
            }
            byte[] longer = Arrays.copyOf(bytes, bytes.length + 1);
            assertThatThrownBy(() -> CallResult.fromBytes(longer, FlowCodec.text()))
                    .isInstanceOf(IOException.class);
        }
        assertThat(((CallResult.Retry)
                                CallResult.fromBytes(results.getLast().toBytes(FlowCodec.text()), FlowCodec.text()))
                        .delay())
                .isEqualTo(SECOND);
        assertThatThrownBy(() -> CallResult.fromBytes(new byte[] {9}, FlowCodec.text()))
                .isInstanceOf(IOException.class);
    }

    @Test
    void one_cause_of_several_ends_stays_one_object() throws Exception {
        failing("a");
        f.node("b", () -> "b").needs(Dependency.must("a"));
        f.node("c", () -> "c");
        FlowPlan<String, Void> plan = f.build();
        start(plan, RunOptions.defaults());
        call("a");
        call("c");

        assertThat(stepper.result().node("b").cause())
                .isNotNull()
                .isSameAs(stepper.result().node("a").cause());
    }
}
