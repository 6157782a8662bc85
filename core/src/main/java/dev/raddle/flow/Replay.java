package dev.raddle.flow;

import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.Runner;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Brings a run to where its journal says that it stands, before any node runs. */
final class Replay {

    /*
     * Overview. The ends that a journal has recorded are applied through the transitions that have made them:
     *
     *   1. nodes that have succeeded in an earlier try have their values, and need their upstreams no more;
     *   2. nodes that are not selected are skipped;
     *   3. the roots are triggered;
     *   4. the ends of this try take effect, one after the other, each with its consequences, in the order of their
     *      numbers (EndSequence).
     *
     * The first process of the try has made the same steps in the same order, so the same decisions follow. Before the
     * first step the slots of all nodes of 4 contain RECORDED. So no consequence ends them otherwise, as none has in
     * the process that recorded them.
     *
     * A node that is triggered meanwhile may end by a later step, for example be skipped. So nodes are only collected
     * here, and submitted when the replay is over. Alarms are armed after that, too. Thus only one thread is in the
     * run.
     */

    /** A node that was triggered, when that was, and in which step. */
    private record Triggered(int node, @Nullable Instant at, int step) {}

    private final RunFacts run;
    private final Graph graph;
    private final NodeTransitions transitions;
    private final @Nullable RunJournal journal;
    private final @Nullable BitSet selected; // null for all
    private final BitSet recorded = new BitSet(); // the nodes that have a record
    private final BitSet decided = new BitSet(); // those of them that were triggered
    private final List<Triggered> triggered = new ArrayList<>(); // in order
    private int step; // the number of the step
    private @Nullable Instant now; // the moment of the end that takes effect; null before the first

    Replay(RunFacts run, NodeTransitions transitions) {
        this.run = run;
        this.transitions = transitions;
        graph = run.graph;
        journal = run.journal;
        run.options.again.forEach(id -> run.states.pin(graph.indexOf(id)));
        selected = run.options.only.isEmpty() ? null : selected(run.options.only);
    }

    private BitSet selected(List<String> targets) {
        int[] nodes = targets.stream().mapToInt(graph::indexOf).toArray();
        BitSet found = graph.ancestorsOf(nodes);
        for (int node : nodes) {
            found.set(node);
            run.states.pin(node);
        }
        return found;
    }

    /** Applies the recorded ends. */
    void apply(Runner runner) {
        transitions.consequences.replayBy(this);
        Recovered recovered = journal == null ? new Recovered(List.of()) : journal.recovered;
        List<Entry.NodeEnded> ends = List.copyOf(recovered.nodes.values());
        for (Entry.NodeEnded end : ends) {
            int node = graph.indexOf(end.id());
            recorded.set(node);
            run.states.set(node, NodePhase.Plain.RECORDED);
            if (end.isOfEarlierTry()) {
                transitions.takeEffect(runner, node, NodePhase.Plain.RECORDED, slotOf(end, ValueSource.JOURNAL));
            }
        }
        for (Entry.NodeEnded end : ends) {
            if (end.isOfEarlierTry()) {
                transitions.consequences.releaseUpstreams(runner, graph.indexOf(end.id()));
            }
        }
        recorded.stream().forEach(run.states::recordTrigger); // so that compensations see what is restored
        skipUnselected(runner);
        settle(runner);
        now = recovered.begun;
        transitions.consequences.triggerRoots(runner);
        settle(runner);
        for (Entry.NodeEnded end : ends) {
            if (!end.isOfEarlierTry()) {
                advance(end.at());
                repeat(runner, end);
                settle(runner);
            }
        }
        Entry.Compensating compensating = recovered.compensating;
        if (compensating != null) {
            advance(compensating.at());
            endOthers(runner, compensating);
            settle(runner);
        }
        run.repeatAt(-1);
        transitions.consequences.replayBy(null);
    }

    private void advance(Instant moment) {
        now = moment;
        run.repeatAt(Objects.requireNonNull(journal).nanosUntil(moment));
    }

    /** Applies the consequences of a step. No nested run has begun. */
    private void settle(Runner runner) {
        transitions.consequences.settle(runner);
        step++;
    }

    private NodeEnd slotOf(Entry.NodeEnded end, ValueSource via) {
        RecordedFailure recoveredFrom = end.failure();
        return new NodeEnd(
                NodeState.SUCCESS,
                via,
                end.value(),
                recoveredFrom == null ? null : recoveredFrom.toException(),
                NodeEnd.Reason.ACTION,
                NodeEnd.NO_NODE,
                run.now());
    }

    private void repeat(Runner runner, Entry.NodeEnded end) {
        int node = graph.indexOf(end.id());
        if (end.isSuccess()) {
            Object value = end.value() == null ? NodeStates.NULL : end.value();
            Object slot = end.via() == ValueSource.ACTION ? value : slotOf(end, end.via());
            transitions.takeEffect(runner, node, NodePhase.Plain.RECORDED, slot);
            return;
        }
        RecordedFailure failure = end.failure();
        Throwable cause = failure != null
                ? failure.toException()
                : end.state().isFailure() ? new RecordedFailure("unknown", null, "").toException() : null;
        NodeEnd.Verdict verdict = new NodeEnd.Verdict(end.state(), cause, reasonOf(node, end));
        transitions.takeEffect(runner, node, NodePhase.Plain.RECORDED, verdict);
    }

