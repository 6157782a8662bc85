package dev.raddle.flow;

import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The nodes that end before a run begins: those that the journal has recorded, and those that are not selected. */
final class EarlyEnds {

    private final RunEnvironment run;
    private final Graph graph;
    private final @Nullable BitSet selected; // null for all
    private final FlowJournal.@Nullable Recorded[] recorded; // empty if there is no journal

    /** Selects the nodes that may run, binds the journal to the run and reads it. */
    EarlyEnds(RunEnvironment run) {
        this.run = run;
        graph = run.graph;
        selected = run.options.only.isEmpty() ? null : selected(run.options.only);
        FlowJournal journal = run.options.journal;
        recorded = journal == null ? new FlowJournal.Recorded[0] : recorded(journal);
    }

    private BitSet selected(List<String> targets) {
        int[] nodes = targets.stream().mapToInt(graph::indexOf).toArray();
        BitSet found = graph.ancestorsOf(nodes);
        for (int node : nodes) {
            found.set(node);
            run.states.pin(node);
        }
        return found;
    }

    private FlowJournal.@Nullable Recorded[] recorded(FlowJournal journal) {
        Object about = run.options.work == null ? run.parameter() : run.options.work;
        journal.bind(new FlowJournal.Work(graph.name, graph.digest(), about));
        FlowJournal.@Nullable Recorded[] found = new FlowJournal.Recorded[graph.size];
        for (int node = 0; node < graph.size; node++) {
            found[node] = journal.find(graph.ids[node]);
        }
        return found;
    }

    /** Ends these nodes. */
    void apply(NodeTransitions transitions, Runner runner) {
        restore(transitions, runner);
        skipUnselected(transitions, runner);
    }

    /**
     * Ends the nodes that the journal has recorded: all of them first, so that none of them causes a skip of another.
     */
    private void restore(NodeTransitions transitions, Runner runner) {
        for (int node = 0; node < recorded.length; node++) {
            FlowJournal.Recorded record = recorded[node];
            if (record != null && !transitions.restore(node, record.value())) {
                recorded[node] = null; // the deadline had passed
            }
        }
        for (int node = 0; node < recorded.length; node++) {
            if (recorded[node] != null) {
                transitions.afterRestore(runner, node);
            }
        }
        if (recorded.length > 0 && graph.hasCompensations) {
            for (int node : graph.upstreamsFirst()) { // the order of completion is unknown; this order is consistent
                if (recorded[node] != null) {
                    transitions.recordCompleted(node);
                }
            }
        }
    }

    /** Skips the nodes that are not selected, upstreams first, so that each has this reason for its skip. */
    private void skipUnselected(NodeTransitions transitions, Runner runner) {
        BitSet kept = selected;
        if (kept == null) {
            return;
        }
        for (int node : graph.upstreamsFirst()) {
            if (!kept.get(node)) {
                transitions.end(
                        runner, node, null, NodeState.SKIPPED, null, NodeEnd.Reason.NOT_WANTED, NodeEnd.NO_NODE, false);
            }
        }
    }
}
