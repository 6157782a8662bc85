package dev.raddle.flow;

import dev.raddle.task.Outcome;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What became of one run. Immutable.
 *
 * @param <R> the type of the value that the plan returns
 */
public final class FlowResult<R> {

    private static final int SHOWN_LINKS = 5; // at each end of a long way
    private static final int DEEPEST_CAUSE = 100; // causes may go round in circles

    private final Board board;
    private final Graph graph;
    private final FlowPlan.Returns returns;
    private final FlowStatus status;
    private final long elapsedNanos;
    private final List<Throwable> compensationFailures;
    private final @Nullable Throwable stopCause;

    FlowResult(
            Board board,
            FlowPlan.Returns returns,
            FlowStatus status,
            long elapsedNanos,
            List<Throwable> compensationFailures,
            @Nullable Throwable stopCause) {
        this.board = board;
        this.graph = board.graph;
        this.returns = returns;
        this.status = status;
        this.elapsedNanos = Math.max(0, elapsedNanos); // no time source could say
        this.compensationFailures = List.copyOf(compensationFailures);
        this.stopCause = stopCause;
    }

    /**
     * Returns how the run ended.
     *
     * @return the first status that applies
     */
    public FlowStatus status() {
        return status;
    }

    /**
     * Returns what the plan returns.
     *
     * @return the value of its output, or the output's default if that did not succeed; null if it has no output
     * @throws FlowFailedException if an output has no value
     */
    @SuppressWarnings({"unchecked", "NullAway"}) // the plan was built for this type
    public R value() {
        return (R) FlowPlan.valueOf(returns, this, graph);
    }

    @Nullable
    Object outputOf(int node) {
        if (board.via(node) == Via.NONE) {
            throw new FlowFailedException(
                    "flow \"" + graph.name + "\" has no value, it is " + status + ": " + explain(graph.ids[node]),
                    status,
                    board.cause(node));
        }
        return board.value(node);
    }

    /** Returns what made the run worse than degraded, or null if it is not. */
    @Nullable
    Throwable failure() {
        if (status == FlowStatus.SUCCESS || status == FlowStatus.DEGRADED) {
            return null;
        }
        for (int node = 0; node < graph.size && stopCause == null; node++) {
            Throwable cause = board.cause(node);
            if (cause != null && board.state(node).isFailure() && graph.sinks[node]) {
                return cause;
            }
        }
        return stopCause == null
                ? new FlowFailedException("flow \"" + graph.name + "\" is " + status, status, null)
                : stopCause;
    }

    /**
     * Returns what became of a node.
     *
     * @param id which
     * @return its report
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeReport<?> node(String id) {
        return board.report(graph.indexOf(id));
    }

    /**
     * Returns what became of a node.
     *
     * @param <T> the type of its value
     * @param node which
     * @return its report
     * @throws IllegalArgumentException if it is not a node of this flow
     */
    @SuppressWarnings("unchecked") // the node's value is of its type
    public <T> NodeReport<T> node(Node<T> node) {
        return (NodeReport<T>) board.report(graph.indexOf(node));
    }

    /**
     * Returns how a node ended, without its default.
     *
     * @param id which
     * @return its outcome
     * @throws IllegalArgumentException if there is no such node
     */
    public Outcome<?> outcome(String id) {
        return board.outcome(graph.indexOf(id));
    }

    /**
     * Returns how a node ended, without its default.
     *
     * @param <T> the type of its value
     * @param node which
     * @return its outcome
     * @throws IllegalArgumentException if it is not a node of this flow
     */
    @SuppressWarnings("unchecked") // the node's value is of its type
    public <T> Outcome<T> outcome(Node<T> node) {
        return (Outcome<T>) board.outcome(graph.indexOf(node));
    }

    /**
     * Returns what became of all nodes: the timeline of the run.
     *
     * @return in the order of declaration
     */
    public List<NodeReport<?>> nodes() {
        List<NodeReport<?>> reports = new ArrayList<>(graph.size);
        for (int node = 0; node < graph.size; node++) {
            reports.add(board.report(node));
        }
        return reports;
    }

    /**
     * Returns how long the run took.
     *
     * @return from its start to its end, compensations included
     */
    public Duration elapsed() {
        return Duration.ofNanos(elapsedNanos);
    }

    /**
     * Returns what was thrown when nodes were to be undone.
     *
     * @return in the order in which it was thrown
     */
    public List<Throwable> compensationFailures() {
        return compensationFailures;
    }

    /**
     * Returns the nodes that the run's length is due to: the one that ended last, the one for whose end that waited, and so on.
     * Each of them, done faster, would have made the run shorter.
     *
     * @return ids, in the order of time; empty if nothing ran
     */
    public List<String> criticalPath() {
        int last = Settled.NOBODY;
        for (int node = 0; node < graph.size; node++) {
            if (hasRun(node) && (last < 0 || board.endNanos(node) >= board.endNanos(last))) {
                last = node;
            }
        }
        List<String> path = new ArrayList<>();
        for (int node = last; node >= 0; node = waitedFor(node, true)) {
            path.add(graph.ids[node]);
        }
        return path.reversed();
    }

    private boolean hasRun(int node) {
        return board.startNanos(node) >= 0;
    }

    /** Returns the upstream node that ended last of those without which a node could not begin, or -1. */
    private int waitedFor(int node, boolean onlyRun) {
        int latest = Settled.NOBODY;
        for (int each = graph.dependencyStart[node]; each < graph.dependencyStart[node + 1]; each++) {
            Dependency.Kind kind = graph.dependencyKind[each];
            if (kind == Dependency.Kind.AFTER || FlowPlan.isMust(kind)) {
                for (int edge = graph.dependencyEdge[each]; edge < graph.dependencyEdge[each + 1]; edge++) {
                    latest = later(latest, graph.up[edge], onlyRun);
                }
            }
        }
        for (int clause = 0; clause < graph.clauses(); clause++) {
            int winner = graph.clauseTarget[clause] == node ? board.winner(clause) : Settled.NOBODY;
            latest = winner < 0 ? latest : later(latest, winner, onlyRun);
        }
        return latest;
    }