    private NodeEnd.Reason reasonOf(int node, Entry.NodeEnded end) {
        return switch (end.state()) {
            case SKIPPED -> NodeEnd.Reason.CONDITION;
            case TIMED_OUT -> NodeEnd.Reason.OUT_OF_TIME;
            default ->
                end.attempt() > 0 || graph.is(Graph.NESTED, node) || graph.is(Graph.WAITS, node)
                        ? NodeEnd.Reason.ACTION
                        : graph.optionsOf(node).condition != null ? NodeEnd.Reason.CONDITION : NodeEnd.Reason.PLACING;
        };
    }

    /** Skips the nodes that are not selected, upstreams first, so that each has this reason for its skip. */
    private void skipUnselected(Runner runner) {
        BitSet kept = selected;
        if (kept == null) {
            return;
        }
        for (int node : graph.upstreamsFirst()) {
            if (!kept.get(node)) {
                NodeEnd.Reason reason = NodeEnd.Reason.NOT_WANTED;
                transitions.end(runner, node, null, new NodeEnd.Verdict(NodeState.SKIPPED, null, reason));
            }
        }
    }

    /** Ends all other nodes of a run that an earlier process has begun to compensate. */
    private void endOthers(Runner runner, Entry.Compensating earlier) {
        RecordedFailure cause = earlier.cause(); // null if the run was not stopped: its nodes have failed
        RunProgress.Stop why = new RunProgress.Stop(
                earlier.status(), cause == null ? null : cause.toException(), causedBy(earlier.status(), cause));
        if (run.progress.trySetStop(why)) {
            transitions.endAll(runner, why);
        }
    }

    /** Returns the node whose recorded failure has stopped the run, or NO_NODE. */
    private int causedBy(FlowStatus status, @Nullable RecordedFailure cause) {
        if (status == FlowStatus.FAILED && cause != null) {
            for (Entry.NodeEnded end :
                    Objects.requireNonNull(journal).recovered.nodes.values()) {
                if (end.state().isFailure() && cause.equals(end.failure())) {
                    return graph.indexOf(end.id());
                }
            }
        }
        return NodeEnd.NO_NODE;
    }

    // Called by the transitions meanwhile.

    /** Called when a node is triggered, perhaps several times. */
    void trigger(Runner runner, int node) {
        if (run.states.get(node) != NodePhase.Plain.RECORDED) {
            if (transitions.consequences.tryDecide(runner, node)) {
                triggered.add(new Triggered(node, now, step));
            }
        } else if (!decided.get(node)) {
            decided.set(node);
            run.states.recordTrigger(node);
            if (graph.is(Graph.CHOOSES, node)) {
                transitions.consequences.releaseUpstreams(runner, node);
            }
        }
    }

    /**
     * Returns whether the result callback of a node is not called: it is of a recorded end, or another process has made
     * the same step.
     */
    boolean isSilent(int node) {
        return recorded.get(node) || (journal != null && !journal.hasBegunTry);
    }

    /** Returns the nodes that were triggered and have not ended. */
    BitSet triggered() {
        BitSet ready = new BitSet();
        triggered.stream().filter(this::isReady).forEach(each -> ready.set(each.node));
        return ready;
    }

    private boolean isReady(Triggered each) {
        return run.states.get(each.node) == transitions.consequences.readyPhase(each.node);
    }

    /**
     * Submits the nodes that were triggered and have not ended: their timeouts are armed in the order in which the
     * nodes were triggered, and the nodes begin in the order in which the threads of the first process would have taken
     * them. So what happens at the same moment, or in one thread, has the same order as in that process. A node whose
     * sleep is recorded had begun there, so these come first, in the order of the records. The others had not: a thread
     * takes what the latest step has triggered first (ReadyStack), and the nodes of one step in the order of their
     * triggers.
     */
    void submitTriggered(Runner runner) {
        triggered.removeIf(each -> !isReady(each));
        for (Triggered each : triggered) {
            if (journal != null && each.at != null) {
                journal.triggeredBefore(each.node, each.at);
            }
        }
        triggered.removeIf(each -> !transitions.consequences.tryArm(runner, each.node));
        Map<String, Integer> sleeping = new HashMap<>(); // the positions, by ids
        if (journal != null) {
            journal.recovered.sleeps.keySet().forEach(id -> sleeping.put(id, sleeping.size()));
        }
        triggered.sort(Comparator.comparingInt(
                        (Triggered each) -> sleeping.getOrDefault(graph.ids[each.node], sleeping.size()))
                .thenComparing(Comparator.comparingInt(Triggered::step).reversed())); // the top of the stack first
        triggered.forEach(each -> transitions.consequences.addReady(runner, each.node));
    }
}
