package dev.raddle.flow;

import dev.raddle.task.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The result of one run. Immutable.
 *
 * @param <R> the type of the value of the plan
 */
public final class FlowResult<R> {

    private static final int SHOWN_LINKS = 5; // at each end of a long chain
    private static final int MAX_CAUSE_DEPTH = 100; // causes may be cyclic

    private final NodeStates states;
    private final Graph graph;
    private final FlowStatus status;
    private final long elapsedNanos;
    private final List<CompensationFailure> compensationFailures;
    private final @Nullable Throwable stopCause;

    FlowResult(
            NodeStates states,
            FlowStatus status,
            long elapsedNanos,
            List<CompensationFailure> compensationFailures,
            @Nullable Throwable stopCause) {
        this.states = states;
        this.graph = states.graph;
        this.status = status;
        this.elapsedNanos = Math.max(0, elapsedNanos); // negative if the time source failed
        this.compensationFailures = List.copyOf(compensationFailures);
        this.stopCause = stopCause;
    }

    /**
     * Returns the status of the run.
     *
     * @return the first status that applies
     */
    public FlowStatus status() {
        return status;
    }

    /**
     * Returns the value of the run.
     *
     * @return the value of the plan's output, or the default of the output if it did not succeed; null if there is no
     *     output
     * @throws FlowFailedException if an output has no value
     */
    @SuppressWarnings({"unchecked", "NullAway"}) // the plan was built for this type
    public R value() {
        return (R) (graph.returns == Graph.Returns.ONE ? outputOf(graph.outputs[0]) : values());
    }

    private @Nullable Object values() {
        if (graph.returns == Graph.Returns.NOTHING) {
            return null;
        }
        if (graph.returns == Graph.Returns.LIST) {
            return Arrays.stream(graph.outputs).mapToObj(this::outputOf).toList();
        }
        Map<String, @Nullable Object> values = new LinkedHashMap<>();
        for (int node : graph.outputs) {
            values.put(graph.ids[node], outputOf(node));
        }
        return values;
    }

    private @Nullable Object outputOf(int node) {
        if (states.via(node) == ValueSource.NONE) {
            throw new FlowFailedException(
                    "flow \"" + graph.name + "\" has no value, it is " + status + ": output \"" + graph.ids[node]
                            + "\" is " + explain(graph.ids[node]),
                    status,
                    states.cause(node));
        }
        return states.value(node);
    }

    /**
     * Returns why the run has no value, or failed: the cause of the exception that {@link #value()} throws; if all
     * outputs have values, the cause of a status that is worse than degraded. Failures that a default, a fallback or an
     * alternative has handled are not returned.
     *
     * @return the exception, or null if there is none
     */
    public @Nullable Throwable failure() {
        for (int output : graph.outputs) {
            if (states.via(output) == ValueSource.NONE && states.cause(output) != null) {
                return states.cause(output);
            }
        }
        return failureOfStatus();
    }

    /** Returns the cause if the status is worse than degraded, else null. */
    @Nullable
    Throwable failureOfStatus() {
        if (status == FlowStatus.SUCCESS || status == FlowStatus.DEGRADED) {
            return null;
        }
        for (int node = 0; node < graph.size && stopCause == null; node++) {
            Throwable cause = states.cause(node);
            if (cause != null && states.state(node).isFailure() && graph.sinks[node]) {
                return cause;
            }
        }
        return stopCause == null
                ? new FlowFailedException("flow \"" + graph.name + "\" is " + status, status, null)
                : stopCause;
    }

    /**
     * Returns the report of a node.
     *
     * @param id the id of the node
     * @return its report
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeReport<?> node(String id) {
        return states.report(graph.indexOf(id));
    }

    /**
     * Returns the report of a node.
     *
     * @param <T> the type of the node's value
     * @param node the node
     * @return its report
     * @throws IllegalArgumentException if it is not a node of this flow
     */
    @SuppressWarnings("unchecked") // the node's value is of its type
    public <T> NodeReport<T> node(Node<T> node) {
        return (NodeReport<T>) states.report(graph.indexOf(node));
    }

    /**
     * Returns the outcome of a node, without its default.
     *
     * @param id the id of the node
     * @return its outcome
     * @throws IllegalArgumentException if there is no such node
     */
    public Outcome<?> outcome(String id) {
        return states.outcome(graph.indexOf(id));
    }

