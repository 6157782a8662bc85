package dev.raddle.jdbc;

import static dev.raddle.flow.Dependency.order;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import dev.raddle.processes.Await;
import dev.raddle.task.ContextPropagator;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Runs have the context of their submission, in whatever process and thread they are executed. */
@Timeout(120)
class ContextTest {
    @RegisterExtension
    final TestDatabase database = new TestDatabase();

    private static final ThreadLocal<String> TRACE = new ThreadLocal<>();

    /** A context of another library. */
    private static final ContextPropagator PROPAGATOR = new ContextPropagator() {
        @Override
        public Captured capture() {
            return installing(TRACE.get());
        }

        @Override
        public Map<String, String> save() {
            String trace = TRACE.get();
            return trace == null ? Map.of() : Map.of("trace", trace);
        }

        @Override
        public Captured restore(Map<String, String> saved) {
            return installing(saved.get("trace"));
        }

        private static Captured installing(String trace) {
            return () -> {
                String before = TRACE.get();
                TRACE.set(trace);
                return () -> TRACE.set(before);
            };
        }
    };

    private static final RunOptions OPTIONS = RunOptions.defaults().addPropagator(PROPAGATOR);

    private final Queue<String> seen = new ConcurrentLinkedQueue<>();

    @AfterEach
    void clear() {
        TRACE.remove();
    }

    private String see(String where) {
        seen.add(where + " " + TRACE.get());
        return where;
    }

    /** A flow that waits for a signal between its nodes, and is undone in the end. */
    private FlowPlan<String, String> plan() {
        FlowBuilder<String> g = FlowPlan.define("inner", String.class);
        FlowPlan<String, String> inner = g.returning(g.node("deep", () -> see("deep")));
        FlowBuilder<String> f = FlowPlan.define("traced", String.class);
        Node<String> first = f.node("first", () -> see("first")).compensate(value -> see("undo first"));
        Node<String> go = f.signal("go", String.class).needs(order(first));
        Node<String> second = f.node("second", go, value -> see("second")).onResult(report -> see("callback"));
        Node<String> sub = f.subflow("sub", inner, second);
        return f.returning(f.node("last", sub, value -> {
            see("last");
            throw new IllegalStateException("undo it");
        }));
    }

    private FlowService.Builder service() {
        return database.service().register(plan(), "1", FlowCodec.text(), OPTIONS);
    }

    private void waitsForSignal(FlowService service) {
        Await.until(
                "the first node has ended",
                () -> service.entries("run-1").stream()
                        .anyMatch(entry -> entry.kind().equals("NODE")));
    }

    @Test
    void a_run_that_another_process_continues_has_the_context_of_its_submission_everywhere() throws Exception {
        try (FlowService one = service().closeTimeout(Duration.ZERO).start()) {
            TRACE.set("t-17");
            assertThat(one.submit("traced", "run-1", "p")).isTrue();
            TRACE.remove();
            waitsForSignal(one);
        }
        try (FlowService other = service().start()) {
            assertThat(other.signal("run-1", "go", "on")).isTrue();
            assertThat(other.await("run-1", Await.BOUND).state()).isEqualTo(RunState.FAILED);
        }
        assertThat(seen)
                .containsExactly(
                        "first t-17", "second t-17", "callback t-17", "deep t-17", "last t-17", "undo first t-17");
    }

    @Test
    void a_run_that_is_submitted_in_a_transaction_has_the_context_of_that_call() throws Exception {
        try (FlowService client = service().submitOnly().start();
                Connection connection = database.pool().getConnection()) {
            connection.setAutoCommit(false);
            TRACE.set("t-17");
            assertThat(client.submit(connection, "traced", "run-1", "p")).isTrue();
            TRACE.set("t-18");
            assertThat(client.submit(connection, "traced", "run-1", "p")).isFalse();
            connection.commit();
            TRACE.remove();
            try (FlowService worker = service().start()) {
                waitsForSignal(worker);
            }
        }
        assertThat(seen).containsExactly("first t-17");
    }

    @Test
    void a_run_without_a_saved_context_has_none() throws Exception {
        try (FlowService service = service().start()) {
            service.submit("traced", "run-1", "p");
            waitsForSignal(service);
        }
        assertThat(List.copyOf(seen)).containsExactly("first null");
        assertThat(database.query("SELECT context FROM raddle_run")).isNull();
    }

    @Test
    void a_context_may_have_texts_that_a_database_cannot_store() throws Exception {
        try (FlowService service = service().start()) {
            TRACE.set("a\0{,\"\\b\uD83D");
            service.submit("traced", "run-1", "p");
            TRACE.remove();
            waitsForSignal(service);
        }
        assertThat(seen).containsExactly("first a?{,\"\\b?");
    }
}
