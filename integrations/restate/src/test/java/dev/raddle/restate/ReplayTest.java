package dev.raddle.restate;

import static dev.raddle.flow.Dependency.after;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.HotSpotDiagnosticMXBean;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.processes.Await;
import dev.raddle.processes.RestateServer.Answer;
import dev.raddle.task.Outcome;
import dev.raddle.task.RetryPolicy;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Runs that the engine suspends whenever they wait, so that each step is preceded by a replay of all earlier ones. */
@RestateTest
class ReplayTest {
    private static final String MISMATCH = "mismatch between the code paths";

    private final Map<String, AtomicInteger> calls = new ConcurrentHashMap<>();
    private int logged; // the length of the engine's log before the test
    private final AtomicInteger replays = new AtomicInteger(); // with the first attempt

    @BeforeEach
    void noteLog(Engine engine) {
        logged = engine.log().length();
    }

    private void ensureNoMismatch(Engine engine) {
        assertThat(engine.log().substring(logged)).doesNotContain(MISMATCH);
    }

    private void noteCall(String node) {
        calls.computeIfAbsent(node, unused -> new AtomicInteger()).incrementAndGet();
    }

    /** A condition is evaluated once in each attempt. */
    private boolean noteReplay(NodeContext<?> unused) {
        replays.incrementAndGet();
        return true;
    }

    private Answer run(Engine engine, String service, FlowPlan<?, ?> plan) {
        ServiceDefinition definition = Worker.suspendedAlways(RestateFlows.service(service, plan, TestCodec.CODEC));
        try (Worker worker = Worker.serve(definition)) {
            engine.register(worker.port());
            return engine.run(service, "k", TestCodec.bytes("p"));
        }
    }

    @Test
    void a_run_that_is_replayed_at_each_step_calls_each_action_once(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("replayed", String.class);
        Node<String> a = f.node("a", context -> called("a")).when(this::noteReplay);
        Node<String> b = f.node("b", a, value -> called("b"));
        Node<String> c = f.node("c", a, value -> called("c"));
        Node<List<String>> map = f.map("map", f.node("list", b, c, (x, y) -> List.of(x, y)), this::called);
        Node<String> sub = f.subflow("sub", subflow(), c);
        Node<String> end = f.node("end", map, sub, (list, value) -> list + value);

        Answer answer = run(engine, "replayed", f.returning(end));

        assertThat(TestCodec.value(answer.value())).isEqualTo("[b, c]inner c");
        assertThat(calls.toString()).isEqualTo("{a=1, b=2, c=2, inner=1}");
        assertThat(replays.get()).isGreaterThanOrEqualTo(5);
        ensureNoMismatch(engine);
    }

    @Test
    void a_cancelled_run_is_undone_once_over_all_replays(Engine engine) {
        FlowBuilder<String> f = FlowPlan.define("cancelled", String.class);
        Node<String> a = f.node("a", () -> called("a")).compensate(value -> called("undo a"));
        Node<String> b = f.node("b", a, value -> called("b")).compensate(value -> called("undo b"));
        Node<String> answer = f.signal("answer", String.class).needs(b);
        FlowPlan<String, String> plan = f.returning(f.node("end", answer, value -> value));
        ServiceDefinition definition = Worker.suspendedAlways(RestateFlows.service("cancelled", plan, TestCodec.CODEC));
        try (Worker worker = Worker.serve(definition)) {
            engine.register(worker.port());
            engine.submit("cancelled", "k", new byte[0]);
            Await.until(
                    "the run waits for its signal",
                    () -> engine.journal("cancelled", "k").toString().contains("GetPromise"));

            engine.cancel("cancelled", "k");

            Answer end = engine.attach("cancelled", "k");
            assertThat(end.status()).isEqualTo(409);
            assertThat(end.text()).contains("flow \\\"cancelled\\\" is CANCELLED");
            assertThat(calls.keySet()).containsExactlyInAnyOrder("a", "b", "undo b", "undo a");
            assertThat(calls.values()).allMatch(count -> count.get() == 1);
        }
        ensureNoMismatch(engine);
    }

    @Test
    void a_suspended_run_leaves_no_thread_behind(Engine engine, @TempDir Path directory) throws IOException {
        FlowBuilder<String> f = FlowPlan.define("asleep", String.class);
        Node<String> a = f.node("a", () -> called("a")).when(this::noteReplay);
        Node<String> answer = f.signal("answer", String.class).needs(a);
        FlowPlan<String, String> plan = f.returning(f.node("end", answer, value -> value));
        ServiceDefinition definition = Worker.suspendedAlways(RestateFlows.service("asleep", plan, TestCodec.CODEC));
        try (Worker worker = Worker.serve(definition)) {
            engine.register(worker.port());
            engine.submit("asleep", "k", new byte[0]);
            Await.until(
                    "the run waits for its signal",
                    () -> engine.query("SELECT status FROM sys_invocation WHERE target = 'asleep/k/run'")
                            .contains("suspended"));

            Await.until("no thread drives it", () -> !threads(directory).contains("FlowLoop.run"));

            engine.call("asleep", "k", "signal", TestCodec.bytes("yes"), Map.of(RestateFlows.NODE_HEADER, "answer"))
                    .value();
            assertThat(TestCodec.value(engine.attach("asleep", "k").value())).isEqualTo("yes");
            assertThat(replays.get()).isGreaterThan(1);
        }
    }

