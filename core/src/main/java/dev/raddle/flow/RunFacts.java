package dev.raddle.flow;

import dev.raddle.kernel.TimeLimit;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a run while it lasts: the states of its nodes, how far it is, its time, and what is recorded. It is
 * the scope that encloses the actions, and the source of their arguments.
 */
final class RunFacts extends RunEnvironment {

    final NodeStates states;
    final RunProgress progress;
    final @Nullable RunJournal journal; // null if nothing of this run is recorded
    final @Nullable Signals signals; // of the outermost run; null if there are no nodes that wait for signals
    final @Nullable NodeTimeouts timeouts; // null if no node has a timeout
    final @Nullable TimeLimit limit;
    final @Nullable ReentrantLock beginning; // under which nodes begin, of a run that may be abandoned while it waits
    final @Nullable RunFacts outer; // null unless this run is nested
    final int outerNode; // the node of the outer run that this run executes
    private final long origin;
    private long repeated = -1; // the time of the recorded end that is repeated; by the thread that starts the run

    RunFacts(
            Graph graph,
            @Nullable Object parameter,
            RunOptions.Values options,
            @Nullable RunFacts outer,
            int outerNode,
            @Nullable Run driver) {
        super(graph, parameter, options, outer, driver);
        this.outer = outer;
        this.outerNode = outerNode;
        boolean alone = joiner != null && !graph.hasTimeouts && !graph.hasGroups && !graph.hasNested && !graph.hasWaits;
        states = new NodeStates(graph, alone || options.isStepped(), outer == null && options.journal != null);
        progress = new RunProgress(this, states);
        long begun = time.nanoTime();
        journal = RunJournal.open(this, outer == null ? null : outer.journal, outer != null);
        origin = begun - (journal == null ? 0 : journal.elapsedNanos());
        beginning = outer == null && journal != null && graph.hasWaits ? new ReentrantLock() : null;
        signals = outer != null ? outer.signals : graph.signals.isEmpty() ? null : new Signals(this, states, journal);
        timeouts = graph.hasTimeouts ? new NodeTimeouts(this, journal) : null;
        limit = limit(options.deadline != null ? options.deadline.remaining() : options.timeout);
    }

    private @Nullable TimeLimit limit(@Nullable Duration length) {
        Duration timeout = options.timeout;
        if (journal == null || timeout == null) {
            return TimeLimit.of(time, length, enclosing());
        }
        TimeLimit left = TimeLimit.of(time, journal.remaining(timeout, time), enclosing());
        return left == null || left.enclosure() != null ? left : new TimeLimit(left.deadline(), timeout, null);
    }

    /** Returns whether this run continues the compensations of an earlier process, and runs no nodes. */
    boolean isCompensatingAgain() {
        return journal != null && journal.recovered.compensating != null;
    }

    // Time.

    /**
     * Returns the time since the start of the run. While recorded ends are repeated, it is that of the end which takes
     * effect.
     */
    long now() {
        return repeated < 0 ? time.nanoTime() - origin : repeated;
    }

    /** Sets the time of the recorded end that is repeated, or -1 if none is. */
    void repeatAt(long nanos) {
        repeated = nanos;
    }

    @Override
    public @Nullable Deadline deadline() {
        return limit == null ? null : limit.deadline();
    }

    /** Returns the nearer of the deadlines of a node and of the run, or null if there is neither. */
    @Nullable
    Deadline deadlineOf(int node) {
        Deadline ofRun = deadline();
        Deadline own = timeouts == null ? null : timeouts.deadline(node);
        boolean endsWithRun = own == null || (ofRun != null && ofRun.remaining().compareTo(own.remaining()) < 0);
        return endsWithRun ? ofRun : own;
    }

    /** Returns the nearer of the limits of a node and of the run, or null if there is neither. */
    @Nullable
    TimeLimit limitOf(int node, @Nullable Duration length) {
        Deadline until = deadlineOf(node);
        return until == null || length == null || until == deadline() ? limit : new TimeLimit(until, length, null);
    }

    // Inputs of nodes.

    /** Returns the context that the functions of a node receive. */
    NodeContext<?> contextOf(int node) {
        return new RunNodeContext(this, node, null);
    }

    /** Returns the argument that a node receives for one of its dependencies. */
    @Nullable
    Object argument(int node, int position) {
        if (graph.is(Graph.TAKES_MUSTS, node)) {
            return states.result(graph.up[graph.upStart[node] + position]);
        }
        int dependency = graph.dependencyStart[node] + position;
        int edge = graph.dependencyEdge[dependency];
        return switch (graph.dependencyKind[dependency]) {
            case MUST -> states.result(graph.up[edge]);
            case ORDER -> null;
            case OPTIONAL -> Optional.ofNullable(seen(node, graph.up[edge]));
            case AFTER -> states.outcome(graph.up[edge]);
            case ANY -> states.value(states.winner(graph.dependencyClause[dependency]));
            case AT_LEAST, ALL -> valuesOf(node, edge, graph.dependencyEdge[dependency + 1]);
        };
    }

    private @Nullable Object seen(int node, int upstream) {
        return states.isVisible(upstream, node) ? states.value(upstream) : null;
    }

    private List<@Nullable Object> valuesOf(int node, int from, int to) {
        List<@Nullable Object> values = new ArrayList<>(to - from);
        for (int edge = from; edge < to; edge++) {
            if (states.isVisible(graph.up[edge], node) && states.succeeded(graph.up[edge])) {
                values.add(states.value(graph.up[edge]));
            }
        }
        return values;
    }

    // Waits.

    /** Returns the box of the signal that a node waits for, or null if it waits for none. */
    @Nullable
    SignalBox signalBox(int node) {
        return graph.signalTypeOf(node) == null
                ? null
                : Objects.requireNonNull(signals).box(path(node));
    }

    /** Returns the journal of the outermost run, in which the waits of all runs are recorded, or null. */
    @Nullable
    RunJournal outermostJournal() {
        return outer == null ? journal : outer.outermostJournal();
    }

    /** Returns the path of the node that this run executes, with a slash; empty for the outermost run. */
    String path() {
        Deque<String> ids = new ArrayDeque<>();
        for (RunFacts inner = this; inner.outer != null; inner = inner.outer) {
            ids.push(inner.outer.graph.ids[inner.outerNode] + "/");
        }
        return String.join("", ids);
    }

    /** Returns the id of a node after those of the nodes of outer runs in which it is. */
    String path(int node) {
        return path() + graph.ids[node];
    }
}
