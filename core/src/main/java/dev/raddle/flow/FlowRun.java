package dev.raddle.flow;

import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.GroupWaits;
import dev.raddle.flow.threads.JoiningThread;
import dev.raddle.flow.threads.Runner;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.BitSet;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One run of a flow, from its start to the end of its last node. {@linkplain #join() Join} it, or {@linkplain #get()
 * get} its value; close it in any case.
 *
 * <p>Scopes and other enclosures that are opened by its nodes are limited by the deadline of the run.
 *
 * @param <R> the type of the value of the run
 */
public final class FlowRun<R> implements TaskContext.Owner, AutoCloseable {

    private final Engine engine;

    /** Creates the handle of a run that has begun. */
    FlowRun(Engine engine) {
        this.engine = engine;
    }

    /**
     * Cancels all nodes that have not ended. Running actions are interrupted. Does nothing if the run has ended.
     *
     * @param reason the reason, for messages
     */
    public void cancel(String reason) {
        StackRoom.ensure();
        engine.stop(reason);
    }

    /**
     * Ends the run in this process without deciding its outcome: it becomes {@link FlowStatus#LOST}. Running actions
     * are interrupted. Nothing is compensated, no result callback is called, and nothing more is recorded in the
     * journal, so another process can continue the run from there, whereas a run that is cancelled or closed
     * compensates and has ended. Does nothing if the run has ended.
     *
     * @param reason the reason, for messages
     */
    public void abandon(String reason) {
        StackRoom.ensure();
        engine.abandon(reason);
    }

    /**
     * {@linkplain #abandon Abandons} the run if it only waits: if each node that has not ended sleeps, waits for a
     * signal, or depends on such nodes. Its journal has all that it needs to continue, so a process with many waiting
     * runs can keep most of them in their journals only.
     *
     * {@snippet :
     * run.abandonIfWaiting("it waits for days", Duration.ofMinutes(1))
     *         .ifPresent(wait -> continueLater(order, wait)); // or at a signal
     * }
     *
     * <p>A node that runs is never interrupted by this, and none begins during the call. A run also does not only wait
     * while a node waits for a thread, for a permit of its group or for its next attempt, while a subflow or a {@code
     * map} has begun, whose nodes are not recorded, or while an action has timed out and not returned.
     *
     * <p>A signal that is delivered during this call may be recorded and yet not continue the run, nor shorten the
     * returned time: the caller must not deliver signals at the same time, or continue the run after one.
     *
     * @param reason the reason, for messages
     * @param atLeast the shortest time for which a run is abandoned
     * @return the time after which the run must be continued: until a sleep ends, or a node or the run times out;
     *     {@link java.time.temporal.ChronoUnit#FOREVER} if only a signal can continue it; empty if the run was not
     *     abandoned, for example because it has no journal
     */
    public Optional<Duration> abandonIfWaiting(String reason, Duration atLeast) {
        StackRoom.ensure();
        return engine.abandonIfWaiting(reason, atLeast);
    }

    /**
     * Waits for the end of the run: of all nodes, their callbacks and compensations. An action that has timed out or
     * was cancelled may still be running, or be about to begin if that happened during its begin callback; {@link
     * #close()} waits for it.
     *
     * <p>If the run was started {@linkplain RunOptions#inCallersThread() in its caller's thread}, this method executes
     * its nodes, and only one thread may join.
     *
     * <p>If a task of a group joins, and a node could never begin because every slot of its group is taken by a task
     * that waits like this one, the node is FAILED with an {@link IllegalStateException}.
     *
     * @return the result of the run
     * @throws InterruptedException if the caller was interrupted; the run continues, and can be joined again
     */
    @SuppressWarnings("unchecked") // the plan was built for this type
    public FlowResult<R> join() throws InterruptedException {
        await(false);
        return (FlowResult<R>) engine.result();
    }

    /**
     * Waits for the end of the run, or for its value. The wait is registered with the groups of the nodes: a node fails
     * if it can begin only after the end of the calling task, because waiting tasks like this one occupy its group.
     */
    private void await(boolean isForValue) throws InterruptedException {
        GroupWaits waits = engine.dispatcher.waits;
        if (waits == null || isOver(isForValue) || engine.run.deadline() != null) {
            runAndWait(isForValue);
            return;
        }
        ConcurrentLinkedQueue<GroupPlacement> noted = waits.begin(isForValue ? nodesOfValue() : null);
        try {
            engine.dispatcher.refuseDeadlocked();
            runAndWait(isForValue);
        } finally {
            waits.end(noted);
        }
    }

    private void runAndWait(boolean isForValue) throws InterruptedException {
        if (engine.run.joiner != null) {
            runUntil(engine.run.joiner, isForValue);
        }
        Signal end = isForValue ? engine.run.progress.valueKnownSignal() : engine.done;
        if (!isOver(isForValue)) {
            end.await();
        }
    }

    private boolean isOver(boolean isForValue) {
        return isForValue ? engine.run.progress.isValueKnown() : engine.done.isSet();
    }

