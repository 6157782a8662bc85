package dev.raddle.flow;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** The deadlines and alarms of those nodes of one run that have a timeout. */
final class NodeTimeouts {

    private final RunEnvironment run;
    private final @Nullable RunJournal journal;
    private final @Nullable Alarm[] alarms; // each written by the thread that triggers the node
    private final @Nullable Deadline[] deadlines; // likewise

    NodeTimeouts(RunEnvironment run, @Nullable RunJournal journal) {
        this.run = run;
        this.journal = journal;
        alarms = new Alarm[run.graph.size];
        deadlines = new Deadline[run.graph.size];
    }

    /** Arms the timeout of a node that is triggered; it continues if the node had begun in an earlier process. */
    void arm(int node, Duration length, Runnable action) {
        Duration left = journal == null ? null : journal.untilDeadline(node, length);
        Deadline until = Deadline.after(run.time, left == null ? length : left);
        deadlines[node] = until;
        alarms[node] = until.alarm(() -> run.decide(action));
        VarHandle.fullFence(); // either the thread that ends the node sees the alarm, or this thread sees the end
    }

    void disarm(int node) {
        Alarm set = alarms[node];
        if (set != null) {
            run.guard("alarm for the timeout", node, set::cancel);
        }
    }

    @Nullable
    Deadline deadline(int node) {
        return deadlines[node];
    }

    /** Returns the enclosure of the action of a node, or null if that is the run itself. */
    @Nullable
    EnclosingScope enclosure(int node) {
        Deadline until = deadlines[node];
        return until == null ? null : new NodeScope(run, node, until, run);
    }
}
