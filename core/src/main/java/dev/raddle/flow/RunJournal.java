package dev.raddle.flow;

import dev.raddle.flow.threads.EndSequence;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** The journal of one run: what earlier processes have recorded, and the records of this one. */
final class RunJournal {

    /*
     * Overview.
     *
     * A run opens its journal once, before it computes its deadline, and then records what happens. `recovered` is the
     * state in which it begins. If the latest try has ended, or nodes are to run again, the run begins a new try: it
     * records Begun, and `recovered` is the state after that entry. So a crash between that record and the first node
     * leaves nothing of the earlier try.
     *
     * The runs of `map` nodes have a RunJournal, too, which records their elements in the journal of the run: the
     * element with the position i is the node i of the inner run. They are used only if the order of the collection is
     * part of its equality. Other nested runs have none: a subflow is recorded as one value.
     *
     * If an earlier process has died, this one records the begin of each attempt (`beginsAreRecorded`): what that
     * process was doing is unknown, but the next one will know what this one did. An attempt that has begun and not
     * ended is recorded as failed when the run is continued (`failLostAttempts`). So runs that are not lost pay nothing
     * for this, and the first loss counts as no node's failure.
     *
     * Each method that records does so before its caller changes the state of the node. So a fact is never visible
     * before it is durable. No other thread ends the node in between (NodeTransitions).
     *
     * A FencedException from any thread marks the outermost run as lost and ends all its nodes, in the calling thread,
     * before it is thrown on. A lost run records nothing: the flag is read before each record, and a record that is
     * being made at that moment is refused by the journal itself.
     */

    private final RunEnvironment run;
    private final FlowJournal journal;
    final Recovered recovered;
    private final @Nullable String map; // the id of the map node that this run executes; null for the outermost run
    private final Map<String, Integer> sizes = new ConcurrentHashMap<>(); // of the map nodes that have begun
    final int[] attempts; // of each node: the number of the latest; written by the thread inside the node
    private final boolean[] isInside; // of each node: whether an attempt has begun and attemptEnded was not called
    private final Map<Integer, Instant> triggers = new ConcurrentHashMap<>(); // of nodes that had not begun before
    final boolean hasBegunTry; // whether this process has begun the try
    private final boolean beginsAreRecorded;
    final EndSequence ends;
    private boolean isUndoing; // whether a compensation has begun, and endUndo was not called; by its thread
    private volatile boolean isIncomplete; // whether the end of the run must not be recorded
    private volatile @Nullable Throwable torn; // the failure of a record without which later ones mean nothing

    private RunJournal(
            RunEnvironment run,
            FlowJournal journal,
            Recovered recovered,
            @Nullable String map,
            boolean hasBegunTry,
            boolean beginsAreRecorded) {
        this.run = run;
        this.journal = journal;
        this.recovered = recovered;
        this.map = map;
        this.hasBegunTry = hasBegunTry;
        this.beginsAreRecorded = beginsAreRecorded;
        ends = new EndSequence(recovered.nodes.values().stream()
                .mapToLong(Entry.NodeEnded::number)
                .max()
                .orElse(0));
        attempts = new int[run.graph.size];
        isInside = new boolean[run.graph.size];
        for (int node = 0; node < attempts.length && !recovered.attempts.isEmpty(); node++) {
            Entry.AttemptFailed failed = recovered.attempts.get(run.graph.ids[node]);
            attempts[node] = failed == null ? 0 : failed.attempt();
        }
    }

    // Opening.

    /**
     * Opens the journal of a run. If it is fenced, the run is lost, and the journal returned has no records.
     *
     * @param outer the journal of the enclosing run, or null
     * @return the journal, or null if the run has none
     */
    static @Nullable RunJournal open(RunEnvironment run, @Nullable RunJournal outer, boolean isNested) {
        if (isNested) {
            return outer == null || outer.map != null || run.graph.returns != Graph.Returns.LIST
                    ? null
                    : outer.ofMap(run);
        }
        RunOptions.Values options = run.options;
        FlowJournal journal = options.journal;
        if (journal == null) {
            if (!options.again.isEmpty()) {
                throw new IllegalArgumentException("nodes of flow \"" + run.graph.name
                        + "\" cannot be run again without a journal; set it with RunOptions.withJournal");
            }
            return null;
        }
        options.only.forEach(run.graph::indexOf);
        Object parameter = options.runId == null ? run.parameter : null;
        FlowJournal.Work work = new FlowJournal.Work(options.runId, run.graph.name, run.graph.digest(), parameter);
        Recovered found;
        boolean isNewTry = false;
        boolean wasLost = false;
        try {
            found = new Recovered(journal.open(work));
            isNewTry = found.begun == null || found.ended != null || !options.again.isEmpty();
            wasLost = !isNewTry && journal.wasLost();
            if (isNewTry) {
                beginTry(run, journal, found);
            } else if (wasLost) {
                failLostAttempts(run.graph, journal, found);
            }
        } catch (FencedException fenced) {
            run.markLost(fenced);
            found = new Recovered(List.of());
        } catch (RuntimeException failure) {
            throw failure;
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        } catch (Exception failure) {
            if (failure instanceof InterruptedException) {
                Thread.currentThread().interrupt();
            }
            throw new IllegalStateException(
                    "the journal of flow \"" + run.graph.name + "\" could not be opened", failure);
        }
        return new RunJournal(run, journal, found, null, isNewTry, wasLost);
    }