    private int later(int known, int node, boolean onlyRun) {
        boolean counts = !onlyRun || hasRun(node);
        return counts && (known < 0 || board.endNanos(node) >= board.endNanos(known)) ? node : known;
    }

    /**
     * Says in one sentence why a node ended as it did. If that is due to another node, it goes on with why that one did, down to
     * the node that it began with.
     *
     * @param id which
     * @return for people
     * @throws IllegalArgumentException if there is no such node
     */
    public String explain(String id) {
        int node = graph.indexOf(id);
        Object slot = board.slots[node];
        return slot instanceof Settled settled
                ? settled.state() + ": " + because(node, settled)
                : "SUCCESS: its action returned at " + moment(board.endNanos(node));
    }

    /** Goes back to the node that the end began with; of a long way the middle is left out. */
    private String because(int node, Settled settled) {
        List<String> links = new ArrayList<>();
        int each = node;
        Settled end = settled;
        while (isDueToAnother(end) && board.slots[end.from()] instanceof Settled before) {
            links.add(reason(each, end));
            each = end.from();
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

    private static boolean isDueToAnother(Settled end) {
        return end.reason() == Settled.Reason.UPSTREAM || end.reason() == Settled.Reason.CHOICE;
    }

    private static String text(@Nullable Throwable cause) {
        String text = lineOf(cause);
        Throwable root = cause;
        for (int depth = 0; root != null && root.getCause() != null && depth < DEEPEST_CAUSE; depth++) {
            root = root.getCause();
        }
        String rootText = lineOf(root);
        return root == cause || text.contains(rootText) ? text : text + ", caused by " + rootText;
    }

    /** Returns what an exception says, whatever its own code does. */
    private static String lineOf(@Nullable Throwable failure) {
        try {
            return String.valueOf(failure);
        } catch (Throwable broken) {
            return failure == null ? "null" : failure.getClass().getName();
        }
    }

    private String reason(int node, Settled settled) {
        String cause = text(settled.cause());
        return switch (settled.reason()) {
            case ACTION ->
                settled.state() == NodeState.SUCCESS
                        ? "its fallback recovered from " + cause
                        : "its action threw " + cause + " at " + moment(settled.nanos());
            case UPSTREAM -> "it must have " + quoted(settled.from()) + ", which is " + board.state(settled.from());
            case CHOICE ->
                "too few of those among which it could choose can succeed; " + quoted(settled.from()) + " is "
                        + board.state(settled.from());
            case UNNEEDED -> unneeded(node, settled);
            case OBSOLETE -> unneeded(node, settled) + ", and it was interrupted";
            case CONDITION ->
                settled.state() == NodeState.SKIPPED
                        ? "its condition was false at " + moment(settled.nanos())
                        : "its condition threw " + cause + " at " + moment(settled.nanos());
            case NOT_WANTED -> "the run was for other nodes only, and none of them needs it";
            case OUT_OF_TIME -> cause;
            case RUN_ENDED -> "it had not ended at " + moment(settled.nanos()) + " when " + cause;
            case PLACING -> "no thread could be had for it: " + cause;
            case UNTIMED -> "its timeout could not be watched: " + cause;
            case RESTORED -> "an earlier run had finished it, says the journal";
        };
    }

    private String unneeded(int node, Settled settled) {
        int decided = settled.from();
        int decider = decider(decided);
        String by = decider < 0 ? "" : " by " + quoted(decider);
        return quoted(decided) + " was decided" + by + " at " + moment(settled.nanos()) + " and " + quoted(node)
                + " has no other undecided consumer";
    }

    /** Returns the upstream node whose end decided a node, if one did. */
    private int decider(int node) {
        if (board.slots[node] instanceof Settled settled) {
            if (settled.from() >= 0 || settled.reason() == Settled.Reason.RESTORED) {
                return settled.from();
            }
        }
        return waitedFor(node, false);
    }

    private String quoted(int node) {
        return "\"" + graph.ids[node] + "\"";
    }

    private static String moment(long nanos) {
        return nanos < 0 ? "a moment that was not noted" : "+" + nanos / 1_000_000 + " ms";
    }

    /**
     * Draws the run for Mermaid, each node with its state.
     *
     * @return a flowchart
     */
    public String toMermaid() {
        return Drawing.mermaid(plan(), this);
    }

    /**
     * Draws the run for Graphviz, each node with its state.
     *
     * @return a digraph in the DOT language
     */
    public String toDot() {
        return Drawing.dot(graph.name, plan(), this);
    }

    private List<PlanNode> plan() {
        return new FlowPlan<Object, Object>(graph, returns).nodes();
    }

    /**
     * Writes the run as JSON: its status, and of each node the state, where its value comes from, what it failed with, when it
     * began and ended in nanoseconds since the start, and what it depends on.
     *
     * @return one object
     */
    public String toJson() {
        return Drawing.json(graph.name, plan(), this);
    }

    /**
     * Writes the timeline in the format of Chrome's trace viewer, which Perfetto reads, too.
     *
     * @return one object with an array of complete events, one for each node that ran
     */
    public String toChromeTrace() {
        return Drawing.chromeTrace(graph.name, Objects.requireNonNull(nodes()));
    }

    @Override
    public String toString() {
        return "flow \"" + graph.name + "\", " + status + " after " + elapsedNanos / 1_000_000 + " ms";
    }
}
