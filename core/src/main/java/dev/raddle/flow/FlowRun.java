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
 * One run of a flow, from its start to the end of its last node. {@linkplain #join() Join} it, or {@linkplain #get() get} its
 * value; close it in any case.
 *
 * <p>What its nodes open inside, such as scopes, has no more time than the run.
 *
 * @param <R> the type of the value that it returns
 */
public final class FlowRun<R> extends Engine implements AutoCloseable {

    /** The thread that joins, if it runs the nodes. Nested runs take it for a scheduler. */
    private static final class Home implements Scheduler {
        private final ConcurrentLinkedQueue<Runnable> arrived = new ConcurrentLinkedQueue<>(); // from nested runs
        private volatile @Nullable Thread thread; // null while nobody joins

        @Nullable
        Runner runner; // written by the starter

        /** Takes note of who joins, unless somebody does. */
        synchronized boolean isTakenBy(Thread joining) {
            boolean isFree = thread == null;
            thread = isFree ? joining : thread;
            return isFree;
        }

        @Override
        public void execute(Runnable task) {
            arrived.add(task);
            LockSupport.unpark(thread);
        }
    }

    private static final VarHandle UNDECIDED;

    static {
        try {
            UNDECIDED = MethodHandles.lookup().findVarHandle(FlowRun.class, "undecided", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    private final FlowPlan.Returns returns;
    private final @Nullable Home home;
    private final Signal done = new Signal();
    private @Nullable FlowResult<R> result; // written before `done` is set
    /** A wait of the calling thread. */
    private interface Wait {
        void run() throws InterruptedException;
    }

    private volatile @Nullable Thread closer;
    private volatile @Nullable Thread joining; // for as long as it takes
    private @Nullable ConcurrentLinkedQueue<Handoff> awaited; // by the thread that joins; written before `joining`
    private @Nullable BitSet awaitedNodes; // likewise: those that it waits for; null for all

    @SuppressWarnings("UnusedVariable") // by UNDECIDED
    private volatile int undecided; // outputs that have not ended, or whose callbacks have not returned

    private volatile @Nullable Signal valueKnown; // set when there are none; null until a thread waits for that

    FlowRun(
            Graph graph,
            FlowPlan.Returns returns,
            @Nullable Object parameter,
            RunOptions options,
            @Nullable Engine outer,
            int outerNode) {
        super(graph, parameter, options, outer, outerNode);
        this.returns = returns;
        home = options.inCallersThread ? new Home() : null;
        undecided = graph.outputs.length;
    }

    RunOptions optionsForNested(OnFailure onFailure, int rootsAtOnce) {
        RunOptions nested = options.forNested(onFailure, time, rootsAtOnce);
        if (home != null) {
            nested.scheduler = home;
            nested.compute = home;
        }
        return nested;
    }

    @Override
    boolean isAtHome() {
        return home != null;
    }

    @Override
    boolean isGuest() {
        return options.scheduler instanceof Home;
    }

    @Override
    void wakeHome() {
        if (home != null) {
            LockSupport.unpark(home.thread);
        }
    }

    @Override
    void setHome(Runner runner) {
        Objects.requireNonNull(home).runner = runner;
    }

    @Override
    void wakeCloser() {
        LockSupport.unpark(closer);
    }

    @Override
    boolean isValueKnown() {
        return undecided == 0;
    }

    @Override
    void outputDecided() {
        if ((int) UNDECIDED.getAndAdd(this, -1) == 1) {
            Signal awaited = valueKnown; // who waits has set this before it has read the number
            if (awaited != null) {
                awaited.set();
            }
            wakeHome();
        }
    }

    @Override
    void finished(FlowStatus status, List<Throwable> compensationFailures, @Nullable Throwable stopCause) {
        result = new FlowResult<>(board, returns, status, now(), compensationFailures, stopCause);
        done.set();
        wakeHome();
        wakeCloser();
    }

    @Override
    FlowResult<R> result() {
        return Objects.requireNonNull(result);
    }

    /**
     * Cancels what has not ended. Running actions are interrupted. A run that has ended stays as it is.
     *
     * @param reason why, for people
     */
    public void cancel(String reason) {
        stop(reason);
    }

    /**
     * Waits for the end of the run: of all nodes, their callbacks and compensations. An action that was timed out or cancelled
     * may go on nevertheless; {@link #close()} waits for it.
     *
     * <p>If the run was started {@linkplain RunOptions#inCallersThread() in its caller's thread}, this is where it runs, and only
     * one thread may join.
     *
     * <p>If a task of a group joins, and a node could never begin because every slot of its group is taken by a task that waits
     * like this one, the node is FAILED with an {@link IllegalStateException}.
     *
     * @return what became of it
     * @throws InterruptedException if the caller was interrupted; the run goes on, and one may join again
     */
    public FlowResult<R> join() throws InterruptedException {
        if (options.groups == null || done.isSet() || endsByItself()) {
            serveAndWait();
        } else {
            waitForLong(null, this::serveAndWait);
        }
        return result();
    }

    private void serveAndWait() throws InterruptedException {
        if (home != null) {
            serve(home, false);
        }
        done.await();
    }

    /**
     * Waits; if that is done by a task of a group whose end a node would have to wait for, the node is refused.
     *
     * @param nodes those whose ends the caller waits for; null for all
     */
    private void waitForLong(@Nullable BitSet nodes, Wait wait) throws InterruptedException {
        ConcurrentLinkedQueue<Handoff> noted = new ConcurrentLinkedQueue<>();
        awaited = noted;
        awaitedNodes = nodes;
        joining = Thread.currentThread();
        try {
            refuseHopeless();
            wait.run();
        } finally {
            Thread self = Thread.currentThread();
            joining = null;
            for (Handoff handoff; (handoff = noted.poll()) != null; ) {
                handoff.endWait(self);
            }
        }
    }

    @Override
    boolean noteOwnWait(Handoff handoff) {
        Thread waiter = joining;
        if (waiter == null) {
            return false;
        }
        BitSet only = awaitedNodes;
        if (only != null && !only.get(nodeOf(handoff))) {
            return true; // the caller waits for others
        }
        if (handoff.beginWait(waiter)) {
            Objects.requireNonNull(awaited).add(handoff);
            if (joining != waiter) {
                handoff.endWait(waiter);
            }
        }
        return true;
    }

    private void serve(Home mine, boolean isForValue) throws InterruptedException {
        Runner runner = Objects.requireNonNull(mine.runner);
        if (!mine.isTakenBy(Thread.currentThread())) {
            throw new IllegalStateException("flow \"" + graph.name
                    + "\" runs in the thread that joins it, and another one joins it already; join it in one thread");
        }
        runner.isForValue = isForValue;
        arrive(runner);
        try {
            while (!(isForValue ? isValueKnown() : done.isSet())) {
                if (Thread.interrupted()) {
                    throw new InterruptedException();
                }
                if (!runAtHome(runner) && !runArrived(mine)) {
                    LockSupport.park(this);
                }
            }
        } finally {
            mine.thread = null;
            depart();
        }
    }

    private static boolean runArrived(Home mine) {
        Runnable arrived = mine.arrived.poll();
        if (arrived == null) {
            return false;
        }
        arrived.run();
        return true;
    }

    /**
     * Waits for the end of the run and returns its value.
     *
     * @return the value of the plan's output, or its default, null if the plan has no output
     * @throws FlowFailedException if the output has no value
     * @throws InterruptedException if the caller was interrupted; the run goes on
     * @see #awaitValue()
     */
    public R get() throws InterruptedException {
        return join().value();
    }

    /**
     * Waits until the plan's outputs have ended and returns the value of the run, while the rest of it goes on.
     *
     * {@snippet :
     * try (FlowRun<Page> run = plan.start(order)) {
     *     show(run.awaitValue()); // the page is there, and the audit is still being written
     *     run.join();             // close() would cancel it
     * }
     * }
     *
     * <p>The result callbacks of the outputs have returned by then. The run may still fail, and then undo what the value came
     * from. If it was started {@linkplain RunOptions#inCallersThread() in its caller's thread}, it goes on when one joins. A plan
     * without an output has its value when the run ends.
     *
     * @return the value of the plan's output, or its default, null if the plan has no output
     * @throws FlowFailedException as soon as it is certain that an output has no value; its status is that of the run so far
     * @throws InterruptedException if the caller was interrupted; the run goes on
     */
    public R awaitValue() throws InterruptedException {
        if (graph.outputs.length == 0) {
            return get();
        }
        if (options.groups == null || isValueKnown() || endsByItself()) {
            serveAndWaitForValue();
        } else {
            waitForLong(nodesOfValue(), this::serveAndWaitForValue);
        }
        return new FlowResult<R>(board, returns, status(), now(), List.of(), null).value();
    }

    private void serveAndWaitForValue() throws InterruptedException {
        if (home != null) {
            serve(home, true);
            return;
        }
        Signal known = signalOfValue();
        if (!isValueKnown()) {
            known.await();
        }
    }

    /** Returns the outputs and what leads to them. */
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
     * Tells whether the run has ended.
     *
     * @return true if {@link #join()} does not wait
     */
    public boolean isDone() {
        return done.isSet();
    }

    /**
     * Returns how a node stands.
     *
     * @param id which
     * @return its state now
     * @throws IllegalArgumentException if there is no such node
     */
    public NodeState state(String id) {
        return board.state(graph.indexOf(id));
    }

    /**
     * Cancels what has not ended, and waits until every action has returned. An interrupt does not end the waiting; the interrupt
     * status is kept. Closed again, this does nothing. One thread at a time may call this.
     *
     * @throws IllegalStateException if an action of this run calls it, which would wait for itself
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
        while (!done.isSet() || isAnybodyInside()) {
            if (home != null && runArrived(home)) {
                continue;
            }
            if (!done.isSet() && home == null) {
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
