package dev.raddle.flow;

import dev.raddle.flow.threads.Runner;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A run that stands where its journal says, and does not go on: no node begins, and no function is called. */
final class ReplayedRun extends Run {

    /** A journal that is only read. It has no end, so that the try that has ended is replayed, and not a new one. */
    private record Reading(List<Entry> entries) implements FlowJournal {

        @Override
        public List<Entry> open(Work work) {
            return entries.stream()
                    .filter(entry -> !(entry instanceof Entry.RunEnded))
                    .toList();
        }

        @Override
        public void record(Entry entry) {}
    }

    private final BitSet triggered; // and not ended
    private final BitSet met = new BitSet(); // the edges of clauses that are met: their nodes are not waited for

    /**
     * Replays the entries of a run.
     *
     * @param ended the status of the run; null if it has not ended
     * @throws IllegalArgumentException if the graph is not that of the run
     */
    ReplayedRun(Graph graph, RunOptions.Values options, List<Entry> entries, @Nullable FlowStatus ended) {
        super(graph, null, options.forReplay(new Reading(entries)), null, NodeEnd.NO_NODE);
        Replay replay = new Replay(run, transitions);
        Runner runner = newRunner(null);
        replay.apply(runner);
        RunProgress.Stop stop = ended == null ? null : new RunProgress.Stop(ended, null, NodeEnd.NO_NODE);
        if (stop != null && run.progress.trySetStop(stop)) {
            transitions.endAll(runner, stop);
            transitions.consequences.settle(runner);
        }
        triggered = replay.triggered();
        for (int clause = 0; clause < graph.clauses(); clause++) {
            if (run.states.winner(clause) >= 0) {
                met.set(graph.clauseEdge[clause], graph.clauseEdge[clause] + graph.clauseSize[clause]);
            }
        }
    }

    boolean isTriggered(int node) {
        return triggered.get(node);
    }

    /** Returns the upstreams for which a pending node waits, or the node from whose end its own follows. */
    List<String> dueTo(int node) {
        Graph graph = run.graph;
        if (run.states.get(node) instanceof NodeEnd end) {
            return end.causedBy() < 0 ? List.of() : List.of(graph.ids[end.causedBy()]);
        }
        List<String> open = new ArrayList<>();
        if (!NodeStates.isEnd(run.states.get(node)) && !triggered.get(node)) {
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                if (!met.get(edge) && !NodeStates.isEnd(run.states.get(graph.up[edge]))) {
                    open.add(graph.ids[graph.up[edge]]);
                }
            }
        }
        return open;
    }

    @Override
    @Nullable
    Object computeDefault(Supplier<?> function) {
        return null;
    }

    @Override
    @Nullable
    FlowEvents newEvents() {
        return null;
    }

    // Nothing begins.

    @Override
    Run newNested(Graph plan, @Nullable Object parameter, RunOptions.Values options, int node) {
        throw nothingBegins();
    }

    @Override
    boolean dispatch(Runner runner) {
        throw nothingBegins();
    }

    @Override
    void undo(Runner runner, FlowStatus status, Compensations compensations, boolean hasUndosLeft) {
        throw nothingBegins();
    }

    @Override
    void ended() {
        throw nothingBegins();
    }

    private static IllegalStateException nothingBegins() {
        return new IllegalStateException("a replayed run executes nothing");
    }
}
