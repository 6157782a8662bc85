package dev.raddle.flow;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.task.Scheduler;
import dev.raddle.time.Signal;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
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
public final class FlowRun<R> extends Engine implements AutoCloseable {

    /** The joining thread, if it executes the nodes. The scheduler of nested runs. */
    private static final class Joiner implements Scheduler {
        private final ConcurrentLinkedQueue<Runnable> submitted = new ConcurrentLinkedQueue<>(); // from nested runs
        private volatile @Nullable Thread thread; // null while no thread joins

        @Nullable
        Runner runner; // written by the starter

        /** Sets the joining thread, unless there is one. Returns whether it was set. */
        synchronized boolean tryClaim(Thread joining) {
            boolean isFree = thread == null;
            thread = isFree ? joining : thread;
            return isFree;
        }

        @Override
        public void execute(Runnable task) {
            submitted.add(task);
            LockSupport.unpark(thread);
        }
    }

    private static final VarHandle PENDING_OUTPUTS;

    static {
        try {
            PENDING_OUTPUTS = MethodHandles.lookup().findVarHandle(FlowRun.class, "pendingOutputs", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final FlowPlan.Returns returns;
    private final @Nullable Joiner joiner;
    private final Signal done = new Signal();
    private @Nullable FlowResult<R> result; // written before `done` is set

    /** A wait of the calling thread. */
    private interface Wait {
        void run() throws InterruptedException;
    }

    private volatile @Nullable Thread closer;
    private volatile @Nullable Thread joining; // non-null during a registered wait
    private @Nullable ConcurrentLinkedQueue<GroupPlacement> awaited; // by the joining thread; written before `joining`
    private @Nullable BitSet awaitedNodes; // likewise: the nodes that it waits for; null for all

    @SuppressWarnings("UnusedVariable") // accessed by PENDING_OUTPUTS
    private volatile int pendingOutputs; // outputs that have not ended, or whose callbacks have not returned

    private volatile @Nullable Signal valueKnown; // set when there are none; null until a thread waits for it

    FlowRun(
            Graph graph,
            FlowPlan.Returns returns,
            @Nullable Object parameter,
            RunOptions options,
            @Nullable Engine outer,
            int outerNode) {
        super(graph, parameter, options, outer, outerNode);
        this.returns = returns;
        joiner = options.inCallersThread ? new Joiner() : null;
        pendingOutputs = graph.outputs.length;
    }

    RunOptions optionsForNested(OnFailure onFailure, int rootsAtOnce) {
        RunOptions nested = options.forNested(onFailure, time, rootsAtOnce);
        if (joiner != null) {
            nested.scheduler = joiner;
            nested.compute = joiner;
        }
        return nested;
    }

    @Override
    boolean runsInJoiner() {
        return joiner != null;
    }

    @Override
    boolean runsInOuterJoiner() {
        return options.scheduler instanceof Joiner;
    }

    @Override
    void wakeJoiner() {
        if (joiner != null) {
            LockSupport.unpark(joiner.thread);
        }
    }

    @Override
    void setJoiner(Runner runner) {
        Objects.requireNonNull(joiner).runner = runner;
    }

    @Override
    void wakeCloser() {
        LockSupport.unpark(closer);
    }

    @Override
    boolean isValueKnown() {
        return pendingOutputs == 0;
    }

    @Override
    void countDownOutputs() {
        if ((int) PENDING_OUTPUTS.getAndAdd(this, -1) == 1) {
            Signal awaited = valueKnown; // a waiting thread writes this before it reads the count
            if (awaited != null) {
                awaited.set();
            }
            wakeJoiner();
        }
    }

    @Override
    void finished(FlowStatus status, List<Throwable> compensationFailures, @Nullable Throwable stopCause) {
        result = new FlowResult<>(states, returns, status, now(), compensationFailures, stopCause);
        done.set();
        wakeJoiner();
        wakeCloser();
    }

    @Override
    FlowResult<R> result() {
        return Objects.requireNonNull(result);
    }

    /**
     * Cancels all nodes that have not ended. Running actions are interrupted. Does nothing if the run has ended.
     *
     * @param reason the reason, for messages
     */
    public void cancel(String reason) {
        stop(reason);
    }

    /**
     * Waits for the end of the run: of all nodes, their callbacks and compensations. An action that has timed out or
     * was cancelled may still be running; {@link #close()} waits for it.
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
    public FlowResult<R> join() throws InterruptedException {
        if (options.groups == null || done.isSet() || hasDeadline()) {
            runAndWait();
        } else {
            waitRegistered(null, this::runAndWait);
        }
        return result();
    }

    private void runAndWait() throws InterruptedException {
        if (joiner != null) {
            runUntil(joiner, false);
        }
        done.await();
    }

    /**
     * Waits, and registers the wait with the groups of the nodes. A node fails if it can begin only after the end of
     * the calling task, because waiting tasks like this one occupy its group.
     *
     * @param nodes the nodes that the caller waits for, or null for all
     * @param wait the wait
     */
    private void waitRegistered(@Nullable BitSet nodes, Wait wait) throws InterruptedException {
        ConcurrentLinkedQueue<GroupPlacement> noted = new ConcurrentLinkedQueue<>();
        awaited = noted;
        awaitedNodes = nodes;
        joining = Thread.currentThread();
        try {
            refuseDeadlocked();
            wait.run();
        } finally {
            Thread self = Thread.currentThread();
            joining = null;
            for (GroupPlacement placement; (placement = noted.poll()) != null; ) {
                placement.endWait(self);
            }
        }
    }

    @Override
    boolean registerOwnWait(GroupPlacement placement) {
        Thread waiter = joining;
        if (waiter == null) {
            return false;
        }
        BitSet only = awaitedNodes;
        if (only != null && !only.get(nodeOf(placement))) {
            return true; // the caller waits for other nodes only
        }
        if (placement.beginWait(waiter)) {
            Objects.requireNonNull(awaited).add(placement);
            if (joining != waiter) {
                placement.endWait(waiter);
            }
        }
        return true;
    }

    private void runUntil(Joiner joiner, boolean isForValue) throws InterruptedException {
        Runner runner = Objects.requireNonNull(joiner.runner);
        if (!joiner.tryClaim(Thread.currentThread())) {
            throw new IllegalStateException("flow \"" + graph.name
                    + "\" runs in the thread that joins it, and another one joins it already; join it in one thread");
        }
        runner.isForValue = isForValue;
        enterJoiner(runner);
        try {
            while (!(isForValue ? isValueKnown() : done.isSet())) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (!runInJoiner(runner) && !runSubmitted(joiner)) {
                    LockSupport.park(this);
                }
            }
        } finally {
            joiner.thread = null;
            exitJoiner();
        }
    }

    private static boolean runSubmitted(Joiner joiner) {
        Runnable submitted = joiner.submitted.poll();
        if (submitted == null) {
            return false;
        }
        submitted.run();
        return true;
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
    public R awaitValue() throws InterruptedException {
        if (graph.outputs.length == 0) {
            return get();
        }
        if (options.groups == null || isValueKnown() || hasDeadline()) {
            runAndWaitForValue();
        } else {
            waitRegistered(nodesOfValue(), this::runAndWaitForValue);
        }
        return new FlowResult<R>(states, returns, status(), now(), List.of(), null).value();
    }

    private void runAndWaitForValue() throws InterruptedException {
        if (joiner != null) {
            runUntil(joiner, true);
            return;
        }
        Signal known = signalOfValue();
        if (!isValueKnown()) {
            known.await();
        }
    }

    /** Returns the outputs and their upstream nodes. */
    private BitSet nodesOfValue() {
        BitSet nodes = graph.ancestorsOf(graph.outputs);
        for (int output : graph.outputs) {
            nodes.set(output);
        }
        return nodes;
    }

    private synchronized Signal signalOfValue() {
        Signal known = valueKnown;
        if (known == null) {
            known = new Signal();
            valueKnown = known;
        }
        return known;
    }

    /**
     * Returns whether the run has ended.
     *
     * @return whether {@link #join()} would return without waiting
     */
    public boolean isDone() {
        return done.isSet();
    }

    /**
     * Returns the current state of a node.
     *
     * @param id the id of the node
     * @return its state
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeState state(String id) {
        return states.state(graph.indexOf(id));
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
        if (EnclosingScope.isInside(this)) {
            throw new IllegalStateException("an action of flow \"" + graph.name
                    + "\" closes its own run and would wait for itself; call cancel, or close it where it was started");
        }
        cancel("it was closed before its end");
        boolean interrupted = false;
        closer = Thread.currentThread();
        while (!done.isSet() || hasThreadsInside()) {
            if (joiner != null && runSubmitted(joiner)) {
                continue;
            }
            if (!done.isSet() && joiner == null) {
                interrupted |= awaitDone();
            } else {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private boolean awaitDone() {
        try {
            done.await();
            return false;
        } catch (InterruptedException interrupt) {
            return true;
        }
    }

    @Override
    public String toString() {
        return "run of " + label() + (isDone() ? ", ended" : "");
    }
}
