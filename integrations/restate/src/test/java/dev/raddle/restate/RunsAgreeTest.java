package dev.raddle.restate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.FlowStatus;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.NodeState;
import dev.raddle.processes.RestateServer.Answer;
import dev.raddle.task.RetryPolicy;
import dev.restate.sdk.endpoint.definition.ServiceDefinition;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;

/**
 * Random runs with every kind of node, which the engine suspends at each wait and so replays before each step, against
 * the same runs in this JVM, which nothing interrupts.
 *
 * <p>The plans are those in which nothing depends on who is faster: nodes of different lengths are not compared, no run
 * is stopped by its first failure, a signal is sent before the run or never, and only such a node times out. What time
 * decides is in the core's test of continued runs, under virtual time.
 */
@RestateTest
class RunsAgreeTest {
    private static final int PLANS = Integer.getInteger("raddle.restate.plans", 15);
    private static final Long SEED = Long.getLong("raddle.restate.seed");

    /** A plan, and the nodes that are signalled. */
    private final class RandomPlan {
        private final Random random;
        private final int size;
        private final List<String> signals = new ArrayList<>();
        private final Map<String, Integer> calls = new ConcurrentHashMap<>();
        private final ConcurrentLinkedQueue<String> undone = new ConcurrentLinkedQueue<>();
        private final FlowPlan<String, String> plan;

        RandomPlan(long seed) {
            random = new Random(seed);
            size = 2 + random.nextInt(8);
            FlowBuilder<String> f = FlowPlan.define("random", String.class);
            List<Node<?>> nodes = new ArrayList<>();
            for (int number = 0; number < size; number++) {
                nodes.add(node(f, "n" + number, nodes));
            }
            Node<String> end = f.node("end", this::seen);
            nodes.forEach(each -> end.needs(Dependency.after(each)));
            boolean isUndone = random.nextBoolean();
            plan = isUndone
                    ? f.returning(f.<String, String>node("refused", end, value -> {
                        throw new IllegalStateException(value);
                    }))
                    : f.returning(end);
        }

        private Node<?> node(FlowBuilder<String> f, String id, List<Node<?>> before) {
            Node<?> node = bare(f, id);
            List<String> upstreams = new ArrayList<>();
            for (Node<?> upstream : before) {
                if (random.nextInt(3) == 0) {
                    upstreams.add(upstream.id());
                }
            }
            boolean isNeeded = upstreams.isEmpty() || random.nextInt(3) > 0;
            for (String upstream : upstreams) {
                node.needs(isNeeded && random.nextBoolean() ? Dependency.must(upstream) : Dependency.after(upstream));
            }
            if (random.nextInt(3) == 0) {
                node.compensateWith((c, value) -> {
                    count("undo " + id);
                    undone.add(id + "=" + value);
                });
            }
            int asked = random.nextInt(12);
            if (asked < 3) {
                node.when(c -> {
                    boolean odd = false;
                    for (String upstream : upstreams) {
                        odd ^= c.state(upstream) != NodeState.SUCCESS;
                    }
                    return asked % 2 == 0 ^ odd;
                });
            }
            return node;
        }

