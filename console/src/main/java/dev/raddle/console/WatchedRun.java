package dev.raddle.console;

import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.FlowRun;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.PlanEdge;
import dev.raddle.flow.PlanNode;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** One run of a flow. When it has ended, what is shown of it is kept, and the run with its values is not. */
final class WatchedRun implements RunView {

    private sealed interface Phase {}

    private record Live(FlowRun<?> run, FlowPlan<?, ?> plan, NodeTimes times) implements Phase {
        NodeRow row(PlanNode node) {
            NodeState state = run.state(node.id());
            boolean takesSignal = state == NodeState.WAITING && node.group() == null && takesSignals(plan, node.id());
            NodeTimes.Times known = times.of(node.id());
            String why = switch (state) {
                case PENDING -> openUpstreams(node);
                case WAITING -> takesSignal ? "waits for its signal" : sleepOrPermit(node);
                default -> null;
            };
            return rowOf(node, state, why, takesSignal, known.error(), known.startedAt(), known.endedAt());
        }

        private String sleepOrPermit(PlanNode node) {
            return node.group() != null
                    ? "waits for a permit of group \"" + node.group() + "\""
                    : run.sleepLeft(node.id())
                            .map(left -> "sleeps until "
                                    + Instant.now().plus(left).plusMillis(500).truncatedTo(ChronoUnit.SECONDS))
                            .orElse("waits for a permit");
        }

        private @Nullable String openUpstreams(PlanNode node) {
            String open = node.upstreams().stream()
                    .map(PlanEdge::from)
                    .filter(upstream -> !run.state(upstream).isTerminal())
                    .collect(Collectors.joining(", "));
            return open.isEmpty() ? null : "waits for " + open;
        }
    }

    private record Ended(String state, Instant startedAt, Instant endedAt, Map<String, NodeRow> nodes)
            implements Phase {}

    /** A value of each class that can be typed as text. */
    private static final List<Object> TYPED_VALUES = List.of("", 0, 0L, 0.0, false);

    private final Instant startedAt;
    private final List<PlanEdge> edges;
    private final String name;
    private final String label;
    private final List<PlanNode> plan;
    private volatile Phase phase; // changed by settle() only

    WatchedRun(FlowRun<?> run, FlowPlan<?, ?> plan, NodeTimes times, Instant startedAt) {
        this.startedAt = startedAt;
        this.name = plan.name();
        this.label = run.label();
        this.plan = plan.nodes();
        this.edges =
                this.plan.stream().flatMap(node -> node.upstreams().stream()).toList();
        this.phase = new Live(run, plan, times);
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
        Instant latest = Instant.now().minus(result.elapsed());
        Instant begin = latest.isBefore(startedAt) ? latest : startedAt; // it may have been watched later
        Map<String, NodeRow> nodes = new LinkedHashMap<>();
        for (PlanNode node : plan) {
            NodeReport<?> report = result.node(node.id());
            String error = report.cause() == null ? null : Failures.lineOf(report.cause());
            Instant start = report.startNanos() < 0 ? null : begin.plusNanos(report.startNanos());
            Instant end = begin.plusNanos(report.endNanos());
            nodes.put(node.id(), rowOf(node, report.state(), null, false, error, start, end));
        }
        String status = result.status().name();
        return new Ended(
                status.equals("SUCCESS") ? "succeeded" : word(status), begin, begin.plus(result.elapsed()), nodes);
    }

    private static NodeRow rowOf(
            PlanNode node,
            NodeState state,
            @Nullable String why,
            boolean takesSignal,
            @Nullable String error,
            @Nullable Instant start,
            @Nullable Instant end) {
        return new NodeRow(wordOf(state), node.group(), why, takesSignal, error, null, start, end, Map.of(), null);
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public String label() {
        return label;
    }

    @Override
    public String state() {
        return phase instanceof Ended end ? end.state : "running";
    }

    @Override
    public Instant startedAt() {
        return phase instanceof Ended end ? end.startedAt : startedAt;
    }

    @Override
    public @Nullable Instant endedAt() {
        return phase instanceof Ended end ? end.endedAt : null;
    }

    @Override
    public Map<String, ? extends Node> nodes() {
        return switch (phase) {
            case Ended end -> end.nodes;
            case Live live -> {
                Map<String, NodeRow> nodes = new LinkedHashMap<>();
                plan.forEach(node -> nodes.put(node.id(), live.row(node)));
                yield nodes;
            }
        };
    }

    @Override
    public List<PlanEdge> edges() {
        return edges;
    }

    /** Delivers a value that was typed as text to a node. Returns whether that had an effect. */
    boolean signal(String node, @Nullable String text) {
        Live live = live();
        return live.run.signal(node, text == null ? null : typed(live.plan, node, text));
    }

    /** Returns the text as a value of the class that the node takes, or the text if it takes none that can be typed. */
    static Object typed(FlowPlan<?, ?> plan, String node, String text) {
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

    static boolean takesSignals(FlowPlan<?, ?> plan, String node) {
        return accepts(plan, node, null) || TYPED_VALUES.stream().anyMatch(value -> accepts(plan, node, value));
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

    static String wordOf(NodeState state) {
        return state == NodeState.SUCCESS ? "succeeded" : word(state.name());
    }

    static String word(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