    /** Returns the stacks of all threads, also of virtual ones. */
    private static String threads(Path directory) {
        try {
            Path file = Files.createTempFile(directory, "threads", ".txt");
            Files.delete(file);
            ManagementFactory.getPlatformMXBean(HotSpotDiagnosticMXBean.class)
                    .dumpThreads(file.toString(), HotSpotDiagnosticMXBean.ThreadDumpFormat.TEXT_PLAIN);
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private String called(String node) {
        noteCall(node);
        return node;
    }

    private FlowPlan<String, String> subflow() {
        FlowBuilder<String> f = FlowPlan.define("sub", String.class);
        return f.returning(f.node("inner", context -> called("inner") + " " + context.param()));
    }

    @Test
    void waiting_attempts_sleeps_and_timeouts_survive_replays(Engine engine) {
        AtomicInteger attempts = new AtomicInteger();
        FlowBuilder<String> f = FlowPlan.define("waiting", String.class);
        Node<Void> pause = f.sleep("pause", Duration.ofMillis(50));
        Node<String> retried = f.<String>node("retried", () -> {
                    if (attempts.incrementAndGet() < 3) {
                        throw new IOException("not yet");
                    }
                    return "third";
                })
                .retry(RetryPolicy.fixedDelay(3, Duration.ofMillis(30)))
                .timeout(Duration.ofSeconds(30))
                .needs(pause);
        Node<String> unanswered = f.signal("unanswered", String.class).timeout(Duration.ofMillis(100));
        Node<String> end = f.node(
                "end",
                retried,
                after(unanswered),
                (value, outcome) -> value + " " + (outcome instanceof Outcome.Success));

        Answer answer = run(engine, "waiting", f.returning(end));

        assertThat(TestCodec.value(answer.value())).isEqualTo("third false");
        assertThat(attempts).hasValue(3);
        ensureNoMismatch(engine);
    }

    @Test
    void random_flows_end_as_in_one_JVM(Engine engine) throws InterruptedException {
        for (int seed = 0; seed < 15; seed++) {
            FlowPlan<String, String> plan = randomPlan(new Random(seed));
            String expected = plan.run("p").value();
            Map<String, Integer> expectedCalls = takeCalls();

            Answer answer = run(engine, "random" + seed, plan);

            assertThat(TestCodec.value(answer.value())).as("seed " + seed).isEqualTo(expected);
            assertThat(takeCalls()).as("seed " + seed).isEqualTo(expectedCalls);
        }
        ensureNoMismatch(engine);
    }

    private Map<String, Integer> takeCalls() {
        Map<String, Integer> counts = new java.util.TreeMap<>();
        calls.forEach((node, count) -> counts.put(node, count.get()));
        calls.clear();
        return counts;
    }

    /** Returns a plan whose value contains how each node has ended, in which nothing depends on who is faster. */
    private FlowPlan<String, String> randomPlan(Random random) {
        FlowBuilder<String> f = FlowPlan.define("random", String.class);
        List<Node<String>> nodes = new ArrayList<>();
        int size = 3 + random.nextInt(6);
        for (int i = 0; i < size; i++) {
            String id = "n" + i;
            boolean fails = random.nextInt(4) == 0;
            List<String> upstreams = new ArrayList<>();
            Node<String> node = f.<String>node(id, context -> {
                noteCall(id);
                if (fails) {
                    throw new IOException(id + " has failed");
                }
                return id
                        + upstreams.stream()
                                .map(each -> each + "=" + context.state(each) + context.peek(each))
                                .toList();
            });
            for (Node<String> upstream : nodes) {
                if (random.nextInt(3) == 0) {
                    upstreams.add(upstream.id());
                    node.needs(random.nextInt(3) == 0 ? after(upstream) : upstream);
                }
            }
            if (random.nextInt(5) == 0) {
                node.fallbackValue("fallback of " + id);
            }
            if (random.nextInt(5) == 0) {
                node.defaultValue("default of " + id);
            }
            if (random.nextInt(6) == 0) {
                node.when(context -> false);
            }
            nodes.add(node);
        }
        Node<String> end = f.node(
                "end",
                context -> nodes.stream()
                        .map(each -> each.id() + "=" + context.state(each.id()) + context.peek(each.id()))
                        .toList()
                        .toString());
        nodes.forEach(each -> end.needs(after(each)));
        return f.returning(end);
    }

    @Test
    void a_flow_that_decides_by_chance_is_detected(Engine engine) {
        AtomicInteger evaluations = new AtomicInteger();
        FlowBuilder<String> f = FlowPlan.define("chance", String.class);
        Node<String> a = f.node("a", () -> "a").when(context -> evaluations.incrementAndGet() == 1);
        Node<String> b = f.node("b", () -> "b");
        FlowPlan<String, String> plan = f.returning(f.node("end", after(a), after(b), (x, y) -> "end"));
        try (Worker worker =
                Worker.serve(Worker.suspendedAlways(RestateFlows.service("chance", plan, TestCodec.CODEC)))) {
            engine.register(worker.port());
            engine.submit("chance", "k", new byte[0]);

            Await.until(
                    "the engine has noticed",
                    () -> engine.lastFailure("chance", "k").contains(MISMATCH));
            Await.until("its log says so", () -> engine.log().substring(logged).contains(MISMATCH));
            engine.killRun("chance", "k");
        }
    }
}
