package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The compensations of one run of a stepper: one after the other, the last node to complete first. */
final class StepperUndo {

    private final String[] ids; // of all nodes of the plan
    private int[] nodes = {};
    private int position; // of the node that is being undone
    private @Nullable FlowStatus status; // null until all nodes have ended
    private final List<CompensationFailure> failures = new ArrayList<>();

    StepperUndo(String[] ids) {
        this.ids = ids;
    }

    /** Begins to undo nodes, possibly none. */
    void begin(FlowStatus ofRun, int[] order) {
        status = ofRun;
        nodes = order;
    }

    /** Returns the node that is being undone, or -1. */
    int current() {
        return position < nodes.length ? nodes[position] : NodeEnd.NO_NODE;
    }

    void settled(CallResult result) {
        switch (result) {
            case CallResult.Returned _ -> {}
            case CallResult.Recovered _ -> {}
            case CallResult.Failed(Throwable failure) -> add(failure);
            case CallResult.Retry retry -> add(retry.failure());
        }
        position++;
    }

    private void add(Throwable failure) {
        failures.add(new CompensationFailure(ids[current()], failure));
    }

    FlowStatus status() {
        return Objects.requireNonNull(status);
    }

    List<CompensationFailure> failures() {
        return failures;
    }
}
