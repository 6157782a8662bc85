package dev.raddle.console;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.PlanEdge;
import dev.raddle.flow.PlanNode;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One run of a flow. When it has ended, what is shown of it is kept, and the run with its values is not. */
final class WatchedRun {

    record Row(
            String name,
            String label,
            String state,
            long startedAt,
            @Nullable Long endedAt,
            int nodes,
            int succeeded,
            int failed,
            int running,
            int pending) {}

    record NodeRow(
            String state,
            String kind,
            @Nullable Long startedAt,
            @Nullable Long endedAt,
            @Nullable String why,
            @Nullable String error,
            @Nullable String group) {}

    private sealed interface Phase {}

    private record Live(FlowRun<?> run, FlowPlan<?, ?> plan, NodeTimes times) implements Phase {}

    private record Ended(String state, long endedAt, Map<String, NodeRow> nodes) implements Phase {}

    /** A value of each class that can be typed as text. */
    private static final List<Object> TYPED_VALUES = List.of("", 0, 0L, 0.0, false);

    final String id;
    final long startedAt;
    final List<List<String>> edges;
    private final String name;
    private final String label;
    private final List<PlanNode> plan;
    private volatile Phase phase; // changed by settle() only

    WatchedRun(String id, FlowRun<?> run, FlowPlan<?, ?> plan, NodeTimes times, long startedAt) {
        this.id = id;
        this.startedAt = startedAt;
        this.name = plan.name();
        this.label = run.label();
        this.plan = plan.nodes();
        this.edges = this.plan.stream()
                .flatMap(node -> node.upstreams().stream())
                .map(WatchedRun::edge)
                .toList();
        this.phase = new Live(run, plan, times);
    }

    private static List<String> edge(PlanEdge edge) {
        return List.of(edge.from(), edge.to(), edge.kind());
    }

    /** Replaces a run that is done by what is shown of it. */
    synchronized void settle() {
        if (phase instanceof Live live && live.run.isDone()) {
            FlowResult<?> result = resultOf(live.run);
            if (result != null) {
                phase = ended(result);
            }
        }
    }

    boolean hasEnded() {
        return phase instanceof Ended;
    }

    boolean hasFailed() {
        return phase instanceof Ended end && !end.state.equals("succeeded") && !end.state.equals("degraded");
    }

    /** Returns the run; refuses if it has ended. */
    FlowRun<?> run() {
        return live().run;
    }

    private Live live() {
        if (phase instanceof Live live) {
            return live;
        }
        throw new Refusal(409, "the run has ended");
    }

    private static @Nullable FlowResult<?> resultOf(FlowRun<?> run) {
        try {
            return run.join(); // does not wait
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return null;
        } catch (IllegalStateException joined) {
            return null; // another thread joins a run that its caller's thread executes; it is asked again later
        }
    }

    private Ended ended(FlowResult<?> result) {
        Map<String, NodeRow> rows = new LinkedHashMap<>();
        for (PlanNode node : plan) {
            NodeReport<?> report = result.node(node.id());
            Throwable cause = report.cause();
            rows.put(
                    node.id(),
                    new NodeRow(
                            wordOf(report.state()),
                            node.output() ? "output" : "node",
                            report.startNanos() < 0 ? null : startedAt + report.startNanos() / 1_000_000,
                            startedAt + report.endNanos() / 1_000_000,
                            null,
                            cause == null ? null : Failures.lineOf(cause),
                            node.group()));
        }
        String status = result.status().name();
        return new Ended(
                status.equals("SUCCESS") ? "succeeded" : word(status),
                startedAt + result.elapsed().toMillis(),
                rows);
    }