    /**
     * Returns the outcome of a node, without its default.
     *
     * @param <T> the type of the node's value
     * @param node the node
     * @return its outcome
     * @throws IllegalArgumentException if it is not a node of this flow
     */
    @SuppressWarnings("unchecked") // the node's value is of its type
    public <T> Outcome<T> outcome(Node<T> node) {
        return (Outcome<T>) states.outcome(graph.indexOf(node));
    }

    /**
     * Returns the reports of all nodes: the timeline of the run.
     *
     * @return the reports, in the order of declaration
     */
    public List<NodeReport<?>> nodes() {
        List<NodeReport<?>> reports = new ArrayList<>(graph.size);
        for (int node = 0; node < graph.size; node++) {
            reports.add(states.report(node));
        }
        return reports;
    }

    /**
     * Returns the duration of the run.
     *
     * @return the time from its start to its end, including compensations
     */
    public Duration elapsed() {
        return Duration.ofNanos(elapsedNanos);
    }

    /**
     * Returns the compensations that have failed.
     *
     * @return the failures, in the order in which they happened
     */
    public List<CompensationFailure> compensationFailures() {
        return compensationFailures;
    }

    /**
     * Returns the nodes that determined the duration of the run: the node that ended last, the node whose end it waited
     * for, and so on. If any of these had been faster, the run would have been shorter.
     *
     * @return the ids, in the order of time; empty if no node ran
     */
    public List<String> criticalPath() {
        int last = NodeEnd.NO_NODE;
        for (int node = 0; node < graph.size; node++) {
            if (hasRun(node) && (last < 0 || states.endNanos(node) >= states.endNanos(last))) {
                last = node;
            }
        }
        List<String> path = new ArrayList<>();
        for (int node = last; node >= 0; node = latestUpstream(node, true)) {
            path.add(graph.ids[node]);
        }
        return path.reversed();
    }

    private boolean hasRun(int node) {
        return states.startNanos(node) >= 0;
    }

    /** Returns the upstream node that ended last of those that a node had to wait for, or -1. */
    private int latestUpstream(int node, boolean onlyRun) {
        int latest = NodeEnd.NO_NODE;
        for (int each = graph.dependencyStart[node]; each < graph.dependencyStart[node + 1]; each++) {
            Dependency.Kind kind = graph.dependencyKind[each];
            if (kind == Dependency.Kind.AFTER || kind.isMust()) {
                for (int edge = graph.dependencyEdge[each]; edge < graph.dependencyEdge[each + 1]; edge++) {
                    latest = laterOf(latest, graph.up[edge], onlyRun);
                }
            }
        }
        for (int clause = 0; clause < graph.clauses(); clause++) {
            int winner = graph.clauseTarget[clause] == node ? states.winner(clause) : NodeEnd.NO_NODE;
            latest = winner < 0 ? latest : laterOf(latest, winner, onlyRun);
        }
        return latest;
    }

    private int laterOf(int known, int node, boolean onlyRun) {
        boolean counts = !onlyRun || hasRun(node);
        return counts && (known < 0 || states.endNanos(node) >= states.endNanos(known)) ? node : known;
    }

    /**
     * Explains in one sentence why a node ended as it did. If another node caused this, the explanation continues with
     * that node, back to the first cause.
     *
     * @param id the id of the node
     * @return a sentence
     * @throws IllegalArgumentException if there is no such node
     */
    public String explain(String id) {
        int node = graph.indexOf(id);
        Object slot = states.slots[node];
        return slot instanceof NodeEnd end
                ? end.state() + ": " + causeChain(node, end)
                : "SUCCESS: " + success(node) + " at " + timeText(states.endNanos(node));
    }

    private String success(int node) {
        if (!graph.is(Graph.WAITS, node)) {
            return "its action returned";
        }
        return graph.signalTypeOf(node) == null ? "its sleep was over" : "its signal had arrived";
    }

    /** Returns the chain of reasons back to the first cause; the middle of a long chain is omitted. */
    private String causeChain(int node, NodeEnd first) {
        List<String> links = new ArrayList<>();
        int each = node;
        NodeEnd end = first;
        while (isDueToAnother(end) && states.slots[end.causedBy()] instanceof NodeEnd before) {
            links.add(reason(each, end));
            each = end.causedBy();
            end = before;
        }
        links.add(reason(each, end));
        int left = links.size() - 2 * SHOWN_LINKS;
        if (left > 1) {
            links.subList(SHOWN_LINKS, SHOWN_LINKS + left).clear();
            links.add(SHOWN_LINKS, "and so on through " + left + " nodes");
        }
        return String.join(": ", links);
    }

