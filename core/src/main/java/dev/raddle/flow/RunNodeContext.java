package dev.raddle.flow;

import dev.raddle.task.Outcome;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The context of one node of one run.
 *
 * @param undoTime the remaining time of the compensation that receives this context; null for other functions
 */
record RunNodeContext(RunFacts run, int node, @Nullable Supplier<Duration> undoTime) implements NodeContext<Object> {

    static final Duration FOREVER = Duration.ofNanos(Long.MAX_VALUE);

    @Override
    @SuppressWarnings("NullAway") // null if the run was started with null
    public Object param() {
        return run.parameter;
    }

    @Override
    public String id() {
        return run.graph.ids[node];
    }

    @Override
    public boolean isCancelled() {
        if (undoTime != null) {
            return run.isLost() || !undoTime.get().isPositive();
        }
        NodeState state = run.states.state(node);
        return state.isTerminal() && state != NodeState.SUCCESS;
    }

    @Override
    public Duration remaining() {
        return undoTime == null ? remainingOf() : undoTime.get();
    }

    private Duration remainingOf() {
        Deadline until = run.deadlineOf(node);
        return until == null ? FOREVER : until.remaining();
    }

    private int upstream(int index) {
        Graph graph = run.graph;
        if (!graph.isUpstream(index, node)) {
            throw new IllegalArgumentException("node \"" + id() + "\" may not read \"" + graph.ids[index]
                    + "\", which is not upstream of it; make it a dependency");
        }
        return index;
    }

    @Override
    @SuppressWarnings("unchecked") // the node's value is of its type
    public <T> T read(Node<T> upstream) {
        return (T) read(upstream(run.graph.indexOf(upstream)));
    }

    @Override
    public Object read(String id) {
        return read(upstream(run.graph.indexOf(id)));
    }

    @SuppressWarnings("NullAway") // null is a value
    private Object read(int index) {
        if (!run.states.isVisible(index, node) || run.states.via(index) == ValueSource.NONE) {
            throw new IllegalStateException("node \"" + run.graph.ids[index] + "\" has no value, it is " + state(index)
                    + "; use peek, or give it a default");
        }
        return run.states.value(index);
    }

    @Override
    @SuppressWarnings("unchecked") // the node's value is of its type
    public <T> Optional<T> peek(Node<T> upstream) {
        return (Optional<T>) peek(upstream(run.graph.indexOf(upstream)));
    }

    @Override
    public Optional<Object> peek(String id) {
        return peek(upstream(run.graph.indexOf(id)));
    }

    private Optional<Object> peek(int index) {
        return run.states.isVisible(index, node) ? Optional.ofNullable(run.states.value(index)) : Optional.empty();
    }

    @Override
    public NodeState state(String id) {
        return state(upstream(run.graph.indexOf(id)));
    }

    private NodeState state(int index) {
        return run.states.isVisible(index, node) ? run.states.state(index) : NodeState.PENDING;
    }

    @Override
    public Outcome<?> outcome(String id) {
        return run.states.outcome(upstream(run.graph.indexOf(id)));
    }

    @Override
    public String winnerOf(Dependency<?> any) {
        Graph graph = run.graph;
        for (int dependency = graph.dependencyStart[node]; dependency < graph.dependencyStart[node + 1]; dependency++) {
            int winner = graph.dependencyKind[dependency] == Dependency.Kind.ANY && isSame(any, dependency)
                    ? run.states.winner(graph.dependencyClause[dependency])
                    : NodeEnd.NO_NODE;
            if (winner >= 0) {
                return graph.ids[winner];
            }
        }
        throw new IllegalArgumentException("node \"" + id() + "\" does not depend on " + any
                + "; ask for the winner of one of its own anyOf dependencies");
    }

    private boolean isSame(Dependency<?> any, int dependency) {
        Graph graph = run.graph;
        return Arrays.stream(graph.up, graph.dependencyEdge[dependency], graph.dependencyEdge[dependency + 1])
                .mapToObj(upstream -> graph.ids[upstream])
                .toList()
                .equals(any.ids());
    }

    @Override
    public String toString() {
        return "context of node \"" + id() + "\"";
    }
}
