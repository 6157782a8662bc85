package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.allOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowFailedException;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.Node;
import dev.raddle.processes.Await;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A run in a database ends as the same plan does in memory, whether or not its value can be stored. */
@Timeout(120)
class RunValueTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private final List<String> undone = new CopyOnWriteArrayList<>();

    private <P> FlowService started(FlowPlan<P, ?> plan) {
        return database.service().register(plan, "1", FlowCodec.text()).start();
    }

    private Node<String> first(FlowBuilder<String> f) {
        return f.node("a", () -> "a").compensate(undone::add);
    }

    private static Node<List<String>> each(FlowBuilder<String> f) {
        return f.map("each", allOf(List.of(f.node("x", () -> "x"), f.node("y", () -> "y"))), text -> text + text);
    }

    @Test
    void a_run_whose_output_was_skipped_is_a_success_without_a_value() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        FlowPlan<String, String> plan =
                f.returning(f.node("b", first(f), value -> "b").when(c -> false));
        assertThat(plan.run("p").status()).isEqualTo(FlowStatus.SUCCESS);
        assertThatThrownBy(() -> plan.run("p").value()).isInstanceOf(FlowFailedException.class);
        try (FlowService service = started(plan)) {
            service.submit("flow", "run-1", "p");
            StoredRun run = service.await("run-1", Await.BOUND);

            FlowServiceTest.hasSucceeded(run);
            assertThat(run.failure()).isNull();
            assertThat(run.problem()).startsWith("it has no value: flow \"flow\" has no value, it is SUCCESS");
            assertThat(undone).isEmpty();
            assertThatThrownBy(() -> service.value("run-1"))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageStartingWith("run \"run-1\" is SUCCESS: it has no value: ");
        }
    }

    @Test
    void the_values_of_several_outputs_and_of_elements_need_no_codec_of_maps_and_lists() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> a = first(f);
        Node<List<String>> each = each(f);
        Node<String> nothing = f.node("nothing", () -> null);
        FlowPlan<String, Map<String, Object>> plan = f.returning(List.of(each, a, nothing));
        Map<String, Object> expected = plan.run("p").value();
        assertThat(expected).containsEntry("each", List.of("xx", "yy")).containsEntry("nothing", null);
        try (FlowService service = started(plan)) {
            service.submit("flow", "run-1", "p");
            FlowServiceTest.hasSucceeded(service.await("run-1", Await.BOUND));

            assertThat(service.value("run-1")).isEqualTo(expected);
            assertThat(((Map<?, ?>) service.value("run-1")).keySet()).isEqualTo(expected.keySet());
        }
    }

    @Test
    void the_value_of_a_single_output_may_be_a_list_of_elements() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        FlowPlan<String, List<String>> plan = f.returning(each(f));
        try (FlowService service = started(plan)) {
            service.submit("flow", "run-1", "p");
            FlowServiceTest.hasSucceeded(service.await("run-1", Await.BOUND));

            assertThat(service.value("run-1")).isEqualTo(List.of("xx", "yy"));
        }
    }

    @Test
    void a_run_whose_default_cannot_be_stored_keeps_its_status_and_says_why_it_has_no_value() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> broken = f.<String, String>node("b", first(f), value -> {
                    throw new IllegalStateException("no luck");
                })
                .defaultValue("x".repeat(Values.MAX_BYTES + 1));
        f.node("c", after(broken), value -> "c");
        FlowPlan<String, String> plan = f.returning(broken);
        FlowStatus inMemory = plan.run("p").status();
        assertThat(inMemory).isEqualTo(FlowStatus.DEGRADED);
        undone.clear();
        try (FlowService service = started(plan)) {
            service.submit("flow", "run-1", "p");
            StoredRun run = service.await("run-1", Await.BOUND);

            assertThat(run.state()).isEqualTo(RunState.DEGRADED);
            assertThat(run.failure()).isNull(); // the default has handled it
            assertThat(run.problem()).contains("has 1000001 bytes, and at most 1000000 are stored");
            assertThat(undone).isEmpty();
            assertThatThrownBy(() -> service.value("run-1")).hasMessageContaining("has 1000001 bytes");
        }
    }

    @Test
    void any_bytes_may_be_the_value_of_a_run() throws Exception {
        FlowBuilder<byte[]> f = FlowPlan.define("flow", byte[].class);
        FlowPlan<byte[], byte[]> plan = f.returning(f.node("echo", c -> c.param()));
        byte[] bytes = "\0raddle\1MM".getBytes(StandardCharsets.US_ASCII);
        try (FlowService service =
                database.service().register(plan, "1", FlowCodec.bytes()).start()) {
            service.submit("flow", "run-1", bytes);
            FlowServiceTest.hasSucceeded(service.await("run-1", Await.BOUND));

            assertThat((byte[]) service.value("run-1")).isEqualTo(bytes);
        }
    }

    @Test
    void a_run_whose_compensations_fail_says_so() throws Exception {
        FlowBuilder<String> f = FlowPlan.define("flow", String.class);
        Node<String> a = f.node("a", () -> "a").compensate(value -> {
            throw new IllegalStateException("cannot refund");
        });
        Node<String> b = f.node("b", a, value -> {
            throw new IllegalStateException("no luck");
        });
        try (FlowService service = started(f.returning(b))) {
            service.submit("flow", "run-1", "p");
            StoredRun run = service.await("run-1", Await.BOUND);

            assertThat(run.state()).isEqualTo(RunState.STUCK);
            assertThat(run.problem())
                    .contains("it is FAILED", "node \"a\" failed: java.lang.IllegalStateException: cannot refund");
        }
    }
}