    private static boolean isDueToAnother(NodeEnd end) {
        return end.reason() == NodeEnd.Reason.UPSTREAM || end.reason() == NodeEnd.Reason.CHOICE;
    }

    private static String text(@Nullable Throwable cause) {
        String text = lineOf(cause);
        Throwable root = cause;
        for (int depth = 0; root != null && depth < MAX_CAUSE_DEPTH; depth++) {
            Throwable next = RecordedFailure.causeOf(root);
            if (next == null) {
                break;
            }
            root = next;
        }
        String rootText = lineOf(root);
        return root == cause || text.contains(rootText) ? text : text + ", caused by " + rootText;
    }

    /** Returns the text of an exception, even if its own methods throw. */
    private static String lineOf(@Nullable Throwable failure) {
        try {
            return String.valueOf((Object) String.valueOf(failure)); // a toString() may return null
        } catch (Throwable broken) {
            return failure == null ? "null" : failure.getClass().getName();
        }
    }

    private String reason(int node, NodeEnd end) {
        String cause = text(end.cause());
        return switch (end.reason()) {
            case ACTION ->
                end.via() == ValueSource.JOURNAL
                        ? "an earlier run had finished it, says the journal"
                        : end.state() == NodeState.SUCCESS
                                ? "its fallback recovered from " + cause
                                : "its action threw " + cause + " at " + timeText(end.nanos());
            case UPSTREAM -> "it must have " + quoted(end.causedBy()) + ", which is " + states.state(end.causedBy());
            case CHOICE ->
                "too few of its alternatives can succeed; " + quoted(end.causedBy()) + " is "
                        + states.state(end.causedBy());
            case UNNEEDED -> unneeded(node, end);
            case OBSOLETE -> unneeded(node, end) + ", and it was interrupted";
            case CONDITION ->
                end.state() == NodeState.SKIPPED
                        ? "its condition was false at " + timeText(end.nanos())
                        : "its condition threw " + cause + " at " + timeText(end.nanos());
            case NOT_WANTED -> "the run was for other nodes only, and none of them needs it";
            case OUT_OF_TIME -> cause;
            case RUN_ENDED -> "it had not ended at " + timeText(end.nanos()) + " when " + cause;
            case PLACING -> "no thread was available for it: " + cause;
            case UNTIMED ->
                (graph.is(Graph.WAITS, node) ? "its timeout or sleep" : "its timeout") + " could not be set: " + cause;
        };
    }

    private String unneeded(int node, NodeEnd end) {
        int decided = end.causedBy();
        int decidingUpstream = decidingUpstream(decided);
        String by = decidingUpstream < 0 ? "" : " by " + quoted(decidingUpstream);
        return quoted(decided) + " was decided" + by + " at " + timeText(end.nanos()) + " and " + quoted(node)
                + " has no other undecided consumer";
    }

    /** Returns the upstream node whose end decided a node, or -1. */
    private int decidingUpstream(int node) {
        return states.slots[node] instanceof NodeEnd end && end.causedBy() >= 0
                ? end.causedBy()
                : latestUpstream(node, false);
    }

    private String quoted(int node) {
        return "\"" + graph.ids[node] + "\"";
    }

    private static String timeText(long nanos) {
        return nanos < 0 ? "an unknown time" : "+" + nanos / 1_000_000 + " ms";
    }

    /**
     * Returns a drawing of the run for Mermaid, with the state of each node.
     *
     * @return a flowchart
     */
    public String toMermaid() {
        return Drawing.mermaid(graph.nodes(), this);
    }

    /**
     * Returns a drawing of the run for Graphviz, with the state of each node.
     *
     * @return a digraph in the DOT language
     */
    public String toDot() {
        return Drawing.dot(graph.name, graph.nodes(), this);
    }

    /**
     * Returns the run as JSON: its status, and for each node the state, the source of its value, its cause, its begin
     * and end in nanoseconds since the start, and its dependencies.
     *
     * @return a JSON object
     */
    public String toJson() {
        return Drawing.json(graph.name, graph.nodes(), this);
    }

    /**
     * Returns the timeline in the format of Chrome's trace viewer, which Perfetto reads, too.
     *
     * @return a JSON object with an array of complete events, one for each node that ran
     */
    public String toChromeTrace() {
        return Drawing.chromeTrace(graph.name, Objects.requireNonNull(nodes()));
    }

    @Override
    public String toString() {
        return "flow \"" + graph.name + "\", " + status + " after " + elapsedNanos / 1_000_000 + " ms";
    }
}
