package dev.raddle.flow;

import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The nodes that end before a run begins: those that the journal has recorded, and those that are not selected. */
final class EarlyEnds {

    private final RunEnvironment run;
    private final Graph graph;
    private final NodeTransitions transitions;
    private final @Nullable BitSet selected; // null for all
    private final List<Integer> restored = new ArrayList<>(); // in the order of the records

    /**
     * Selects the nodes that may run, and ends those that the journal has recorded: all of them before any consequence
     * is applied, so that none of them causes a skip of another, and before the deadline of the run can pass.
     */
    EarlyEnds(RunEnvironment run, NodeTransitions transitions) {
        this.run = run;
        this.transitions = transitions;
        graph = run.graph;
        run.options.again.forEach(id -> run.states.pin(graph.indexOf(id)));
        selected = run.options.only.isEmpty() ? null : selected(run.options.only);
        if (run.journal != null) {
            run.journal.recovered().nodes().values().forEach(this::restore);
        }
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

    private void restore(Entry.NodeEnded end) {
        int node = graph.indexOf(end.id());
        RecordedFailure failure = end.failure();
        boolean isFailed = end.state() == NodeState.FAILED || end.state() == NodeState.TIMED_OUT;
        Throwable cause = failure != null
                ? failure.toException()
                : isFailed ? new RecordedFailure("unknown", null, "").toException() : null;
        if (transitions.restore(node, end.state(), end.value(), cause)) {
            restored.add(node);
        }
    }

    /** Applies the consequences of these ends. */
    void apply(Runner runner) {
        for (int node : restored) {
            transitions.afterRestore(runner, node);
        }
        for (int node : restored) {
            if (run.states.succeeded(node) && !isCompensated(node)) {
                transitions.recordCompleted(node);
            }
        }
        skipUnselected(runner);
        if (run.isCompensatingAgain()) {
            transitions.settle(runner); // no nested run has begun
            endOthers(runner);
        }
    }

    private boolean isCompensated(int node) {
        return run.journal != null && run.journal.recovered().compensated().contains(graph.ids[node]);
    }

    /** Ends all other nodes of a run that an earlier process has begun to compensate. */
    private void endOthers(Runner runner) {
        Entry.Compensating earlier =
                run.journal == null ? null : run.journal.recovered().compensating();
        if (earlier == null) {
            return;
        }
        RecordedFailure recorded = earlier.cause();
        RecordedFailure known = recorded != null
                ? recorded
                : new RecordedFailure(
                        "compensation", "an earlier run was " + earlier.status() + " and compensated", "");
        NodeTransitions.Stop why = new NodeTransitions.Stop(earlier.status(), known.toException(), NodeEnd.NO_NODE);
        if (transitions.trySetStop(why)) {
            transitions.endAll(runner, why);
        }
    }

    /** Skips the nodes that are not selected, upstreams first, so that each has this reason for its skip. */
    private void skipUnselected(Runner runner) {
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
