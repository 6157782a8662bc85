package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * The nodes of one run that have succeeded and have a compensation, and the one that is being undone: one after the
 * other, the last to complete first.
 */
final class Compensations {

    /** A link of a list, the last to complete first. */
    private record Completed(
            int node, @Nullable Object value, @Nullable Completed earlier) {}

    private final AtomicReference<@Nullable Completed> completed = new AtomicReference<>();
    private @Nullable Completed current; // the node that is being undone; by the thread that undoes it
    private volatile @Nullable UndoCall latest; // null if no thread of this process undoes a node
    final List<CompensationFailure> failures = new ArrayList<>(); // by the thread that undoes the nodes

    /**
     * Adds a node whose action has succeeded, before any node that depends on it begins.
     *
     * @param slot the content of the slot of a node that has succeeded with the value
     */
    void add(int node, Object slot) {
        Object value = NodeStates.resultOf(slot);
        completed.updateAndGet(before -> new Completed(node, value, before));
    }

    boolean isEmpty() {
        return completed.get() == null;
    }

    /** Begins to undo the nodes. */
    void begin() {
        current = completed.get();
    }

    /** Returns the node that is being undone, or -1. */
    int current() {
        return current == null ? NodeEnd.NO_NODE : current.node();
    }

    /** Ends the current node, undone or with a failure, and proceeds to the next one. */
    void end(RunFacts run, @Nullable Throwable failure) {
        Completed ended = Objects.requireNonNull(current);
        if (failure != null) {
            failures.add(new CompensationFailure(run.graph.ids[ended.node()], failure));
        }
        current = ended.earlier();
    }

    /**
     * Undoes all nodes, the last to complete first, if the run has failed, and before them what earlier processes could
     * not undo in subflows, however the run has ended. Stops if the run is lost.
     *
     * <p>A journal receives the decision first, then each failed attempt, and each node after its compensation has
     * returned. After a crash, or if a compensation has failed for good, the next run continues here, whatever the
     * outcome of its nodes would be, with the compensations that are not recorded. If the decision cannot be recorded,
     * nothing is undone, since the next run would keep the values.
     */
    void undo(RunFacts run, FlowStatus status, @Nullable Throwable cause) {
        boolean undoes = status != FlowStatus.SUCCESS && status != FlowStatus.DEGRADED;
        NestedUndos nested = run.journal == null ? null : new NestedUndos(run, run.journal);
        boolean decides = undoes && (!isEmpty() || (nested != null && nested.areLeft(true)));
        if (decides && !tryRecordDecision(run, status, cause)) {
            return;
        }
        if (nested != null) {
            nested.undo(failures);
        }
        if (undoes) {
            begin();
        }
        while (current != null && !run.isLost()) {
            Throwable failure = null;
            try {
                latest = new UndoCall(run, current.node(), current.value());
                latest.run();
            } catch (Throwable thrown) {
                failure = thrown;
            }
            end(run, run.isLost() ? null : failure);
        }
    }

    private boolean tryRecordDecision(RunFacts run, FlowStatus status, @Nullable Throwable cause) {
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
            if (how != null && (how.timeout() != null || !how.retry().hasNoEffect())) {
                return true;
            }
        }
        return false;
    }

    /** Ends the wait for another attempt of a compensation, because the run is lost. */
    void endDelay() {
        UndoCall call = latest;
        if (call != null) {
            call.endDelay();
        }
    }
}
