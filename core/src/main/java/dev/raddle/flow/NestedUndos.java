package dev.raddle.flow;

import java.util.List;
import java.util.Map;

/**
 * The compensations in nested runs that have failed for good in earlier processes. They are called again with the
 * values that are recorded with the failure ({@link UndoCall}), without running the nodes of the nested run again.
 */
final class NestedUndos {

    private final RunFacts run;
    private final RunJournal journal; // of this run
    private final Recovered recovered;

    NestedUndos(RunFacts run, RunJournal journal) {
        this.run = run;
        this.journal = journal;
        recovered = journal.recovered;
    }

    /** Returns whether a run must not end before something is undone in a run nested in it, or that has failed. */
    boolean areLeft(boolean undoes) {
        return (undoes && journal.isIncomplete()) || !paths().isEmpty();
    }

    private List<String> paths() {
        return recovered.undoAttempts.keySet().stream()
                .filter(path -> run.graph.find(path) < 0 && !recovered.compensated.contains(path))
                .filter(path -> run.states.via(nodeOf(run, path)) != ValueSource.ACTION) // it ran again, and succeeded
                .toList();
    }

    /** Calls these compensations again, and adds what fails again. */
    void undo(List<CompensationFailure> failures) {
        for (String path : paths()) {
            try {
                undo(run, path);
                journal.record(new Entry.Compensated(path));
            } catch (Throwable failure) {
                journal.setIncomplete();
                if (!run.isLost()) {
                    failures.add(new CompensationFailure(path, failure));
                }
            }
        }
    }

    /** Calls the compensation of a node of a nested run, which becomes as the records say, without its nodes. */
    private void undo(RunFacts around, String path) throws Exception {
        int outer = nodeOf(around, path);
        RunFacts nested = around.callInStarterContext(() -> {
            NestedPlan plan = (NestedPlan) around.graph.bodies[outer].call(around, outer);
            RunOptions.Values options = around.optionsForNested(plan.onFailure(), plan.rootsAtOnce());
            return new RunFacts(plan.graph(), plan.parameter(), options, around, outer, null);
        });
        String rest = path.substring(around.graph.ids[outer].length() + 1);
        recovered
                .elements
                .getOrDefault(around.path(outer), Map.of())
                .forEach((node, value) -> nested.states.set(node, value == null ? NodeStates.NULL : value));
        int node = nested.graph.find(rest);
        if (node < 0) {
            undo(nested, rest);
        } else if (NodeStates.isEnd(nested.states.get(node))) {
            new UndoCall(nested, node, nested.states.value(node)).run();
        } else {
            throw new IllegalStateException("its value is not in the journal");
        }
    }

    /** Returns the nested run of a run with whose id a path begins. */
    private static int nodeOf(RunFacts around, String path) {
        int slash = path.indexOf('/');
        int node = around.graph.find(path.substring(0, slash));
        while (node < 0 || !around.graph.is(Graph.NESTED, node)) {
            slash = path.indexOf('/', slash + 1); // a part of an id
            node = around.graph.find(path.substring(0, slash));
        }
        return node;
    }
}
