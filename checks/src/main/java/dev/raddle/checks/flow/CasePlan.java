package dev.raddle.checks.flow;

import dev.raddle.checks.flow.CaseNode.Join;
import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowNotation;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.InvalidFlowException;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeContext;
import dev.raddle.flow.NodeReport;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.ValueSource;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * A case as a plan, built through the public API. One plan serves all repetitions, so state that a run leaves in it
 * shows in the next run.
 */
final class CasePlan {

    private static final TaskContext.Key<RunProbe> RUN = TaskContext.Key.named("run");
    private static final TaskContext.Key<String> VALUE = TaskContext.Key.named("value");

    final FlowPlan<RunProbe, ?> plan;
    private final Set<CaseRun> running = ConcurrentHashMap.newKeySet();

    /**
     * Builds the plan.
     *
     * @param handles whether edges name nodes by their handles where these exist already, instead of by id
     * @throws IllegalArgumentException if the engine refuses the plan
     */
    CasePlan(FlowCase flowCase, boolean handles) {
        FlowBuilder<RunProbe> builder = FlowPlan.define(flowCase.id(), RunProbe.class);
        Map<String, Node<Object>> byId = new HashMap<>();
        Map<String, List<CaseEdge>> into = new HashMap<>();
        flowCase.edges()
                .forEach(edge ->
                        into.computeIfAbsent(edge.to(), to -> new ArrayList<>()).add(edge));
        for (CaseNode each : flowCase.nodes()) {
            Action action = new Action(each);
            Node<Object> node = builder.node(each.id(), (NodeContext<RunProbe> context) -> action.call(context));
            List<CaseEdge> edges = into.getOrDefault(each.id(), List.of());
            // Of two nodes with the same name, the first gets the edges.
            if (byId.putIfAbsent(each.id(), node) == null) {
                needs(each, edges, handles ? byId : Map.of()).forEach(node::needs);
            }
            options(node, each);
        }
        List<String> refusals = edgesToUnknownNodes(flowCase, builder, byId);
        plan = compile(flowCase, builder, byId, refusals);
    }

    /**
     * Declares each edge to an unknown node, which only the arrow notation can express; returns why these were
     * refused.
     */
    private static List<String> edgesToUnknownNodes(
            FlowCase flowCase, FlowBuilder<RunProbe> builder, Map<String, Node<Object>> byId) {
        List<String> refusals = new ArrayList<>();
        for (CaseEdge edge : flowCase.edges()) {
            if (!byId.containsKey(edge.to())) {
                try {
                    FlowNotation.wire(builder, edge.from() + "-->" + edge.to());
                } catch (IllegalArgumentException refusal) {
                    refusals.add(refusal.getMessage());
                }
            }
        }
        return refusals;
    }

    private static FlowPlan<RunProbe, ?> compile(
            FlowCase flowCase, FlowBuilder<RunProbe> builder, Map<String, Node<Object>> byId, List<String> refusals) {
        FlowPlan<RunProbe, ?> compiled = null;
        try {
            compiled = compile(flowCase, builder, byId);
        } catch (InvalidFlowException refusal) {
            refusals.add(refusal.getMessage());
        }
        if (compiled == null || !refusals.isEmpty()) {
            throw new IllegalArgumentException(String.join("; ", refusals));
        }
        return compiled;
    }

    private static FlowPlan<RunProbe, ?> compile(
            FlowCase flowCase, FlowBuilder<RunProbe> builder, Map<String, Node<Object>> byId) {
        if (flowCase.outputs().isEmpty()) {
            return builder.build();
        }
        if (flowCase.outputs().size() == 1
                && byId.containsKey(flowCase.outputs().getFirst())) {
            return builder.returning(byId.get(flowCase.outputs().getFirst()));
        }
        List<Node<?>> outputs = new ArrayList<>();
        for (String id : flowCase.outputs()) {
            // An output that is not a node of this flow can only be a node of another flow.
            outputs.add(byId.containsKey(id) ? byId.get(id) : nodeOfAnotherFlow(id));
        }
        return builder.returning(outputs);
    }

    private static Node<Object> nodeOfAnotherFlow(String id) {
        return FlowPlan.define("another flow").node(id, () -> id);
    }

    private static List<Dependency<?>> needs(CaseNode node, List<CaseEdge> edges, Map<String, Node<Object>> handles) {
        List<Dependency<?>> needs = new ArrayList<>();
        List<String> choices = new ArrayList<>();
        int place = 0;
        for (CaseEdge edge : edges) {
            Node<Object> handle = edge.from().equals(node.id()) ? null : handles.get(edge.from());
            if (edge.kind().equals("must") && node.join().atLeast() != Join.ALL) {
                if (choices.isEmpty()) {
                    place = needs.size();
                }
                choices.add(edge.from());
            } else {
                needs.add(handle == null ? need(edge) : need(edge.kind(), handle));
            }
        }
        if (!choices.isEmpty()) {
            needs.add(place, choice(node.join().atLeast(), choices, handles));
        }
        return needs;
    }

