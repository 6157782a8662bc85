package dev.raddle.checks.flow;

import dev.raddle.flow.NodeReport;
import java.util.Set;

/** What was seen of one node in one run. Guarded by the stage, whose events change it. */
final class NodeProbe {

    final CaseNode node;
    int entered;
    int ended;
    int begun;
    int reported;
    boolean interrupted;
    boolean interruptedBefore; // the flag was up when the node began
    long begunAt; // the begin callback's number among all events; 0 if it was not called
    long enteredAt; // of the first attempt
    long lastEnteredAt;
    long endedAt; // of the last attempt
    long reportedAt; // the result callback's
    Thread thread;
    NodeReport<?> report; // as the result callback was told
    Set<String> skippedBefore; // upstreams that were SKIPPED already in the callback that first told of the node

    NodeProbe(CaseNode node) {
        this.node = node;
    }

    /** When it was first heard that this node is decided: 0 if never. */
    long decidedAt() {
        return begunAt == 0 ? reportedAt : begunAt;
    }
}