    Map<String, NodeRow> nodes() {
        if (!(phase instanceof Live now)) {
            return ((Ended) phase).nodes; // a run that has ended stays so
        }
        Map<String, NodeRow> rows = new LinkedHashMap<>();
        for (PlanNode node : plan) {
            NodeState state = now.run.state(node.id());
            NodeTimes.Times times = now.times.of(node.id());
            rows.put(
                    node.id(),
                    new NodeRow(
                            wordOf(state),
                            kindOf(now, node, state),
                            nullIfZero(times.startedAt()),
                            nullIfZero(times.endedAt()),
                            why(now, node, state),
                            times.error(),
                            node.group()));
        }
        return rows;
    }

    Row row() {
        Phase now = phase;
        Ended end = now instanceof Ended ended ? ended : null;
        Map<String, Integer> counts = new HashMap<>();
        for (PlanNode node : plan) {
            counts.merge(stateOf(now, node.id()), 1, Integer::sum);
        }
        return new Row(
                name,
                label,
                end == null ? "running" : end.state,
                startedAt,
                end == null ? null : end.endedAt,
                plan.size(),
                counts.getOrDefault("succeeded", 0),
                counts.getOrDefault("failed", 0) + counts.getOrDefault("timed-out", 0),
                counts.getOrDefault("running", 0),
                counts.getOrDefault("pending", 0) + counts.getOrDefault("waiting", 0));
    }

    private static String stateOf(Phase phase, String node) {
        return switch (phase) {
            case Live live -> wordOf(live.run.state(node));
            case Ended end -> Objects.requireNonNull(end.nodes.get(node)).state;
        };
    }

    boolean isAdmitted(View view) {
        return view.admits(name, label) && (!view.isSet("failed") || hasFailed());
    }

    private static @Nullable String why(Live now, PlanNode node, NodeState state) {
        if (state == NodeState.PENDING) {
            List<String> open = new ArrayList<>();
            for (PlanEdge edge : node.upstreams()) {
                if (!now.run.state(edge.from()).isTerminal()) {
                    open.add(edge.from());
                }
            }
            return open.isEmpty() ? null : "waits for " + String.join(", ", open);
        }
        if (state == NodeState.WAITING) {
            return node.group() != null
                    ? "waits for a permit of group \"" + node.group() + "\""
                    : "waits for its signal, for the end of its sleep, or for a permit";
        }
        return null;
    }

    private static String kindOf(Live now, PlanNode node, NodeState state) {
        boolean isSignal = state == NodeState.WAITING
                && node.group() == null
                && (accepts(now.plan, node.id(), null)
                        || TYPED_VALUES.stream().anyMatch(value -> accepts(now.plan, node.id(), value)));
        return isSignal ? "signal" : node.output() ? "output" : "node";
    }

    /** Delivers a value that was typed as text to a node. Returns whether that had an effect. */
    boolean signal(String node, @Nullable String text) {
        Live live = live();
        return live.run.signal(node, text == null ? null : typed(live.plan, node, text));
    }

    /** Returns the text as a value of the class that the node takes, or the text if it takes none that can be typed. */
    private static Object typed(FlowPlan<?, ?> plan, String node, String text) {
        List<Function<String, Object>> types =
                List.of(Integer::valueOf, Long::valueOf, Double::valueOf, Boolean::valueOf);
        for (Function<String, Object> type : types) {
            try {
                Object value = type.apply(text);
                plan.checkSignal(node, value);
                return value;
            } catch (IllegalArgumentException notOfThisType) {
                // the next one
            }
        }
        return text;
    }

    /** A plan does not say which of its nodes are signals: it refuses values. */
    private static boolean accepts(FlowPlan<?, ?> plan, String node, @Nullable Object value) {
        try {
            plan.checkSignal(node, value);
            return true;
        } catch (IllegalArgumentException refused) {
            return false;
        }
    }

    private static @Nullable Long nullIfZero(long at) {
        return at == 0 ? null : at;
    }

    private static String wordOf(NodeState state) {
        return state == NodeState.SUCCESS ? "succeeded" : word(state.name());
    }

    private static String word(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