    private void runUntil(JoiningThread joiner, boolean isForValue) throws InterruptedException {
        Runner runner = Objects.requireNonNull(joiner.runner);
        if (!joiner.tryClaim()) {
            throw new IllegalStateException("flow \"" + engine.run.graph.name
                    + "\" runs in the thread that joins it, and another one joins it already; join it in one thread");
        }
        runner.isForValue = isForValue;
        engine.enterJoiner(runner);
        try {
            while (!isOver(isForValue)) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (!engine.runInJoiner(runner) && !joiner.runSubmitted()) {
                    engine.exitJoiner(runner); // a run whose threads only wait may be abandoned
                    try {
                        LockSupport.park(this);
                    } finally {
                        engine.enterJoiner(runner);
                    }
                }
            }
        } finally {
            joiner.release();
            engine.exitJoiner(runner);
        }
    }

    /**
     * Waits for the end of the run and returns its value.
     *
     * @return the value of the plan's output, or its default, null if the plan has no output
     * @throws FlowFailedException if the output has no value
     * @throws InterruptedException if the caller was interrupted; the run continues
     * @see #awaitValue()
     */
    public R get() throws InterruptedException {
        return join().value();
    }

    /**
     * Waits until the plan's outputs have ended and returns the value of the run. The other nodes continue.
     *
     * {@snippet :
     * try (FlowRun<Page> run = plan.start(order)) {
     *     show(run.awaitValue()); // the page is complete, the audit is still being written
     *     run.join();             // close() would cancel the audit
     * }
     * }
     *
     * <p>The result callbacks of the outputs have returned by then. The run may still fail, and then undo the nodes
     * that the value was computed from. If it was started {@linkplain RunOptions#inCallersThread() in its caller's
     * thread}, it continues when a thread joins it. If the plan has no output, this method waits for the end of the
     * run.
     *
     * @return the value of the plan's output, or its default, null if the plan has no output
     * @throws FlowFailedException if an output has no value; its status is that of the run so far
     * @throws InterruptedException if the caller was interrupted; the run continues
     */
    @SuppressWarnings("unchecked") // the plan was built for this type
    public R awaitValue() throws InterruptedException {
        if (engine.run.graph.outputs.length == 0) {
            return get();
        }
        await(true);
        return (R) engine.resultSoFar().value();
    }

    /** Returns the outputs and their upstream nodes. */
    private BitSet nodesOfValue() {
        int[] outputs = engine.run.graph.outputs;
        BitSet nodes = engine.run.graph.ancestorsOf(outputs);
        for (int output : outputs) {
            nodes.set(output);
        }
        return nodes;
    }

    /**
     * Returns whether the run has ended.
     *
     * @return whether {@link #join()} would return without waiting
     */
    public boolean isDone() {
        return engine.done.isSet();
    }

    /**
     * Returns the current state of a node.
     *
     * @param id the id of the node
     * @return its state
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeState state(String id) {
        return engine.run.states.state(engine.run.graph.indexOf(id));
    }

    /**
     * Returns how long a node that was declared by {@link FlowBuilder#sleep} still sleeps.
     *
     * @param id the id of the node
     * @return the time that is left; empty if the node does not sleep now
     * @throws IllegalArgumentException if there is no such node
     */
    public Optional<Duration> sleepLeft(String id) {
        return NodeWaits.sleepLeft(engine.run.states.get(engine.run.graph.indexOf(id)));
    }

    /** Cancels and closes the run, whose caller could not wait for it, and adds what its compensations have thrown. */
    void stop(Throwable failure) {
        cancel(failure instanceof InterruptedException ? "its caller was interrupted" : "its caller could not wait");
        close();
        for (CompensationFailure failed : engine.result().compensationFailures()) {
            UserCode.addSuppressed(failure, failed.cause());
        }
    }

    /**
     * Delivers a value to a node that was declared by {@link FlowBuilder#signal}. Exactly one delivery has an effect.
     * If the node has not been reached, the value is kept until then; a timeout of the node that passes afterwards has
     * no effect. If it waits, its callbacks are called in this thread, otherwise in the thread that reaches it.
     *
     * @param id the id of the node; for a node of a nested flow the ids of its path, separated by slashes
     * @param value the value; null only if its class is {@code Void}
     * @return false if a value was delivered before, or the node has ended or timed out
     * @throws IllegalArgumentException if there is no such signal, or the value is not of its class
     * @throws IllegalStateException if the journal cannot record the value; nothing was delivered
     * @throws FencedException if the run belongs to another process
     */
    public boolean signal(String id, @Nullable Object value) {
        return engine.signal(id, value);
    }

    /**
     * Cancels all nodes that have not ended, and waits until every action has returned. If the caller is interrupted,
     * this method continues to wait and preserves the interrupt status. A second call has no effect. Only one thread at
     * a time may call this.
     *
     * @throws IllegalStateException if an action of this run calls this method, which would wait for itself
     */
    @Override
    public void close() {
        if (EnclosingScope.isInside(engine.run)) {
            throw new IllegalStateException("an action of flow \"" + engine.run.graph.name
                    + "\" closes its own run and would wait for itself; call cancel, or close it where it was started");
        }
        cancel("it was closed before its end");
        boolean interrupted = false;
        engine.setCloser(Thread.currentThread());
        while (!engine.done.isSet() || engine.hasThreadsInside()) {
            if (engine.run.joiner != null && engine.run.joiner.runSubmitted()) {
                continue;
            }
            if (!engine.done.isSet() && engine.run.joiner == null) {
                interrupted |= awaitDone();
            } else {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
        }
        engine.setCloser(null);
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitDone() {
        try {
            engine.done.await();
            return false;
        } catch (InterruptedException interrupt) {
            return true;
        }
    }

    /**
     * Returns the deadline at which the nodes that have not ended are timed out. A node whose end is being recorded in
     * a journal is not: it ends when it is recorded.
     *
     * @return the deadline, or null if there is none
     */
    @Override
    public @Nullable Deadline deadline() {
        return engine.run.deadline();
    }

    /**
     * Returns the label of this run in messages.
     *
     * @return a text with the name of the flow
     */
    @Override
    public String label() {
        return engine.run.label();
    }

    @Override
    public String toString() {
        return "run of " + label() + (isDone() ? ", ended" : "");
    }
}
