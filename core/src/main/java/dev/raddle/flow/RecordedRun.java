package dev.raddle.flow;

import java.time.Instant;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the {@linkplain Entry entries} of a journal say about a run: the states, ends and values of its nodes, for what
 * they wait, and what was compensated. It is computed by the code with which a run continues, so both decide the same.
 * It has no thread, and changes neither the run nor its journal.
 *
 * {@snippet :
 * RecordedRun run = RecordedRun.of(journal.entries(), plan, options);
 * for (RecordedNode node : run.nodes()) {
 *     System.out.println(node.id() + " " + node.state() + " " + node.dueTo());
 * }
 * }
 *
 * <p>A program that does not have the plan uses {@link #of(List)}: it then knows the nodes of which something is
 * recorded. Ends that follow from others are not recorded, so these need the plan.
 */
public final class RecordedRun {

    /*
     * Overview.
     *
     *   entries ──► Recovered ──────────────────► what is recorded: ends, sleeps, signals, compensations
     *                   │
     *   plan, options ──┴──► ReplayedRun, Replay ──► what follows: other ends, triggered nodes
     *
     * Recovered applies the entries, one after the other; no other class interprets them. Replay applies the recorded
     * ends to the plan, through the transitions that have made them: a process that continues the run makes the same
     * steps and then begins the triggered nodes; a ReplayedRun stops there.
     *
     * A continued run begins a new try if the latest one has ended. This class shows the try that has ended, so the
     * replay does not see RunEnded; the nodes that have no end after it were ended with the run.
     *
     * The two parts differ in what they accept. Recovered needs no plan, and is computed at once. The replay fails if
     * the plan is not that of the run; it is made when a node is asked for, because the other answers do not need it.
     */

    private static final NodeReport<?> UNKNOWN =
            new NodeReport<>("", NodeState.PENDING, null, ValueSource.NONE, null, -1, -1);

    private final Recovered recovered;
    private final List<Entry> entries;
    private final @Nullable Graph graph;
    private final RunOptions options;
    private @Nullable ReplayedRun replayed; // guarded by this; null until a node is asked for

    private RecordedRun(List<? extends Entry> entries, @Nullable Graph graph, RunOptions options) {
        this.entries = List.copyOf(entries);
        this.graph = graph;
        this.options = options;
        recovered = new Recovered(this.entries);
    }

    /**
     * Returns what is recorded of a run whose plan is unknown.
     *
     * @param entries all entries of the run, in the order in which they were recorded
     * @return the run
     * @throws IllegalArgumentException if an entry contradicts an earlier one, so that some are missing
     */
    public static RecordedRun of(List<? extends Entry> entries) {
        return new RecordedRun(entries, null, RunOptions.defaults());
    }

    /**
     * Returns what is recorded of a run, and what follows from it. No function of the plan is called.
     *
     * @param entries all entries of the run, in the order in which they were recorded
     * @param plan the plan of the run
     * @param options the options of the run, of which the policies and the chosen nodes count
     * @return the run
     * @throws IllegalArgumentException if an entry contradicts an earlier one, so that some are missing
     */
    public static RecordedRun of(List<? extends Entry> entries, FlowPlan<?, ?> plan, RunOptions options) {
        return new RecordedRun(entries, plan.graph, options);
    }

    /**
     * Returns the status with which the latest try has ended.
     *
     * @return the status; null if the try has not ended, so that a run with the journal continues it
     */
    public @Nullable FlowStatus status() {
        return recovered.ended;
    }

    /**
     * Returns when the latest try began.
     *
     * @return the moment from which the timeout of the run counts; null if nothing is recorded
     */
    public @Nullable Instant begunAt() {
        return recovered.begun;
    }

    /**
     * Returns whether the run compensates, or has compensated, nodes in its latest try. No node begins after that.
     *
     * @return whether that is recorded
     */
    public boolean isCompensating() {
        return recovered.compensating != null;
    }

    /**
     * Returns the nodes of the run.
     *
     * @return all nodes of the plan in the order of their declaration; without a plan, those of which something is
     *     recorded that the latest try has not forgotten
     * @throws IllegalArgumentException if the plan is not that of the run
     */
    public List<RecordedNode> nodes() {
        Collection<String> ids = graph == null ? recovered.ids() : List.of(graph.ids);
        return ids.stream().map(this::node).toList();
    }

    /**
     * Returns a node of the run, or of a subflow of it. Of nodes of subflows only sleeps and compensations are
     * recorded.
     *
     * @param id the id of the node; for one of a subflow, the ids of both with a slash between them
     * @return the node; PENDING if nothing is known of it
     * @throws IllegalArgumentException if the plan is not that of the run
     */
    public RecordedNode node(String id) {
        int node = graph == null ? NodeEnd.NO_NODE : graph.find(id);
        ReplayedRun replay = node < 0 ? null : replayed();
        NodeReport<?> follows = replay == null ? UNKNOWN : replay.run.states.report(node);
        Entry.NodeEnded end = recovered.nodes.get(id);
        Entry.AttemptFailed attempt = recovered.attempts.get(id);
        Entry.NodeEnded success = end != null && end.isSuccess() ? end : null;
        return new RecordedNode(
                id,
                end != null ? end.state() : stateOf(id, follows.state(), replay, node),
                end != null,
                success != null ? success.value() : follows.value(),
                success != null ? success.via() : follows.via(),
                end != null ? end.attempt() : attempt != null ? attempt.attempt() : 0,
                end != null ? end.failure() : failureOf(follows.cause(), attempt),
                end == null || end.at().equals(Instant.EPOCH) ? null : end.at(),
                recovered.sleeps.get(id),
                replay == null ? List.of() : replay.dueTo(node),
                recovered.compensated.contains(id));
    }

    /** Returns the state of a node whose end is not recorded. */
    private NodeState stateOf(String id, NodeState follows, @Nullable ReplayedRun replay, int node) {
        boolean hasBegun = replay == null ? recovered.hasBegun(id) : replay.isTriggered(node);
        if (follows.isTerminal() || !hasBegun || recovered.begun == null) {
            return follows;
        }
        boolean awaitsSignal =
                replay != null && replay.run.graph.signalTypeOf(node) != null && !recovered.signals.containsKey(id);
        return awaitsSignal || recovered.sleeps.containsKey(id) ? NodeState.WAITING : NodeState.RUNNING;
    }

    private static @Nullable RecordedFailure failureOf(
            @Nullable Throwable cause, Entry.@Nullable AttemptFailed attempt) {
        return cause != null ? RecordedFailure.of(cause) : attempt != null ? attempt.failure() : null;
    }

    private synchronized ReplayedRun replayed() {
        ReplayedRun known = replayed;
        if (known == null) {
            known = new ReplayedRun(Objects.requireNonNull(graph), options.values, entries, recovered.ended);
            replayed = known;
        }
        return known;
    }

    /**
     * Returns the nodes that were compensated in the latest try.
     *
     * @return their ids; of nodes of subflows, the ids of both with a slash between them
     */
    public Set<String> compensated() {
        return Set.copyOf(recovered.compensated);
    }

    /**
     * Returns the nodes that the journal forgets when a new try runs some nodes again, with their signals: these, those
     * that were compensated, and all that depend on them.
     *
     * @param nodes the ids of the nodes to {@linkplain RunOptions#rerun run again}
     * @return the ids, upstreams first; without a plan, without the dependents
     * @throws IllegalArgumentException if the plan has no such node
     */
    public Set<String> toForget(Collection<String> nodes) {
        if (graph != null) {
            return new LinkedHashSet<>(RunJournal.withDependents(graph, recovered, List.copyOf(nodes)));
        }
        Set<String> known = new LinkedHashSet<>(nodes);
        known.addAll(recovered.compensated);
        return known;
    }
}
