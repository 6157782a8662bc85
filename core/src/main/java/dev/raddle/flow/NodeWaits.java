package dev.raddle.flow;

import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.Runner;
import dev.raddle.flow.threads.Withdrawable;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.time.Instant;
import java.util.Arrays;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.jspecify.annotations.Nullable;

/** The nodes of one run that wait for a moment or a signal. */
final class NodeWaits {

    /*
     * Overview. A thread enters such a node like any other: it evaluates the condition and calls the begin callback and
     * the function that returns the moment. Then it changes the slot from its runner to a NodeWait and leaves. An alarm
     * or the thread that delivers the signal ends the node.
     *
     * Such a node is skipped when it becomes unneeded, although it has begun, so that a run does not last for days
     * because of it. If it becomes unneeded while a thread is still inside, it is marked (`unneededBy`), and that
     * thread skips it when it leaves. It is marked likewise while a signal for it is being recorded; it is then skipped
     * if that fails. The marking thread writes the mark and then reads the slot; the leaving thread writes the slot and
     * then reads the mark. So one of them skips the node, and the outcome does not depend on which thread is faster.
     */

    /** In the slot of a node it means that the node waits for a moment or a signal, without a thread. */
    final class NodeWait implements Withdrawable {
        final int node;
        final @Nullable Deadline until; // null for a signal
        private volatile @Nullable Alarm alarm; // null until it is armed

        private NodeWait(int node, @Nullable Deadline until) {
            this.node = node;
            this.until = until;
        }

        @Override
        public void withdraw() {
            Alarm armed = alarm;
            if (armed != null) {
                armed.cancel();
            }
        }

        /** Claims the node for a signal that is about to be recorded. Returns null if it has ended. */
        NodePhase.@Nullable Recording tryClaim() {
            NodePhase.Recording recording = new NodePhase.Recording(this);
            return run.states.compareAndSet(node, this, recording) ? recording : null;
        }

        /**
         * Lets the node wait again, because the signal could not be recorded, and ends it if that was left to this
         * thread.
         */
        void unclaim(NodePhase.Recording claimed) {
            driver.runTransitions(runner -> {
                if (run.states.compareAndSet(node, claimed, this)) {
                    transitions.endIfStopping(runner, node);
                    skipIfUnneeded(runner, this);
                }
            });
        }

        /**
         * Ends the node with a value, unless it has ended, in a thread that is not inside the run. Returns whether it
         * has succeeded by this.
         *
         * @param expected the content of the node's slot
         */
        boolean end(NodePhase expected, Object value) {
            boolean[] succeeded = new boolean[1];
            driver.runTransitions(runner -> succeeded[0] = transitions.succeed(runner, node, expected, value));
            return succeeded[0];
        }
    }

    private final RunFacts run;
    private final Run driver;
    private final NodeTransitions transitions;
    private final AtomicIntegerArray unneededBy; // the node whose decision has made a node unneeded, or -1

    NodeWaits(RunFacts run, Run driver, NodeTransitions transitions) {
        this.run = run;
        this.driver = driver;
        this.transitions = transitions;
        int[] none = new int[run.graph.size];
        Arrays.fill(none, NodeEnd.NO_NODE);
        unneededBy = new AtomicIntegerArray(none);
    }

    /**
     * Marks a node as unneeded that a thread is inside of. Returns false if that thread has left it meanwhile; then the
     * caller looks at the node again.
     */
    boolean tryMarkUnneeded(int node, @Nullable Object slot, int decided) {
        unneededBy.compareAndSet(node, NodeEnd.NO_NODE, decided);
        return run.states.get(node) == slot;
    }

    /**
     * Returns how long a node sleeps from now, or null if it waits for a signal. A journal keeps the moment, so that a
     * later run ends the sleep at the same one.
     */
    @Nullable
    Duration lengthOf(int node) throws Exception {
        if (run.graph.signalTypeOf(node) != null) {
            return null;
        }
        RunJournal journal = run.outermostJournal();
        String path = run.path(node);
        Instant known = journal == null ? null : journal.recovered.sleeps.get(path);
        if (journal != null && known != null) {
            return Duration.between(journal.instant(), known);
        }
        Object awaited = run.callInStarterContext(() -> run.graph.bodies[node].call(run, node));
        Object given = Objects.requireNonNull(awaited, () -> noMoment(node));
        Instant now = journal == null ? run.time.instant() : journal.instant();
        Duration until = given instanceof Instant moment ? Duration.between(now, moment) : (Duration) given;
        Duration length = Duration.ofNanos(Deadline.nanos(until)); // a moment beyond the range is no failure
        if (journal != null && length.isPositive()) {
            journal.record(new Entry.SleepUntil(path, now.plus(length)));
        }
        return length;
    }

    /** Returns how long a node still sleeps, by the content of its slot. */
    static Optional<Duration> sleepLeft(@Nullable Object slot) {
        return slot instanceof NodeWait wait && wait.until != null
                ? Optional.of(wait.until.remaining())
                : Optional.empty();
    }

    private String noMoment(int node) {
        return "the function of the sleep \"" + run.graph.ids[node] + "\" of flow \"" + run.graph.name
                + "\" returned null; return a length or a moment";
    }

    /**
     * Begins the wait of a node, or ends the node if there is nothing to wait for.
     *
     * @param expected the content of the node's slot
     * @param length the time until the end of a sleep; null for a signal
     */
    void begin(Runner runner, int node, Object expected, @Nullable Duration length) {
        if (length != null && !length.isPositive()) {
            transitions.succeed(runner, node, expected, NodeStates.NULL);
            return;
        }
        NodeWait wait = new NodeWait(node, length == null ? null : Deadline.after(run.time, length));
        run.states.recordBegin(node, runner.began);
        if (!run.states.compareAndSet(node, expected, wait)) {
            if (expected == runner) {
                transitions.handleEndedByOther(runner, node);
            }
            return;
        }
        runner.now = -1;
        if (length == null) {
            awaitSignal(runner, wait);
        } else {
            arm(runner, wait);
        }
        skipIfUnneeded(runner, wait);
    }

    private void awaitSignal(Runner runner, NodeWait wait) {
        SignalBox box = Objects.requireNonNull(run.signalBox(wait.node));
        if (box.await(wait)) {
            transitions.succeed(runner, wait.node, wait, box.slotValue());
        }
    }

    /** Arms the alarm of a sleep. */
    private void arm(Runner runner, NodeWait wait) {
        try {
            Deadline until = Objects.requireNonNull(wait.until);
            wait.alarm = until.alarm(() -> run.decide(() -> wait.end(wait, NodeStates.NULL)));
        } catch (Throwable noTime) {
            transitions.end(runner, wait.node, wait, NodeEnd.Verdict.failed(noTime, NodeEnd.Reason.UNTIMED));
            return;
        }
        if (NodeStates.isEnd(run.states.get(wait.node))) {
            wait.withdraw(); // the thread that ended it may not have seen the alarm
        }
    }

    private void skipIfUnneeded(Runner runner, NodeWait wait) {
        int decided = unneededBy.get(wait.node);
        if (decided >= 0) {
            transitions.consequences.trySkip(runner, wait.node, wait, decided); // before it began to wait
        }
    }
}
