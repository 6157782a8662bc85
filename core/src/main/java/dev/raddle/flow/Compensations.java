package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The nodes of one run that have succeeded and have a compensation. */
final class Compensations {

    /** A link of a list, the last to complete first. */
    private record Completed(
            int node, @Nullable Object value, @Nullable Completed earlier) {}

    private final AtomicReference<@Nullable Completed> completed = new AtomicReference<>();
    private volatile @Nullable UndoCall current; // the latest

    /**
     * Adds a node whose action has succeeded, before any node that depends on it begins.
     *
     * @param slot the content of the slot of a node that has succeeded with the value
     */
    void add(int node, Object slot) {
        Object value = NodeStates.resultOf(slot);
        Completed before;
        do {
            before = completed.get();
        } while (!completed.compareAndSet(before, new Completed(node, value, before)));
    }

    /** Returns the nodes, the last to complete first. */
    int[] order() {
        List<Integer> nodes = new ArrayList<>();
        for (Completed each = completed.get(); each != null; each = each.earlier()) {
            nodes.add(each.node());
        }
        return nodes.stream().mapToInt(Integer::intValue).toArray();
    }

    /**
     * Undoes all nodes, the last to complete first, if the run has failed, and before them what earlier processes could
     * not undo in subflows, however the run has ended. Returns what failed. Stops if the run is lost.
     *
     * <p>A journal receives the decision first, then each failed attempt, and each node after its compensation has
     * returned. After a crash, or if a compensation has failed for good, the next run continues here, whatever the
     * outcome of its nodes would be, with the compensations that are not recorded. If the decision cannot be recorded,
     * nothing is undone, since the next run would keep the values.
     */
    List<CompensationFailure> undo(RunEnvironment run, FlowStatus status, @Nullable Throwable cause) {
        List<CompensationFailure> failures = new ArrayList<>();
        boolean undoes = status != FlowStatus.SUCCESS && status != FlowStatus.DEGRADED;
        RunJournal journal = run.journal;
        boolean decides = undoes && (completed.get() != null || (journal != null && journal.hasUndosLeft(true)));
        if (decides && !tryRecordDecision(run, status, cause, failures)) {
            return failures;
        }
        if (journal != null) {
            journal.undoLeft(failures);
        }
        for (Completed each = undoes ? completed.get() : null; each != null && !run.isLost(); each = each.earlier()) {
            try {
                UndoCall call = new UndoCall(run, each.node(), each.value());
                current = call;
                call.run();
            } catch (Throwable failure) {
                if (!run.isLost()) {
                    failures.add(new CompensationFailure(run.graph.ids[each.node()], failure));
                }
            }
        }
        return failures;
    }

    private static boolean tryRecordDecision(
            RunEnvironment run, FlowStatus status, @Nullable Throwable cause, List<CompensationFailure> failures) {
        try {
            if (run.journal != null) {
                run.journal.compensating(status, cause);
            }
            return true;
        } catch (Throwable failure) {
            if (!run.isLost()) {
                failures.add(new CompensationFailure(null, failure));
            }
            return false;
        }
    }

    /** Returns whether a compensation may wait for a moment. */
    boolean mayWait(Graph graph) {
        for (Completed each = completed.get(); each != null; each = each.earlier()) {
            Compensation how = graph.optionsOf(each.node()).compensation;
            if (how != null && how.mayWait()) {
                return true;
            }
        }
        return false;
    }

    /** Ends the wait for another attempt of a compensation, because the run is lost. */
    void endDelay() {
        UndoCall latest = current;
        if (latest != null) {
            latest.endDelay();
        }
    }
}