        private Node<?> bare(FlowBuilder<String> f, String id) {
            switch (random.nextInt(9)) {
                case 0 -> {
                    return f.sleep(id, Duration.ofMillis(1 + random.nextInt(60)));
                }
                case 1, 2 -> {
                    Node<String> signal = f.signal(id, String.class);
                    if (random.nextBoolean()) {
                        signals.add(id);
                    } else {
                        signal.timeout(Duration.ofMillis(1 + random.nextInt(60)));
                    }
                    return signal;
                }
                case 3 -> {
                    FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
                    Node<String> x = inner.node("x", c -> act(id + "/x", 0));
                    Node<Void> pause =
                            inner.sleep("pause", Duration.ofMillis(5)).needs(x);
                    Node<String> y = inner.node("y", x, value -> value + "y").needs(Dependency.after(pause));
                    return f.subflow(id, inner.returning(y), f.node(id + "in", () -> act(id + "in", 0)));
                }
                case 4 -> {
                    int failing = random.nextInt(6);
                    return f.map(id, f.node(id + "in", () -> List.of("e0", "e1", "e2")), element -> {
                        if (element.equals("e" + failing)) {
                            throw new IOException("no element " + element);
                        }
                        if (failing > 2) { // otherwise some elements may not begin
                            count(id + element);
                        }
                        return element + "!";
                    });
                }
                default -> {
                    int failures = random.nextInt(2) == 0 ? 1 + random.nextInt(3) : 0;
                    Node<String> node = f.node(id, c -> act(id, failures) + seen(c));
                    if (random.nextInt(3) == 0) {
                        node.retry(RetryPolicy.fixedDelay(1 + random.nextInt(3), Duration.ofMillis(5)));
                    }
                    if (random.nextInt(4) == 0) {
                        node.fallback(failure -> "fallback after " + failure.getMessage());
                    }
                    if (random.nextInt(4) == 0) {
                        node.defaultValue("default");
                    }
                    return node;
                }
            }
        }

        private int count(String call) {
            return calls.merge(call, 1, Integer::sum);
        }

        private String act(String id, int failures) throws IOException {
            if (count(id) <= failures) {
                throw new IOException(id + " fails " + failures + " times");
            }
            return id;
        }

        /** Returns which upstream nodes have succeeded, and their values. Why others have not may depend on time. */
        private String seen(NodeContext<?> c) {
            StringBuilder seen = new StringBuilder();
            for (int each = 0; each < size; each++) {
                String id = "n" + each;
                try {
                    seen.append(' ')
                            .append(c.state(id) == NodeState.SUCCESS ? "ended" : "not")
                            .append(c.peek(id));
                } catch (IllegalArgumentException notUpstream) {
                    seen.append(" -");
                }
            }
            return seen.toString();
        }

        private String outcome(String value) {
            return value + "\n" + new TreeMap<>(calls) + "\n"
                    + undone.stream().sorted().toList();
        }
    }

    private static String runInThisJvm(RandomPlan random) throws InterruptedException {
        try (FlowRun<String> run = random.plan.start("p")) {
            random.signals.forEach(node -> run.signal(node, "signal"));
            FlowResult<String> result = run.join();
            return random.outcome(
                    result.status() == FlowStatus.FAILED
                            ? String.valueOf(result.failure().getMessage())
                            : result.value());
        }
    }

    private static String runOnTheEngine(RandomPlan random, Engine engine, String service) {
        ServiceDefinition definition =
                Worker.suspendedAlways(RestateFlows.service(service, random.plan, TestCodec.CODEC));
        try (Worker worker = Worker.serve(definition)) {
            engine.register(worker.port());
            for (String node : random.signals) {
                engine.call(service, "k", "signal", TestCodec.bytes("signal"), Map.of(RestateFlows.NODE_HEADER, node))
                        .value();
            }
            Answer answer = engine.run(service, "k", TestCodec.bytes("p"));
            return random.outcome(answer.status() == 200 ? (String) TestCodec.value(answer.value()) : answer.text());
        }
    }

    @Test
    void random_runs_on_the_engine_end_as_in_one_JVM(Engine engine) throws Exception {
        int logged = engine.log().length();
        long begin = SEED == null ? 0 : SEED;
        long end = SEED == null ? PLANS : SEED + 1;
        for (long seed = begin; seed < end; seed++) {
            String expected = runInThisJvm(new RandomPlan(seed));

            String found = runOnTheEngine(new RandomPlan(seed), engine, "agree" + seed);

            String[] lines = expected.split("\n", 2);
            assertThat(found).as("seed " + seed).contains(lines[0]).endsWith(lines[1]);
        }
        assertThat(engine.log().substring(logged)).doesNotContain("mismatch between the code paths");
    }
}