    private static Dependency<?> need(CaseEdge edge) {
        return switch (edge.kind()) {
            case "optional" -> Dependency.optional(edge.from());
            case "after" -> Dependency.after(edge.from());
            case "order" -> Dependency.order(edge.from());
            default -> Dependency.must(edge.from());
        };
    }

    private static Dependency<?> need(String kind, Node<Object> from) {
        return switch (kind) {
            case "optional" -> Dependency.optional(from);
            case "after" -> Dependency.after(from);
            case "order" -> Dependency.order(from);
            default -> from;
        };
    }

    private static Dependency<?> choice(int atLeast, List<String> ids, Map<String, Node<Object>> handles) {
        List<Node<Object>> nodes =
                ids.stream().map(handles::get).filter(Objects::nonNull).toList();
        if (nodes.size() == ids.size()) {
            return atLeast == 1 ? Dependency.anyOf(nodes) : Dependency.atLeast(atLeast, nodes);
        }
        String[] names = ids.toArray(String[]::new);
        return atLeast == 1 ? Dependency.anyOf(names) : Dependency.atLeast(atLeast, names);
    }

    private void options(Node<Object> node, CaseNode each) {
        if (each.timeoutMs() != 0) {
            node.timeout(Duration.ofMillis(each.timeoutMs()));
        }
        if (!each.interruptible()) {
            node.noInterrupt();
        }
        if (each.retries() > 0) {
            node.retry(RetryPolicy.attempts(1 + each.retries()));
        }
        if (each.fallback() != null) {
            if (each.fallback().failure() == null) {
                node.fallbackValue(each.fallback().value());
            } else {
                node.fallback(failure -> each.fallback().get());
            }
        }
        if (each.defaultValue() != null) {
            if (each.defaultValue().failure() == null) {
                node.defaultValue(each.defaultValue().value());
            } else {
                node.defaultFrom(() -> each.defaultValue().get());
            }
        }
        if (each.condition() != null) {
            node.when(context -> holds(each.condition(), context));
        }
        if (each.essential()) {
            node.essential();
        }
        node.onBegin(context -> begin(each, context));
        node.onResult(report -> result(each, report));
    }

    /** Evaluates a condition: true, false, a failure, or the parameter of the runs in which it is true. */
    private static boolean holds(CaseNode.ValueOrFailure condition, NodeContext<?> context) {
        Object value = condition.get();
        if (value instanceof Boolean || "true".equals(value) || "false".equals(value)) {
            return Boolean.parseBoolean(value.toString());
        }
        return String.valueOf(value).equals(String.valueOf(((RunProbe) context.param()).parameter));
    }

    private static void begin(CaseNode node, NodeContext<?> context) {
        RunProbe run = (RunProbe) context.param();
        run.begin(node.id(), context::state);
        checkContext(run, "the begin callback of \"" + node.id() + "\"");
        fail(node.onBegin());
    }

    private void result(CaseNode node, NodeReport<Object> report) {
        RunProbe bound = TaskContext.current().get(RUN);
        CaseRun run = null;
        for (CaseRun each : running) {
            if (each.probe == bound || (bound == null && run == null)) {
                run = each;
            }
        }
        if (run == null) {
            if (bound != null) {
                bound.report(report, null);
            }
            return;
        }
        if (bound == null) {
            run.probe.monitor.complain(
                    "the context of the caller is not in force in the result callback of \"" + node.id() + "\"");
        }
        run.probe.report(report, run.states());
        fail(node.onResult());
    }

    private static void fail(List<Step> steps) {
        for (Step step : steps) {
            switch (step.word()) {
                case "fail" -> throw new IllegalStateException(step.text(0));
                case "error" -> throw new AssertionError(step.text(0));
                default -> throw new CaseFormatException("a callback can only fail, was \"" + step.word() + "\"");
            }
        }
    }

    void add(CaseRun run) {
        running.add(run);
    }

    void remove(CaseRun run) {
        running.remove(run);
    }

    static TaskContext context(RunProbe run, String value) {
        return TaskContext.current().with(RUN, run).with(VALUE, value);
    }

    static String callersContext() {
        return TaskContext.current().get(VALUE);
    }

    static void checkContext(RunProbe run, String where) {
        if (TaskContext.current().get(RUN) != run) {
            run.monitor.complain("the context of the caller is not in force in " + where);
        }
    }

    static boolean isTerminal(NodeState state) {
        return switch (state) {
            case PENDING, WAITING, RUNNING -> false;
            case SUCCESS, FAILED, TIMED_OUT, CANCELLED, SKIPPED -> true;
        };
    }

    /** Returns the name of a state in the file format. */
    static String word(NodeState state) {
        return switch (state) {
            case FAILED -> "EXCEPTION";
            case TIMED_OUT -> "TIMEOUT";
            default -> state.name();
        };
    }

    static String word(ValueSource via) {
        return via.name();
    }
}
