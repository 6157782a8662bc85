package dev.raddle.flow;

import dev.raddle.time.Alarm;
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

    int attempt = 1; // the current or the next one of the node

    @Nullable
    Alarm timeout; // of the node; null if it has none

    StepperTime.@Nullable Moment delayed; // the begin of the attempt, if it has not begun

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

    /** Ends the current node, undone or with a failure, and proceeds to the next one. */
    void end(@Nullable Throwable failure) {
        if (failure != null) {
            failures.add(new CompensationFailure(ids[current()], failure));
        }
        if (timeout != null) {
            timeout.cancel();
            timeout = null;
        }
        if (delayed != null) {
            delayed.cancel();
            delayed = null;
        }
        attempt = 1;
        position++;
    }

    FlowStatus status() {
        return Objects.requireNonNull(status);
    }

    List<CompensationFailure> failures() {
        return failures;
    }
}
