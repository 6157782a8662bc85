package dev.raddle.flow;

import dev.raddle.flow.NodeWaits.NodeWait;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;

/** Finds out whether a run only waits: whether only a moment or a signal can continue it. */
final class WaitCheck {

    /*
     * Overview.
     *
     * The caller holds the lock `beginning` of the run, under which every node begins. Each node must be in one of
     * these states:
     *
     *   ended
     *   NodeWait        sleeps, or waits for a signal
     *   pending         and one of its upstreams has not ended. A node that does not choose is triggered only when all
     *                   have; one that chooses leaves this state when it is triggered
     *
     * A node in any other state runs, or waits for a thread or a permit. So does a node whose trigger is not processed
     * yet: the end of its upstream is visible, its consequences are not. `remaining` excludes this. It counts the nodes
     * whose end was not reported, and a thread reports an end after it has applied the consequences. It is read first.
     * Nodes never return to an earlier state, so these sets include each other, in this order:
     *
     *   not reported when `remaining` was read  ⊇  not ended at that moment  ⊇  not ended when looked at
     *
     * If the first and the last have the same size, they are equal, and no consequence was outstanding. A node may end
     * while the others are looked at. Only an alarm or a signal can do that. The time until that alarm is part of the
     * result, and the dependents of the node cannot begin before the caller releases the lock.
     */

    /** The time until a run continues that only signals can continue. */
    static final Duration FOREVER = ChronoUnit.FOREVER.getDuration();

    private final RunFacts run;
    private Duration left = FOREVER;

    private WaitCheck(RunFacts run) {
        this.run = run;
    }

    /** Returns the time until the run continues without a signal, or null if it does not only wait. */
    static @Nullable Duration timeLeft(RunFacts run) {
        int unreported = run.progress.remaining();
        if (run.progress.stopped() != null) {
            return null;
        }
        WaitCheck check = new WaitCheck(run);
        check.limit(run.deadline());
        int open = 0;
        for (int node = 0; node < run.graph.size; node++) {
            Object slot = run.states.get(node);
            if (NodeStates.isEnd(slot)) {
                continue;
            }
            open++;
            if (!check.waits(node, slot)) {
                return null;
            }
        }
        return open > 0 && open == unreported ? check.left : null;
    }

    private boolean waits(int node, @Nullable Object slot) {
        if (slot == null) {
            return hasOpenUpstream(node);
        }
        if (!(slot instanceof NodeWait wait)) {
            return false;
        }
        limit(wait.until);
        limit(run.timeouts == null ? null : run.timeouts.deadline(node));
        return true;
    }

    private boolean hasOpenUpstream(int node) {
        Graph graph = run.graph;
        for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
            if (!NodeStates.isEnd(run.states.get(graph.up[edge]))) {
                return true;
            }
        }
        return false;
    }

    private void limit(@Nullable Deadline until) {
        if (until != null && until.remaining().compareTo(left) < 0) {
            left = until.remaining();
        }
    }
}
