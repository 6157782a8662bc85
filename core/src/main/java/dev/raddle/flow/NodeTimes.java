package dev.raddle.flow;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Until when the nodes of one run have time that have a timeout. */
final class NodeTimes {

    /** What such a node has its tasks know. */
    private static final class Inside extends EnclosingScope {
        private final Engine run;
        private final int node;
        private final Deadline deadline;

        Inside(Engine run, int node, Deadline own) {
            this.run = run;
            this.node = node;
            Deadline around = run.deadline();
            deadline = around != null && around.remaining().compareTo(own.remaining()) < 0 ? around : own;
        }

        @Override
        public Deadline deadline() {
            return deadline;
        }

        @Override
        public String label() {
            return "node \"" + run.graph.ids[node] + "\" of " + run.label();
        }

        @Override
        protected EnclosingScope around() {
            return run;
        }
    }

    private final Engine run;
    private final BiConsumer<Integer, Duration> whenOver;
    private final @Nullable Alarm[] alarms; // each written by who triggers the node
    private final @Nullable Deadline[] deadlines; // likewise

    NodeTimes(Engine run, BiConsumer<Integer, Duration> whenOver) {
        this.run = run;
        this.whenOver = whenOver;
        alarms = new Alarm[run.graph.size];
        deadlines = new Deadline[run.graph.size];
    }

    /** Begins to watch the time of a node that is triggered. */
    void arm(int node, Duration length) {
        Deadline until = Deadline.after(run.time, length);
        deadlines[node] = until;
        alarms[node] = until.alarm(() -> run.alarmThread().execute(() -> whenOver.accept(node, length)));
        VarHandle.fullFence(); // who ends the node sees the alarm, or who has armed it sees the end
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

    /** Returns what encloses the action of a node, or null if that is only the run. */
    @Nullable
    EnclosingScope enclosure(int node) {
        Deadline until = deadlines[node];
        return until == null ? null : new Inside(run, node, until);
    }
}
