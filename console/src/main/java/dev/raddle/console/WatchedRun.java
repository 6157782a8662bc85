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
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** One run of a flow. When it has ended, what is shown of it is kept, and the run with its values is not. */
final class WatchedRun implements RunView {

    /** A node that has ended. */
    private record EndedNode(
            String state,
            @Nullable String group,
            @Nullable String error,
            @Nullable Instant startedAt,
            @Nullable Instant endedAt)
            implements Node {}

    private sealed interface Phase {}

    private record Live(FlowRun<?> run, FlowPlan<?, ?> plan, NodeTimes times) implements Phase {}

    private record Ended(String state, Instant startedAt, Instant endedAt, Map<String, EndedNode> nodes)
            implements Phase {}

    /** A node of a run that has not ended; each answer is of its own moment. */
    private record LiveNode(Live live, PlanNode node) implements Node {
        @Override
        public String state() {
            return wordOf(now());
        }

        private NodeState now() {
            return live.run.state(node.id());
        }

        @Override
        public @Nullable String group() {
            return node.group();
        }

        @Override
        public @Nullable String why() {
            return switch (now()) {
                case PENDING -> openUpstreams();
                case WAITING ->
                    node.group() != null
                            ? "waits for a permit of group \"" + node.group() + "\""
                            : takesSignals(live.plan, node.id()) ? "waits for its signal" : sleepOrPermit();
                default -> null;
            };
        }

        private String sleepOrPermit() {
            return live.run
                    .sleepLeft(node.id())
                    .map(left -> "sleeps until "
                            + Instant.now().plus(left).plusMillis(500).truncatedTo(ChronoUnit.SECONDS))
                    .orElse("waits for a permit");
        }

        private @Nullable String openUpstreams() {
            List<String> open = new ArrayList<>();
            for (PlanEdge edge : node.upstreams()) {
                if (!live.run.state(edge.from()).isTerminal()) {
                    open.add(edge.from());
                }
            }
            return open.isEmpty() ? null : "waits for " + String.join(", ", open);
        }

        @Override
        public boolean takesSignal() {
            return now() == NodeState.WAITING && node.group() == null && takesSignals(live.plan, node.id());
        }

        @Override
        public @Nullable String error() {
            return live.times.of(node.id()).error();
        }

        @Override
        public @Nullable Instant startedAt() {
            return momentOf(live.times.of(node.id()).startedAt());
        }

        @Override
        public @Nullable Instant endedAt() {
            return momentOf(live.times.of(node.id()).endedAt());
        }
    }

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
        Map<String, EndedNode> nodes = new LinkedHashMap<>();
        for (PlanNode node : plan) {
            NodeReport<?> report = result.node(node.id());
            Throwable cause = report.cause();
            nodes.put(
                    node.id(),
                    new EndedNode(
                            wordOf(report.state()),
                            node.group(),
                            cause == null ? null : Failures.lineOf(cause),
                            report.startNanos() < 0 ? null : begin.plusNanos(report.startNanos()),
                            begin.plusNanos(report.endNanos())));
        }
        String status = result.status().name();
        return new Ended(
                status.equals("SUCCESS") ? "succeeded" : word(status), begin, begin.plus(result.elapsed()), nodes);
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
                Map<String, LiveNode> nodes = new LinkedHashMap<>();
                plan.forEach(node -> nodes.put(node.id(), new LiveNode(live, node)));
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

    private static @Nullable Instant momentOf(long at) {
        return at == 0 ? null : Instant.ofEpochMilli(at);
    }

    static String wordOf(NodeState state) {
        return state == NodeState.SUCCESS ? "succeeded" : word(state.name());
    }

    static String word(String constant) {
        return constant.toLowerCase(Locale.ROOT).replace('_', '-');
    }
}
