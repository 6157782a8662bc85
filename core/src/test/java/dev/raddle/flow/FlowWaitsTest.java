package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.anyOf;
import static dev.raddle.flow.Dependency.optional;
import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import dev.raddle.testing.Together;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Nodes that wait for a moment or a signal, without a thread. */
@Timeout(60)
class FlowWaitsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Duration HOUR = Duration.ofHours(1);

    private final FlowBuilder<String> f = FlowPlan.define("waits", String.class);
    private final VirtualTime time = new VirtualTime();
    private final List<String> log = Collections.synchronizedList(new ArrayList<>());

    // All nodes run in the thread that starts the run, delivers a signal or advances the time.
    private final RunOptions options =
            RunOptions.defaults().withTimeSource(time).withScheduler(Runnable::run);

    private Node<String> logged(String id, Dependency<?>... needs) {
        return f.node(id, () -> {
                    log.add(id);
                    return id;
                })
                .needs(needs);
    }

    private FlowRun<Void> start() {
        return f.build().start("p", options);
    }

    /** Declares a node that waits for an hour or for a signal. */
    private Node<?> waiting(String id, boolean sleeps) {
        return sleeps ? f.sleep(id, HOUR) : f.signal(id, String.class);
    }

    private void endWait(FlowRun<?> run, String id, boolean sleeps) {
        if (sleeps) {
            time.advance(HOUR);
        } else {
            assertThat(run.signal(id, "value of " + id)).isTrue();
        }
    }

    // Sleeps.

    @Test
    void a_sleep_ends_after_its_time_and_holds_no_thread_meanwhile() throws Exception {
        Node<Void> pause = f.sleep("pause", SECOND.multipliedBy(2)).needs(order(logged("a")));
        logged("b", order(pause));
        try (FlowRun<Void> run = start()) {
            assertThat(log).containsExactly("a");
            assertThat(run.state("pause")).isEqualTo(NodeState.WAITING);
            time.advance(SECOND);
            assertThat(log).containsExactly("a");
            time.advance(SECOND);
            assertThat(log).containsExactly("a", "b");

            FlowResult<Void> result = run.join();
            NodeReport<?> report = result.node("pause");
            assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(report.state()).isEqualTo(NodeState.SUCCESS);
            assertThat(report.via()).isEqualTo(dev.raddle.flow.ValueSource.ACTION);
            assertThat(report.value()).isNull();
            assertThat(report.endNanos() - report.startNanos()).isEqualTo(2_000_000_000L);
            assertThat(result.explain("pause")).isEqualTo("SUCCESS: its sleep was over at +2000 ms");
            assertThat(result.criticalPath()).containsExactly("a", "pause", "b");
        }
    }

    @Test
    void the_time_of_a_sleep_may_depend_on_the_parameter_and_on_upstream_nodes() throws Exception {
        Node<Integer> days = f.node("days", () -> 3);
        f.sleep("trial", c -> Duration.ofDays(c.read(days) + c.param().length()))
                .needs(days);
        try (FlowRun<Void> run = start()) {
            time.advance(Duration.ofDays(4).minusNanos(1));
            assertThat(run.isDone()).isFalse();
            time.advance(Duration.ofNanos(1));
            assertThat(run.isDone()).isTrue();
        }
    }

    @Test
    void a_sleep_until_a_moment_ends_at_that_moment_of_the_wall_clock() throws Exception {
        time.advance(SECOND);
        f.sleepUntil("due", c -> Instant.EPOCH.plusSeconds(5));
        try (FlowRun<Void> run = start()) {
            time.advance(SECOND.multipliedBy(3));
            assertThat(run.isDone()).isFalse();
            time.advance(SECOND);
            assertThat(run.isDone()).isTrue();
        }
    }

    @Test
    void a_sleep_that_is_over_before_it_begins_waits_for_nothing() throws Exception {
        f.sleep("zero", Duration.ZERO);
        f.sleep("negative", SECOND.negated());
        f.sleepUntil("past", c -> Instant.MIN);
        FlowResult<Void> result = f.build().run("p", options);

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(time.alarms()).isZero();
    }

    @Test
    void the_longest_sleeps_never_end_too_early() throws Exception {
        f.sleep("forever", Duration.ofSeconds(Long.MAX_VALUE));
        f.sleepUntil("end", c -> Instant.MAX);
        try (FlowRun<Void> run = start()) {
            time.advance(Duration.ofDays(365 * 100));
            assertThat(run.state("forever")).isEqualTo(NodeState.WAITING);
            assertThat(run.state("end")).isEqualTo(NodeState.WAITING);
        }
        assertThat(time.alarms()).isZero();
    }

    @Test
    void a_sleep_whose_function_throws_fails_and_has_fallback_and_default() throws Exception {
        f.sleep("fails", c -> {
            throw new IOException("no calendar");
        });
        f.sleep("recovers", c -> {
                    throw new IOException("no calendar");
                })
                .fallbackValue(null);
        f.sleepUntil("null", c -> null);
        FlowResult<Void> result = f.build().run("p", options);

        assertThat(result.node("fails").state()).isEqualTo(NodeState.FAILED);
        assertThat(result.explain("fails")).contains("no calendar");
        assertThat(result.node("recovers").via()).isEqualTo(dev.raddle.flow.ValueSource.FALLBACK);
        assertThat(result.node("null").cause())
                .hasMessage("the function of the sleep \"null\" of flow \"waits\" returned null; return a length or a "
                        + "moment");
    }

    @Test
    void a_sleep_fails_if_the_time_source_sets_no_alarm() throws Exception {
        VirtualTime broken = time;
        f.sleep("pause", SECOND);
        FlowResult<Void> result = f.build().run("p", options.withTimeSource(new dev.raddle.time.TimeSource() {
            @Override
            public long nanoTime() {
                return broken.nanoTime();
            }

            @Override
            public dev.raddle.time.Alarm after(Duration delay, Runnable action) {
                throw new IllegalStateException("no alarm today");
            }
        }));

        assertThat(result.explain("pause"))
                .isEqualTo("FAILED: its timeout or sleep could not be set: java.lang.IllegalStateException: no alarm "
                        + "today");
    }

    // Signals.

    @Test
    void a_signal_ends_its_node_with_its_value() throws Exception {
        Node<String> approved = f.signal("approved", String.class);
        Node<String> done = f.node("done", approved, by -> "approved by " + by);
        try (FlowRun<String> run = f.returning(done).start("p", options)) {
            assertThat(run.state("approved")).isEqualTo(NodeState.WAITING);
            time.advance(SECOND);
            assertThat(run.signal("approved", "Ann")).isTrue();
            assertThat(run.signal("approved", "Bob")).isFalse();
            assertThat(run.join().value()).isEqualTo("approved by Ann");
            assertThat(run.join().explain("approved")).isEqualTo("SUCCESS: its signal had arrived at +1000 ms");
            assertThat(run.signal("approved", "Bob")).isFalse();
        }
    }

    @Test
    void a_signal_that_arrives_before_its_node_is_reached_is_kept() throws Exception {
        Node<Void> pause = f.sleep("pause", SECOND);
        Node<String> approved = f.signal("approved", String.class).needs(order(pause));
        try (FlowRun<String> run = f.returning(approved).start("p", options)) {
            assertThat(run.signal("approved", "Ann")).isTrue();
            assertThat(run.signal("approved", "Bob")).isFalse();
            assertThat(run.state("approved")).isEqualTo(NodeState.PENDING);
            time.advance(SECOND);
            assertThat(run.join().value()).isEqualTo("Ann");
        }
    }

    @Test
    void signals_that_nobody_waits_for_are_refused() {
        f.signal("approved", Integer.class);
        f.signal("primitive", int.class);
        f.signal("bare", Void.class);
        logged("a");
        FlowPlan<String, Void> plan = f.build();
        try (FlowRun<Void> run = start()) {
            assertThatThrownBy(() -> run.signal("x", 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("unknown id \"x\"");
            assertThatThrownBy(() -> run.signal("a", 1))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("node \"a\" of flow \"waits\" does not wait for a signal; declare it with "
                            + "FlowBuilder.signal");
            assertThatThrownBy(() -> run.signal("approved", "yes"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("signal \"approved\" takes a java.lang.Integer, and the value was a java.lang.String");
            assertThatThrownBy(() -> run.signal("approved", null))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageEndingWith("and the value was null");
            assertThatThrownBy(() -> run.signal("bare", "x")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> plan.checkSignal("approved", "yes"))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage("signal \"approved\" takes a java.lang.Integer, and the value was a java.lang.String");
            assertThatThrownBy(() -> plan.checkSignal("a", 1)).isInstanceOf(IllegalArgumentException.class);
            plan.checkSignal("approved", 1); // delivers nothing
            assertThat(run.signal("primitive", 7)).isTrue();
            assertThat(run.signal("bare", null)).isTrue();
            assertThat(run.signal("approved", 1)).isTrue();
            assertThat(run.isDone()).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void of_many_concurrent_signals_exactly_one_is_delivered(boolean isReached) throws Exception {
        for (int round = 0; round < 200; round++) {
            FlowBuilder<Void> g = FlowPlan.define("race");
            Node<Integer> value = g.signal("value", Integer.class);
            Node<Void> gate = g.signal("gate", Void.class);
            if (!isReached) {
                value.needs(order(gate));
            }
            List<Integer> delivered = Collections.synchronizedList(new ArrayList<>());
            try (FlowRun<Integer> run = g.returning(value).start(null)) {
                List<Callable<?>> actions = new ArrayList<>();
                for (int sender = 0; sender < 4; sender++) {
                    int number = sender;
                    actions.add(() -> run.signal("value", number) && delivered.add(number));
                }
                actions.add(() -> run.signal("gate", null));
                Together.together(actions);
                assertThat(delivered).containsExactly(run.join().value());
            }
        }
    }

    // Both, and everything else.

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_timeout_of_a_node_includes_its_wait(boolean sleeps) throws Exception {
        waiting("wait", sleeps).timeout(SECOND);
        try (FlowRun<Void> run = start()) {
            time.advance(SECOND);
            FlowResult<Void> result = run.join();
            assertThat(result.node("wait").state()).isEqualTo(NodeState.TIMED_OUT);
            assertThat(result.explain("wait")).contains("ran out of time after 1000 ms (its timeout)");
            assertThat(sleeps || !run.signal("wait", "late")).isTrue();
            assertThat(time.alarms()).isZero();
        }
    }

    @Test
    void a_signal_that_times_out_has_its_default() throws Exception {
        Node<String> approved =
                f.signal("approved", String.class).timeout(SECOND).defaultValue("nobody");
        try (FlowRun<String> run = f.returning(approved).start("p", options)) {
            time.advance(SECOND);
            assertThat(run.join().value()).isEqualTo("nobody");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_deadline_of_the_run_ends_a_wait(boolean sleeps) throws Exception {
        waiting("wait", sleeps);
        try (FlowRun<Void> run = f.build().start("p", options.withTimeout(SECOND))) {
            time.advance(SECOND);
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
            assertThat(result.node("wait").state()).isEqualTo(NodeState.TIMED_OUT);
            assertThat(time.alarms()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_cancel_ends_a_wait(boolean sleeps) throws Exception {
        waiting("wait", sleeps);
        try (FlowRun<Void> run = start()) {
            run.cancel("enough");
            assertThat(run.join().status()).isEqualTo(FlowStatus.CANCELLED);
            assertThat(run.join().node("wait").state()).isEqualTo(NodeState.CANCELLED);
            assertThat(sleeps || !run.signal("wait", "late")).isTrue();
            assertThat(time.alarms()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void closing_a_run_does_not_wait_for_its_waits(boolean sleeps) {
        waiting("wait", sleeps);
        FlowRun<Void> run = start();
        run.close();

        assertThat(run.isDone()).isTrue();
        assertThat(time.alarms()).isZero();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_first_failure_ends_a_wait_under_fail_fast(boolean sleeps) throws Exception {
        waiting("wait", sleeps);
        Node<Void> trigger = f.signal("trigger", Void.class);
        f.action("fails", () -> {
                    throw new IOException("no");
                })
                .needs(order(trigger));
        try (FlowRun<Void> run = f.build().start("p", options.onFailure(OnFailure.FAIL_FAST))) {
            run.signal("trigger", null);
            assertThat(run.join().status()).isEqualTo(FlowStatus.FAILED);
            assertThat(run.join().node("wait").state()).isEqualTo(NodeState.CANCELLED);
            assertThat(time.alarms()).isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_wait_that_nobody_needs_any_more_is_skipped(boolean sleeps) throws Exception {
        Node<?> wait = waiting("wait", sleeps);
        Node<Void> trigger = f.signal("trigger", Void.class);
        Node<String> quick = logged("quick", order(trigger));
        f.node("first", () -> "x").needs(anyOf("wait", "quick"));
        try (FlowRun<Void> run = start()) {
            assertThat(run.state(wait.id())).isEqualTo(NodeState.WAITING);
            run.signal("trigger", null);
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(result.node("wait").state()).isEqualTo(NodeState.SKIPPED);
            assertThat(result.explain("wait"))
                    .isEqualTo("SKIPPED: \"first\" was decided by \"quick\" at +0 ms and \"wait\" has no other "
                            + "undecided consumer");
            assertThat(sleeps || !run.signal("wait", "late")).isTrue();
            assertThat(time.alarms()).isZero();
            assertThat(quick.id()).isEqualTo("quick");
        }
    }

    // the condition runs in the thread inside the node, and makes it unneeded
    @ParameterizedTest
    @ValueSource(strings = {"condition", "begin callback", "length"})
    void a_wait_that_becomes_unneeded_while_it_begins_is_skipped(String where) throws Exception {
        List<FlowRun<Void>> runs = new ArrayList<>();
        Node<Void> gate = f.signal("gate", Void.class);
        Node<Void> wait = f.sleep("wait", c -> {
                    deliver("length", where, runs);
                    return HOUR;
                })
                .needs(order(gate))
                .when(c -> {
                    deliver("condition", where, runs);
                    return true;
                })
                .onBegin(c -> deliver("begin callback", where, runs));
        f.signal("quick", Void.class);
        f.node("first", () -> "x").needs(anyOf("wait", "quick"));
        try (FlowRun<Void> run = start()) {
            runs.add(run);
            run.signal("gate", null);
            assertThat(run.isDone()).isTrue();
            assertThat(run.join().node(wait.id()).state()).isEqualTo(NodeState.SKIPPED);
            assertThat(time.alarms()).isZero();
        }
    }

    private static void deliver(String here, String where, List<FlowRun<Void>> runs) {
        if (here.equals(where)) {
            runs.getFirst().signal("quick", null);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_obsolete_wait_is_skipped_also_if_obsolete_nodes_are_interrupted(boolean sleeps) throws Exception {
        waiting("wait", sleeps);
        f.signal("quick", Void.class);
        f.node("first", () -> "x").needs(anyOf("wait", "quick"));
        try (FlowRun<Void> run = f.build().start("p", options.obsolete(UnneededPolicy.INTERRUPT))) {
            run.signal("quick", null);
            assertThat(run.join().node("wait").state()).isEqualTo(NodeState.SKIPPED);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_optional_wait_delays_nobody_and_is_skipped(boolean sleeps) throws Exception {
        Node<?> wait = waiting("wait", sleeps);
        f.node("b", () -> "b").needs(optional(wait), logged("a"));
        try (FlowRun<Void> run = start()) {
            assertThat(run.join().node("wait").state()).isEqualTo(NodeState.SKIPPED);
            assertThat(run.join().node("b").state()).isEqualTo(NodeState.SUCCESS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_essential_wait_is_not_skipped(boolean sleeps) throws Exception {
        Node<?> wait = waiting("wait", sleeps).essential();
        f.node("b", () -> "b").needs(optional(wait), logged("a"));
        try (FlowRun<Void> run = start()) {
            assertThat(run.isDone()).isFalse();
            endWait(run, "wait", sleeps);
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_node_after_a_wait_begins_when_that_ends_in_any_way(boolean sleeps) throws Exception {
        Node<?> wait = waiting("wait", sleeps).timeout(SECOND);
        logged("b", after(wait));
        try (FlowRun<Void> run = start()) {
            assertThat(log).isEmpty();
            time.advance(SECOND);
            assertThat(log).containsExactly("b");
            assertThat(run.join().status()).isEqualTo(FlowStatus.DEGRADED);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_wait_whose_condition_is_false_is_skipped_without_waiting(boolean sleeps) throws Exception {
        waiting("wait", sleeps).when(c -> false);
        assertThat(f.build().run("p", options).node("wait").state()).isEqualTo(NodeState.SKIPPED);
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void callbacks_and_listeners_are_notified_of_a_wait_once(boolean sleeps) throws Exception {
        waiting("wait", sleeps)
                .onBegin(c -> log.add("begin " + c.id()))
                .onResult(report -> log.add("result " + report.state()));
        TaskListener listener = new TaskListener() {
            @Override
            public void onSubmitted(TaskIdentity task) {
                log.add("submitted");
            }

            @Override
            public void onStarted(TaskIdentity task, long waitedNanos) {
                log.add("started");
            }

            @Override
            public void onSettled(TaskIdentity task, Outcome<?> outcome, long ranNanos) {
                log.add("settled " + outcome.status());
            }
        };
        try (FlowRun<Void> run = f.build().start("p", options.addListener(listener))) {
            assertThat(log).containsExactly("submitted", "started", "begin wait");
            endWait(run, "wait", sleeps);
            assertThat(log).containsExactly("submitted", "started", "begin wait", "result SUCCESS", "settled SUCCESS");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_wait_is_compensated_if_the_run_fails_later(boolean sleeps) throws Exception {
        Node<?> wait = waiting("wait", sleeps);
        wait.compensate(value -> log.add("undo " + value));
        f.action("fails", () -> {
                    throw new IOException("no");
                })
                .needs(order(wait));
        try (FlowRun<Void> run = start()) {
            endWait(run, "wait", sleeps);
            assertThat(run.join().status()).isEqualTo(FlowStatus.FAILED);
            assertThat(log).containsExactly(sleeps ? "undo null" : "undo value of wait");
        }
    }

    @Test
    void two_signals_with_one_path_are_refused() {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        FlowPlan<String, String> sub = inner.returning(inner.signal("ok", String.class));
        Node<String> a = f.node("a", () -> "A");
        f.subflow("ship", sub, a);
        f.signal("ship/ok", String.class);

        assertThat(f.compiler().problems())
                .containsExactly("ambiguous signal: the path \"ship/ok\" is that of a signal in subflow \"ship\" and of"
                        + " node \"ship/ok\"; rename one of them");
        assertThatThrownBy(f::build).isInstanceOf(InvalidFlowException.class);
    }

    @Test
    void sleeps_may_be_longer_than_the_range_of_moments() throws Exception {
        Duration forever = java.time.temporal.ChronoUnit.FOREVER.getDuration();
        f.sleep("forever", forever).timeout(SECOND);
        f.sleep("long", Duration.ofSeconds(Long.MAX_VALUE / 1000)).timeout(SECOND);
        f.sleepUntil("max", c -> Instant.MAX).timeout(SECOND);
        f.sleepUntil("min", c -> Instant.MIN);
        f.sleep("negative", forever.negated());
        MemoryJournal journal = FlowJournal.inMemory();
        FlowPlan<String, Void> plan = f.build();
        try (FlowRun<Void> run = plan.start("p", options.withJournal(journal))) {
            for (String id : List.of("forever", "long", "max")) {
                assertThat(run.state(id)).isEqualTo(NodeState.WAITING);
            }
            run.abandon("the process ends");
        }
        try (FlowRun<Void> run = plan.start("p", options.withJournal(journal))) {
            assertThat(run.state("max")).isEqualTo(NodeState.WAITING);
            time.advance(SECOND);
            FlowResult<Void> result = run.join();
            for (String id : List.of("forever", "long", "max")) {
                assertThat(result.node(id).state()).isEqualTo(NodeState.TIMED_OUT);
            }
            assertThat(result.node("min").state()).isEqualTo(NodeState.SUCCESS);
            assertThat(result.node("negative").state()).isEqualTo(NodeState.SUCCESS);
        }
    }

    @Test
    void a_node_that_waits_has_neither_a_group_nor_a_retry_policy() {
        f.sleep("a", SECOND).group("g");
        f.signal("b", String.class).retry(RetryPolicy.attempts(2));

        assertThat(f.compiler().problems())
                .containsExactly(
                        "node \"a\" only waits and has a group; set it on a node that acts",
                        "node \"b\" only waits and has a retry policy; set it on a node that acts");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_node_with_a_group_begins_after_a_wait(boolean sleeps) throws Exception {
        Node<?> wait = waiting("wait", sleeps);
        logged("b", order(wait)).group("g");
        try (GroupExecutor groups = GroupExecutor.newVirtualThreadExecutor(
                        GroupPolicy.builder().build());
                FlowRun<Void> run = f.build().start("p", options.withGroups(groups::scheduler))) {
            endWait(run, "wait", sleeps);
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(log).containsExactly("b");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_run_in_its_callers_thread_continues_there_after_a_wait(boolean sleeps) throws Exception {
        List<Thread> threads = Collections.synchronizedList(new ArrayList<>());
        Node<?> wait = waiting("wait", sleeps).onResult(report -> threads.add(Thread.currentThread()));
        f.action("b", () -> threads.add(Thread.currentThread())).needs(order(wait));
        try (FlowRun<Void> run = f.build().start("p", options.inCallersThread())) {
            FutureTask<FlowResult<Void>> join = new FutureTask<>(run::join);
            Thread joiner = Thread.ofPlatform().start(join);
            Wait.until(() -> run.state("wait") == NodeState.WAITING);
            if (sleeps) {
                time.awaitAlarms(1);
            }
            endWait(run, "wait", sleeps);
            assertThat(join.get().status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(threads).containsExactly(Thread.currentThread(), joiner);
        }
    }

    @Test
    void the_value_of_a_run_may_be_a_signal_while_other_nodes_go_on() throws Exception {
        f.sleep("pause", HOUR);
        Node<String> value = f.signal("value", String.class);
        try (FlowRun<String> run = f.returning(value).start("p", options)) {
            run.signal("value", "v");
            assertThat(run.awaitValue()).isEqualTo("v");
            assertThat(run.isDone()).isFalse();
        }
    }

    @Test
    void plans_with_waits_are_drawn_and_wired_like_others() throws Exception {
        logged("a");
        f.sleep("pause", SECOND);
        f.signal("ok", Void.class);
        FlowNotation.wire(f, "a --> pause --> ok");
        FlowPlan<String, Void> plan = f.build();

        assertThat(plan.toMermaid()).contains("n0 --> n1", "n1 --> n2");
        try (FlowRun<Void> run = plan.start("p", options)) {
            time.advance(SECOND);
            run.signal("ok", null);
            assertThat(run.join().toJson()).contains("{\"id\":\"pause\",\"state\":\"SUCCESS\",\"via\":\"ACTION\"");
            assertThat(run.join().toChromeTrace()).contains("\"name\":\"pause\"");
        }
    }

    // Nested flows.

    private FlowPlan<String, String> inner() {
        FlowBuilder<String> g = FlowPlan.define("inner", String.class);
        Node<Void> pause = g.sleep("pause", SECOND);
        Node<String> ok = g.signal("ok", String.class).needs(order(pause));
        return g.returning(g.node("out", ok, value -> "inner " + value));
    }

    @Test
    void a_node_of_a_subflow_sleeps_and_takes_the_signal_with_its_path() throws Exception {
        Node<String> sub = f.subflow("sub", inner(), f.node("in", () -> "in"));
        try (FlowRun<String> run = f.returning(sub).start("p", options)) {
            assertThat(run.isDone()).isFalse();
            time.advance(SECOND);
            assertThat(run.signal("sub/ok", "x")).isTrue();
            assertThat(run.signal("sub/ok", "y")).isFalse();
            assertThat(run.join().value()).isEqualTo("inner x");
        }
    }

    @Test
    void a_signal_is_kept_for_a_subflow_that_has_not_begun() throws Exception {
        Node<Void> pause = f.sleep("wait", SECOND);
        Node<String> in = f.node("in", () -> "in").needs(order(pause));
        FlowBuilder<String> middle = FlowPlan.define("middle", String.class);
        Node<String> deep = middle.subflow("deep", inner(), middle.node("in", () -> "in"));
        Node<String> sub = f.subflow("sub", middle.returning(deep), in);
        try (FlowRun<String> run = f.returning(sub).start("p", options)) {
            assertThat(run.signal("sub/deep/ok", "x")).isTrue();
            assertThatThrownBy(() -> run.signal("sub/ok", "x")).isInstanceOf(IllegalArgumentException.class);
            assertThatThrownBy(() -> run.signal("sub/deep/out", "x")).isInstanceOf(IllegalArgumentException.class);
            time.advance(SECOND.multipliedBy(2));
            assertThat(run.join().value()).isEqualTo("inner x");
        }
    }

    @Test
    void a_subflow_that_is_ended_takes_no_signal() throws Exception {
        Node<String> sub = f.subflow("sub", inner(), f.node("in", () -> "in")).timeout(SECOND.dividedBy(2));
        try (FlowRun<Void> run = start()) {
            time.advance(SECOND);
            assertThat(run.join().node(sub.id()).state()).isEqualTo(NodeState.TIMED_OUT);
            assertThat(run.signal("sub/ok", "x")).isFalse();
            assertThat(time.alarms()).isZero();
        }
    }

    // Journals.

    @Test
    void a_sleep_ends_at_the_recorded_moment_in_a_later_process() throws Exception {
        AtomicInteger calls = new AtomicInteger();
        f.sleep("pause", c -> {
            calls.incrementAndGet();
            return SECOND.multipliedBy(3);
        });
        FlowPlan<String, Void> plan = f.build();
        MemoryJournal journal = FlowJournal.inMemory();
        try (FlowRun<Void> first = plan.start("p", options.withJournal(journal))) {
            time.advance(SECOND);
            first.abandon("the process ends");
            assertThat(first.join().status()).isEqualTo(FlowStatus.LOST);
        }
        assertThat(time.alarms()).isZero();
        try (FlowRun<Void> second = plan.start("p", options.withJournal(journal))) {
            time.advance(SECOND);
            assertThat(second.isDone()).isFalse();
            time.advance(SECOND);
            assertThat(second.isDone()).isTrue();
        }
        assertThat(calls).hasValue(1);
        assertThat(journal.entries()).contains(new Entry.SleepUntil("pause", Instant.EPOCH.plusSeconds(3)));
    }

    @Test
    void a_sleep_of_a_subflow_that_is_over_when_a_later_process_begins_ends_at_once() throws Exception {
        Node<String> sub = f.subflow("sub", inner(), f.node("in", () -> "in"));
        FlowPlan<String, String> plan = f.returning(sub);
        MemoryJournal journal = FlowJournal.inMemory();
        try (FlowRun<String> first = plan.start("p", options.withJournal(journal))) {
            first.signal("sub/ok", "x");
            first.abandon("the process ends");
        }
        time.advance(HOUR);

        assertThat(plan.run("p", options.withJournal(journal)).value()).isEqualTo("inner x");
    }

    @Test
    void a_signal_that_an_earlier_process_has_received_is_delivered_once() throws Exception {
        Node<Void> pause = f.sleep("pause", SECOND);
        Node<String> ok = f.signal("ok", String.class).needs(order(pause));
        FlowPlan<String, String> plan = f.returning(ok);
        MemoryJournal journal = FlowJournal.inMemory();
        try (FlowRun<String> first = plan.start("p", options.withJournal(journal))) {
            assertThat(first.signal("ok", "x")).isTrue();
            first.abandon("the process ends");
            assertThat(first.signal("ok", "y")).isFalse();
        }
        try (FlowRun<String> second = plan.start("p", options.withJournal(journal))) {
            assertThat(second.signal("ok", "y")).isFalse();
            time.advance(SECOND);
            assertThat(second.join().value()).isEqualTo("x");
        }
        try (FlowRun<String> third =
                plan.start("p", options.withJournal(journal).rerun("ok"))) {
            assertThat(third.signal("ok", "z")).isTrue();
            assertThat(third.join().value()).isEqualTo("z");
        }
    }

    @Test
    void a_signal_that_cannot_be_recorded_is_not_delivered() throws Exception {
        Node<String> ok = f.signal("ok", String.class);
        AtomicInteger failures = new AtomicInteger(1);
        MemoryJournal kept = FlowJournal.inMemory();
        FlowJournal journal = new FlowJournal() {
            @Override
            public List<Entry> open(Work work) {
                return kept.open(work);
            }

            @Override
            public void record(Entry entry) throws IOException {
                if (entry instanceof Entry.SignalReceived && failures.getAndDecrement() > 0) {
                    throw new IOException("disk full");
                }
                kept.record(entry);
            }
        };
        try (FlowRun<String> run = f.returning(ok).start("p", options.withJournal(journal))) {
            assertThatThrownBy(() -> run.signal("ok", "x"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasRootCauseMessage("disk full");
            assertThat(run.state("ok")).isEqualTo(NodeState.WAITING);
            assertThat(run.signal("ok", "y")).isTrue();
            assertThat(run.join().value()).isEqualTo("y");
        }
    }

    @Test
    void finished_waits_are_restored_like_other_nodes() throws Exception {
        Node<Void> pause = f.sleep("pause", SECOND);
        Node<String> ok = f.signal("ok", String.class).needs(order(pause));
        Node<Void> other = f.signal("other", Void.class).needs(order(ok));
        FlowPlan<String, Void> plan = f.returning(other);
        MemoryJournal journal = FlowJournal.inMemory();
        try (FlowRun<Void> first = plan.start("p", options.withJournal(journal))) {
            time.advance(SECOND);
            first.signal("ok", "x");
            first.abandon("the process ends");
        }
        try (FlowRun<Void> second = plan.start("p", options.withJournal(journal))) {
            assertThat(second.state("pause")).isEqualTo(NodeState.SUCCESS);
            assertThat(second.state("ok")).isEqualTo(NodeState.SUCCESS);
            second.signal("other", null);
            assertThat(second.join().node("ok").value()).isEqualTo("x");
        }
    }

    @Test
    void a_plan_with_a_sleep_or_signal_in_place_of_an_action_is_another_plan() {
        List<String> digests = new ArrayList<>();
        for (int kind = 0; kind < 4; kind++) {
            FlowBuilder<Void> g = FlowPlan.define("plan");
            switch (kind) {
                case 0 -> g.action("a", () -> {});
                case 1 -> g.sleep("a", SECOND);
                case 2 -> g.signal("a", String.class);
                default -> g.signal("a", Integer.class);
            }
            digests.add(g.build().graph.digest());
        }
        assertThat(digests).doesNotHaveDuplicates();
    }
}
