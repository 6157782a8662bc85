package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The value of a run, as soon as it is known, and nodes without a value. */
@Timeout(60)
class FlowValueTest {

    private final FlowBuilder<Void> f = FlowPlan.define("value");
    private final List<String> events = new CopyOnWriteArrayList<>();

    @Test
    void the_value_is_available_when_the_output_has_ended_and_the_rest_continues() throws Exception {
        BlockingTask audit = new BlockingTask();
        Node<String> page = f.node("page", () -> "P").onResult(report -> events.add("callback"));
        Node<String> note = f.node("note", page, p -> audit.call());
        try (FlowRun<String> run = f.returning(page).start(null)) {
            assertThat(run.awaitValue()).isEqualTo("P");
            assertThat(events).containsExactly("callback");
            audit.awaitBegun();
            assertThat(run.isDone()).isFalse();
            assertThat(run.awaitValue()).isEqualTo("P");
            audit.release();
            assertThat(run.join().node(note).state()).isEqualTo(NodeState.SUCCESS);
            assertThat(run.awaitValue()).isEqualTo("P");
        }
    }

    @Test
    void the_value_waits_for_several_outputs_and_a_default_is_a_value() throws Exception {
        CountDownLatch second = new CountDownLatch(1);
        BlockingTask rest = new BlockingTask();
        Node<String> a = f.node("a", () -> "A");
        Node<String> b = f.<String>node("b", () -> {
                    second.await();
                    throw new IllegalStateException("b is broken");
                })
                .defaultValue("D");
        f.node("rest", rest::call);
        try (FlowRun<Map<String, Object>> run = f.returning(List.of(a, b)).start(null)) {
            FutureTask<Map<String, Object>> waiting = new FutureTask<>(run::awaitValue);
            Thread.startVirtualThread(waiting);
            rest.awaitBegun();
            second.countDown();
            assertThat(waiting.get()).containsEntry("a", "A").containsEntry("b", "D");
            assertThat(run.isDone()).isFalse();
        }
    }

    @Test
    void an_output_without_a_value_throws_immediately() throws Exception {
        BlockingTask rest = new BlockingTask();
        Node<String> a = f.node("a", () -> {
            throw new IllegalStateException("card declined");
        });
        Node<String> b = f.node("b", a, x -> x);
        f.node("rest", rest::call);
        try (FlowRun<String> run = f.returning(b).start(null)) {
            assertThatThrownBy(run::awaitValue)
                    .isInstanceOfSatisfying(
                            FlowFailedException.class,
                            failure -> assertThat(failure.status()).isEqualTo(FlowStatus.FAILED))
                    .hasMessageContaining("flow \"value\" has no value, it is FAILED")
                    .hasMessageContaining("card declined");
            rest.awaitBegun();
            assertThat(run.isDone()).isFalse();
        }
    }

    @Test
    void a_cancelled_run_and_a_run_without_output_can_be_awaited() throws Exception {
        BlockingTask slow = new BlockingTask();
        Node<String> a = f.node("a", slow::call);
        FlowRun<String> run = f.returning(a).start(null);
        slow.awaitBegun();
        run.cancel("enough");
        assertThatThrownBy(run::awaitValue)
                .isInstanceOfSatisfying(
                        FlowFailedException.class,
                        failure -> assertThat(failure.status()).isEqualTo(FlowStatus.CANCELLED));
        run.close();
        FlowBuilder<Void> g = FlowPlan.define("nothing");
        g.action("b", () -> events.add("b"));
        try (FlowRun<Void> nothing = g.build().start(null)) {
            assertThat(nothing.awaitValue()).isNull();
            assertThat(nothing.isDone()).isTrue();
        }
    }

    @Test
    void in_the_callers_thread_the_rest_runs_when_the_caller_joins() throws Exception {
        Node<String> first = f.node("first", () -> "F");
        Node<String> page = f.node("page", first, x -> x + "P");
        f.action("rest", page, x -> events.add("rest"));
        f.action("other", first, x -> events.add("other"));
        try (FlowRun<String> run =
                f.returning(page).start(null, RunOptions.defaults().inCallersThread())) {
            assertThat(run.awaitValue()).isEqualTo("FP");
            assertThat(events).isEmpty();
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(events).containsExactlyInAnyOrder("rest", "other");
        }
    }

    @Test
    void a_value_is_returned_in_any_race_of_the_wait_and_the_end_of_the_output() throws Exception {
        Node<Integer> page = f.node("page", () -> 17);
        f.node("rest", page, x -> x);
        FlowPlan<Void, Integer> plan = f.returning(page);
        for (int i = 0; i < 5_000; i++) {
            try (FlowRun<Integer> run = plan.start(null)) {
                assertThat(run.awaitValue()).isEqualTo(17);
            }
        }
    }

    @Test
    void a_node_without_a_value_needs_no_return() throws Exception {
        AtomicInteger sum = new AtomicInteger();
        Node<Integer> a = f.node("a", () -> 1);
        Node<Void> none = f.action("none", () -> events.add("none"));
        Node<Void> context = f.action("context", c -> events.add(c.id()));
        Node<Void> one = f.action("one", a, x -> sum.addAndGet(x));
        f.action("two", a, Dependency.order(one), (x, y) -> sum.addAndGet(x));
        f.action("with", a, (c, x) -> events.add(c.id() + x));
        Node<Void> four = f.action("four", a, none, (p, q) -> {
                    throw new IOException("a checked one");
                })
                .needs(context, one);
        FlowResult<Void> result = f.build().run(null);
        assertThat(result.node(one).value()).isNull();
        assertThat(result.node(one).state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.node(four).cause()).hasMessage("a checked one");
        assertThat(events).containsExactlyInAnyOrder("none", "context", "with1");
        assertThat(sum).hasValue(2);
    }
}
