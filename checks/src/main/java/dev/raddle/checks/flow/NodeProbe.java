package dev.raddle.checks.flow;

import dev.raddle.flow.NodeReport;
import java.util.Set;

/** The observations of one node in one run. Guarded by the monitor. */
final class NodeProbe {

    final CaseNode node;
    int entered;
    int ended;
    int begun;
    int reported;
    boolean interrupted;
    boolean interruptedBefore; // the interrupt flag was set when the node began
    long begunAt; // the number of the begin callback among all events; 0 if it was not called
    long enteredAt; // of the first attempt
    long lastEnteredAt;
    long endedAt; // of the last attempt
    long reportedAt; // of the result callback
    Thread thread;
    NodeReport<?> report; // as the result callback received it
    Set<String> skippedBefore; // upstreams that were SKIPPED in the first callback of the node

    NodeProbe(CaseNode node) {
        this.node = node;
    }

    /** Returns the number of the first callback of this node, or 0 if there was none. */
    long firstCallbackAt() {
        return begunAt == 0 ? reportedAt : begunAt;
    }
}