    private static void beginTry(RunEnvironment run, FlowJournal journal, Recovered found) throws Exception {
        Entry.Begun begun =
                new Entry.Begun(journal.instant(run.time), withDependents(run.graph, found, run.options.again));
        journal.record(begun);
        found.apply(begun);
    }

    /**
     * Records the attempts whose process has died as failed. Those of a node that has neither a retry policy nor a
     * fallback or default are not: they could only fail the run, and their process may have died for another reason.
     */
    private static void failLostAttempts(Graph graph, FlowJournal journal, Recovered found) throws Exception {
        for (Entry.AttemptBegan attempt : List.copyOf(found.begunAttempts.values())) {
            if (graph.optionsOf(graph.indexOf(attempt.id())).hasRecourse()) {
                Entry.AttemptFailed lost = new Entry.AttemptFailed(
                        attempt.id(), attempt.attempt(), RecordedFailure.ofLost(attempt), false);
                journal.record(lost);
                found.apply(lost);
            }
        }
    }

    /**
     * Returns the nodes whose records are not valid in a new try: the given ones, those that were compensated, and all
     * that depend on them; and the map nodes whose elements may be others in this try, because an upstream node has not
     * succeeded.
     */
    static List<String> withDependents(Graph graph, Recovered found, List<String> again) {
        BitSet chosen = new BitSet(graph.size);
        for (String id : again) {
            chosen.set(graph.indexOf(id));
        }
        for (String id : found.compensated) {
            if (graph.find(id) >= 0) { // otherwise it is of a nested run
                chosen.set(graph.indexOf(id));
            }
        }
        List<String> ids = new ArrayList<>();
        for (int node : graph.upstreamsFirst()) {
            boolean hasElements = found.elements.containsKey(graph.ids[node]);
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                int upstream = graph.up[edge];
                Entry.NodeEnded end = found.nodes.get(graph.ids[upstream]);
                if (chosen.get(upstream) || (hasElements && (end == null || !end.isSuccess()))) {
                    chosen.set(node);
                }
            }
            if (chosen.get(node)) {
                ids.add(graph.ids[node]);
            }
        }
        return ids;
    }

    private RunJournal ofMap(RunEnvironment inner) {
        String id = inner.graph.name;
        sizes.put(id, inner.graph.size);
        List<Entry> ends = new ArrayList<>();
        Map<Integer, @Nullable Object> known =
                hasFixedOrder(inner.parameter) ? recovered.elements.getOrDefault(id, Map.of()) : Map.of();
        known.forEach((index, value) -> {
            if (index < inner.graph.size) {
                ends.add(Entry.NodeEnded.succeeded(inner.graph.ids[index], value));
            }
        });
        return new RunJournal(inner, journal, new Recovered(ends), id, true, false);
    }

    /**
     * Returns whether collections that are equal to this one have the same order. Otherwise the positions of the
     * elements mean nothing to the next process, and all elements are processed again.
     */
    private static boolean hasFixedOrder(@Nullable Object elements) {
        return elements instanceof List || elements instanceof SortedSet;
    }

    // What was recorded before this run.

    /** Returns the current moment, by the clock of the journal. */
    Instant instant() {
        return journal.instant(run.time);
    }

    /** Returns the remaining part of a timeout of the run, which counts from the begin of the first process. */
    Duration remaining(Duration timeout, TimeSource time) {
        Instant begun = recovered.begun;
        if (begun == null) {
            return timeout;
        }
        Duration elapsed = Duration.between(begun, journal.instant(time));
        return elapsed.isNegative() ? timeout : timeout.minus(elapsed);
    }

    /** Returns the latest failed attempt of a node if no other attempt may follow it, else null. */
    @Nullable
    RecordedException exhausted(int node, int most) {
        Entry.AttemptFailed failed = recovered.attempts.get(run.graph.ids[node]);
        return failed != null && (failed.isLast() || failed.attempt() >= most)
                ? failed.failure().toException()
                : null;
    }

    /** Returns the time since the begin of the try. */
    long elapsedNanos() {
        return hasBegunTry || map != null ? 0 : nanosUntil(instant());
    }

    /** Returns the time of a moment since the begin of the try. */
    long nanosUntil(Instant moment) {
        Instant begun = recovered.begun;
        return begun == null ? 0 : Math.max(0, Deadline.nanos(Duration.between(begun, moment)));
    }

    /** Keeps the moment at which a node was triggered, which an earlier process has recorded by other ends. */
    void triggeredBefore(int node, Instant at) {
        triggers.put(node, at);
    }

    /** Returns the rest of a timeout of a node that an earlier process has triggered; null for other nodes. */
    @Nullable
    Duration untilDeadline(int node, Duration timeout) {
        Instant until = recovered.deadlines.get(run.graph.ids[node]);
        Instant triggered = triggers.get(node);
        Duration passed = triggered == null ? null : Duration.between(triggered, instant());
        return until != null
                ? Duration.between(instant(), until)
                : passed == null ? null : timeout.minus(passed.isNegative() ? Duration.ZERO : passed);
    }

    // Records.

    /**
     * Records an entry.
     *
     * @throws FencedException if the run is lost; its nodes have been ended
     * @throws Exception if the entry cannot be recorded
     */
    void record(Entry entry) throws Exception {
        run.requireNotLost();
        Throwable before = torn;
        if (before != null) {
            throw new IOException("the journal has lost an end of a node, and records nothing after that", before);
        }
        call(() -> journal.record(entry));
    }

    /** Calls the journal. If it is fenced, the run is lost. */
    private void call(CheckedFunction.V0 action) throws Exception {
        try {
            action.accept();
        } catch (FencedException fenced) {
            run.lose(fenced);
            throw fenced;
        }
    }

    /** Records the deadline of a node that is about to begin, unless an earlier process has. */
    void beginNode(int node, @Nullable Deadline deadline) throws Exception {
        String id = run.graph.ids[node];
        if (map == null && deadline != null && !recovered.deadlines.containsKey(id)) {
            record(new Entry.DeadlineSet(id, instant().plus(deadline.remaining())));
        }
    }

    /**
     * Called before the timeout of a node of this run, or of one nested in it, ends the node, and before the deadline
     * of the run ends all, with an empty path.
     */
    void timePassed(String path) {
        run.guard("timePassed() of the journal", run.graph.find(path), () -> journal.timePassed(path));
    }

    /** Called before an attempt, in its thread. */
    void beginAttempt(int node, NodeContext<?> context) throws Exception {
        attempts[node]++;
        recordBegin(node, attempts[node]);
        if (map == null) { // an element may have the id of a node of the plan
            isInside[node] = true;
            run.guard("attemptBegan() of the journal", node, () -> journal.attemptBegan(context));
        }
    }

    /** Called before a nested run is opened. Throws the failure of its node if that may not be attempted again. */
    void beginNested(int node) throws Exception {
        RecordedException before = exhausted(node, 1);
        if (before != null) {
            throw before;
        }
        recordBegin(node, attempts[node] + 1);
    }

    private void recordBegin(int node, int attempt) throws Exception {
        if (beginsAreRecorded) {
            record(new Entry.AttemptBegan(run.graph.ids[node], attempt));
        }
    }

    /** Called when the action of an attempt has returned, in its thread. */
    void attemptReturned(int node) throws Exception {
        if (isInside[node]) {
            call(() -> journal.attemptReturned(run.graph.ids[node]));
        }
    }

    /** Called when the end of an attempt was recorded or dropped, in its thread. */
    void endAttempt(int node) {
        if (isInside[node]) {
            isInside[node] = false;
            run.guard("attemptEnded() of the journal", node, () -> journal.attemptEnded(run.graph.ids[node]));
        }
    }

    /** Records a failed attempt, unless it is one of an earlier process. */
    void attemptFailed(int node, Throwable failure, boolean isLast) throws Exception {
        if (map == null && (isInside[node] || !(failure instanceof RecordedException))) {
            record(new Entry.AttemptFailed(
                    run.graph.ids[node], Math.max(1, attempts[node]), RecordedFailure.of(failure), isLast));
        }
    }

    /**
     * Records that a node has succeeded with a value, or with what a {@link NodeEnd} says.
     *
     * @param number the place in the sequence of ends
     */
    void succeeded(int node, Object slot, long number) throws Exception {
        String id = run.graph.ids[node];
        Object value = NodeStates.resultOf(slot);
        ValueSource via = slot instanceof NodeEnd end ? end.via() : ValueSource.ACTION;
        Integer size = sizes.get(id);
        if (map != null) {
            record(new Entry.ElementEnded(map, node, value));
        } else if (size != null && via == ValueSource.ACTION) {
            record(new Entry.MapEnded(id, size, number, instant()));
        } else {
            Throwable recoveredFrom = slot instanceof NodeEnd end ? end.cause() : null;
            recordEnd(node, NodeState.SUCCESS, via, value, recoveredFrom, number);
        }
    }

    private void recordEnd(
            int node, NodeState state, ValueSource via, @Nullable Object value, @Nullable Throwable cause, long number)
            throws Exception {
        RecordedFailure failure = cause == null ? null : RecordedFailure.of(cause);
        String id = run.graph.ids[node];
        record(new Entry.NodeEnded(id, state, via, value, attempts[node], failure, number, instant()));
    }

    /** Returns whether an earlier process has compensated a node in this try. */
    boolean isCompensated(int node) {
        return recovered.compensated.contains(run.graph.ids[node]);
    }

    /** Returns whether what an action has done was undone when its end could not be recorded. */
    boolean hasRolledBack(int node) {
        return isInside[node] && journal.hasRolledBack(run.graph.ids[node]);
    }

    /**
     * Records that a node has ended by itself without success. If that fails, the exception becomes a suppressed one of
     * the cause, and nothing more is recorded, because the next run, which runs the node again, could contradict it.
     *
     * @param number the place in the sequence of ends
     */
    void endedWithoutSuccess(int node, NodeState state, @Nullable Throwable cause, long number) {
        if (map != null || run.isLost()) {
            return; // the first failure of an element fails the map node
        }
        try {
            recordEnd(node, state, ValueSource.NONE, null, cause, number);
        } catch (Throwable failure) {
            torn = failure;
            if (cause == null) {
                run.report("journal", node, failure);
            } else {
                UserCode.addSuppressed(cause, failure);
            }
        }
    }

    // The end of the run.

    /** Records that nodes are about to be compensated, unless an earlier process has. */
    void compensating(FlowStatus status, @Nullable Throwable cause) throws Exception {
        if (map == null && recovered.compensating == null) {
            boolean before = isIncomplete;
            isIncomplete = true; // if this is not recorded, the next run comes here again
            RecordedFailure recordedCause = cause == null ? null : RecordedFailure.of(cause);
            record(new Entry.Compensating(status, recordedCause, instant()));
            isIncomplete = before;
        }
    }

    /** Returns the number of failed attempts to compensate a node, in earlier processes. */
    int failedUndos(int node) {
        return recovered.undoAttempts.getOrDefault(run.graph.ids[node], 0);
    }

    /** Called before an attempt to compensate a node, in its thread. */
    void beginUndo(NodeContext<?> context) {
        if (map == null) {
            isUndoing = true;
            run.guard("attemptBegan() of the journal", NodeEnd.NO_NODE, () -> journal.attemptBegan(context));
        }
    }

    /** Called when the end of such an attempt was recorded or dropped, in its thread. */
    void endUndo(int node) {
        if (isUndoing) {
            isUndoing = false;
            run.guard("attemptEnded() of the journal", node, () -> journal.attemptEnded(run.graph.ids[node]));
        }
    }

    /** Records that a node is compensated, when the function has returned. */
    void compensated(int node) throws Exception {
        if (map == null) {
            call(() -> journal.attemptReturned(run.graph.ids[node]));
            record(new Entry.Compensated(run.graph.ids[node]));
        }
    }

    void undoAttemptFailed(int node, int attempt, Throwable failure, boolean isLast) throws Exception {
        if (map == null) {
            record(new Entry.CompensationAttemptFailed(
                    run.graph.ids[node], attempt, RecordedFailure.of(failure), isLast));
        }
    }

    /** Leaves the end of the run unrecorded, so that the next run goes on: a compensation has failed for good. */
    void setIncomplete() {
        isIncomplete = true;
    }

    boolean isIncomplete() {
        return isIncomplete;
    }

    /** Records the end of the run, unless it is lost or its records are not complete. */
    void ended(FlowStatus status) {
        if (map != null || isIncomplete || run.isLost() || status == FlowStatus.LOST) {
            return;
        }
        try {
            record(new Entry.RunEnded(status));
        } catch (FencedException lost) {
            return; // which the status says
        } catch (Throwable failure) {
            run.report("journal", NodeEnd.NO_NODE, failure);
        }
    }
}
