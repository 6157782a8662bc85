package dev.raddle.flow;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.task.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Where the triggered nodes of a run go: to a thread that is there, to one that is called, or to their groups. */
abstract class Handover extends Decisions {

    /*
     * Overview.
     *
     * What is triggered by a node that has ended is handed over: all but one, which the runner runs next. Handed over nodes lie in a
     * stack (ReadyStack), one for each place: the run's scheduler, and the one for computing. The scheduler is called for threads, as
     * often as nodes were pushed, or as it has threads. A thread that comes takes nodes until there are none; so may any runner that
     * has nothing else to do. A call that finds nothing goes away. If a call is refused, one node of the stack fails for it, unless
     * calls are counted and a thread is on its way.
     *
     * Nodes with a group are placed there one by one, each with a handoff of its own, and the thread that the group gives a permit
     * to runs that node only. If that is the thread that places the node, the runner there does what follows when it is back from
     * the group: the permit is given back then, and a chain needs no stack.
     *
     * A run in its caller's thread has its home there: that thread keeps what it has made ready in a stack of its own, takes what
     * others have pushed while it joins, and is woken instead of called.
     */

    private static final VarHandle ALARM_THREAD;

    static {
        try {
            ALARM_THREAD = MethodHandles.lookup().findVarHandle(Handover.class, "alarmThread", AlarmThread.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    static final byte HERE = 0;
    static final byte COMPUTING = 1;
    static final byte GROUPED = 2;

    private final ReadyStack ready;
    private final @Nullable ReadyStack readyToCompute; // null if all nodes run in the same place
    private volatile @Nullable AlarmThread alarmThread; // null until it is needed
    private @Nullable Call call; // if one can be used again; a race makes two, and either will do

    Handover(Graph graph, RunOptions options) {
        super(graph, options);
        ready = new ReadyStack(board, options.scheduler);
        Scheduler compute = options.compute;
        readyToCompute =
                graph.hasComputing ? new ReadyStack(board, compute == null ? Scheduler.commonPool() : compute) : null;
    }

    /** Tells whether the thread that joins runs the nodes. */
    abstract boolean isAtHome();

    /** Notes that the thread that joins, if there is one, waits for a node in its group; fails if the node could never begin. */
    abstract void noteWait(Handoff handoff);

    /** Wakes the thread that joins, because there are nodes for it. */
    abstract void wakeHome();

    /** Returns what the functions of a node's groups, conditions and actions may see. */
    abstract NodeContext<?> contextOf(int node);

    abstract Call newCall(byte place);

    abstract Handoff newHandoff(int node);

    /** Has the run wait for one thing more before it has ended. */
    abstract void oneMoreToTell();

    /** Does something to nodes in a thread that runs none, tells of it, and hands over what follows. */
    abstract void asDecider(Consumer<Runner> action);

    final AlarmThread alarmThread() {
        AlarmThread known = alarmThread;
        if (known == null) {
            ALARM_THREAD.compareAndSet(this, (AlarmThread) null, new AlarmThread(graph.name, options.sink));
            known = Objects.requireNonNull(alarmThread);
        }
        return known;
    }

    // Handing over.

    /** Hands over what has become ready, but for one node that this runner runs itself. At home all are its own. */
    final void handOver(Runner runner) {
        if (runner.hasEnded()) {
            settleAll(runner); // some were ended while they were triggered
        }
        handOverReady(runner);
        if (runner.grouped.count > 0 && isOnAlarmThread() && !runner.placesAnywhere) {
            placeElsewhere(runner.grouped.takeAll());
        }
        for (int node; (node = runner.grouped.takeFirst(board)) >= 0; ) {
            placeInGroup(runner, node);
            settleAll(runner); // if it was refused, or has been run here
            handOverReady(runner);
        }
    }

    private void handOverReady(Runner runner) {
        while (runner.ready.count > 0) {
            ReadyNodes nodes = runner.ready;
            int first = nodes.first;
            int last = nodes.last;
            int count = nodes.count;
            nodes.clear();
            if (graph.hasComputing) {
                handOverByPlace(runner, first, count);
            } else {
                handOver(runner, HERE, first, last, count);
            }
            if (runner.hasEnded()) {
                settleAll(runner); // some were refused
            }
        }
    }

    private void handOverByPlace(Runner runner, int first, int count) {
        ReadyNodes here = new ReadyNodes();
        ReadyNodes computing = new ReadyNodes();
        int next = first;
        for (int each = 0; each < count; each++) {
            int node = next;
            next = board.below(node);
            (placeOf(node) == COMPUTING ? computing : here).add(board, node);
        }
        handOver(runner, HERE, here.first, here.last, here.count);
        handOver(runner, COMPUTING, computing.first, computing.last, computing.count);
    }

    /** Hands over a list of nodes for one place. The first comes to lie on top, or is kept. */
    private void handOver(Runner runner, byte place, int first, int last, int count) {
        if (count == 0) {
            return;
        }
        if (runner.isHome && isAtHome()) {
            board.link(last, runner.kept);
            runner.kept = first;
            return;
        }
        int pushed = first;
        int calls = count;
        if (runner.place == place
                && runner.kept < 0
                && runner.grouped.count == 0) { // a group may keep this thread for long
            pushed = board.below(first);
            calls--;
            board.link(first, NOBODY);
            runner.kept = first;
        }
        if (calls > 0) {
            readyFor(place).push(pushed, last);
            call(runner, place, calls);
        }
    }

    /** Calls for as many threads as nodes were pushed, or for as many as are of use. */
    private void call(Runner runner, byte place, int times) {
        if (isAtHome()) {
            wakeHome(); // it looks for nodes by itself
            return;
        }
        ReadyStack nodes = readyFor(place);
        int left = times;
        while (left > 0 && nodes.mayCall()) {
            left--;
            try {
                callOnce(runner, place, nodes);
            } catch (Throwable refusal) {
                if (nodes.countsCalls() && (nodes.isThreadComing() || runner.place == place)) {
                    refusedOneMore(refusal); // that thread, or this one, will see to the nodes
                    return;
                }
                int node = nodes.pop();
                if (node >= 0) {
                    neverRuns(runner, node, null, refusal);
                    left = nodes.countsCalls() ? Math.max(1, left) : left; // there may be more nodes than calls
                }
            }
        }
    }

    /** Calls for another thread if this one leaves nodes to it. If there is none, this one will take them all. */
    final void callAnother(Runner runner) {
        ReadyStack nodes = readyFor(runner.place);
        if (nodes.countsCalls() && !nodes.isEmpty() && nodes.mayCall()) {
            try {
                callOnce(runner, runner.place, nodes);
            } catch (Throwable refusal) {
                refusedOneMore(refusal);
            }
        }
    }

    private void refusedOneMore(Throwable refusal) {
        options.sink.report("call for one more thread for flow \"" + graph.name + "\"", refusal);
    }

    private void callOnce(Runner runner, byte place, ReadyStack nodes) {
        Scheduler scheduler = nodes.scheduler;
        // A fork-join pool must not hold one object twice: its queues tell by the object whether a place has changed.
        runner.now = -1; // that takes time
        Call call = scheduler == Scheduler.virtualThreads() ? callFor(place) : newCall(place);
        try {
            if (call.place(scheduler)) {
                runner.postponed |= 1 << place;
                nodes.hasCome();
            }
        } catch (Throwable refusal) {
            nodes.hasCome();
            throw refusal;
        }
    }

    private Call callFor(byte place) {
        if (place != HERE) {
            return newCall(place);
        }
        Call known = call;
        if (known == null) {
            known = newCall(place);
            call = known;
        }
        return known;
    }

    private byte placeOf(int node) {
        NodeOptions own = graph.options[node];
        return own != null && own.has(NodeOptions.COMPUTE) && !isAtHome() ? COMPUTING : HERE;
    }

    final boolean isOnAlarmThread() {
        AlarmThread alarms = alarmThread;
        return alarms != null && alarms.isHere();
    }

    /** Leaves it to another thread to place nodes in their groups, which may want them run by who places them. */
    final void placeElsewhere(ReadyNodes nodes) {
        oneMoreToTell(); // the keys of the groups are not asked for after the run's end
        new OffloadExecutor(options.sink)
                .execute(() -> asDecider(by -> {
                    by.finished++;
                    by.placesAnywhere = true; // here, if no other thread could be had
                    for (int node; (node = nodes.takeFirst(board)) >= 0; ) {
                        by.grouped.add(board, node);
                    }
                }));
    }

    private void placeInGroup(Runner runner, int node) {
        Handoff handoff = newHandoff(node);
        runner.now = -1; // that takes time
        try {
            Function<? super NodeContext<?>, String> function =
                    Objects.requireNonNull(graph.optionsOf(node).group());
            String key = carry(() -> function.apply(contextOf(node)));
            Scheduler group = Objects.requireNonNull(options.groups).apply(key);
            if (!board.step(node, unbegun(node), handoff)) {
                return;
            }
            handoff.place(group, runner);
            ensureHope(handoff);
            if (Board.isEnd(board.get(node))) {
                handoff.withdraw(); // who ended it may not have seen its place
            }
        } catch (Throwable refusal) {
            neverRuns(runner, node, handoff, refusal);
        }
    }

    /** Fails if a node will never begin, because its group is full of tasks that wait, with the one that joins the run among them. */
    private void ensureHope(Handoff handoff) {
        try {
            noteWait(handoff);
        } catch (IllegalStateException hopeless) {
            handoff.withdraw();
            throw hopeless;
        }
    }

    /** Refuses the nodes that wait in their groups and will never begin, because the calling thread is going to join. */
    final void refuseHopeless() {
        for (int node = 0; graph.hasGroups && node < graph.size; node++) {
            if (board.get(node) instanceof Handoff handoff) {
                try {
                    ensureHope(handoff);
                } catch (IllegalStateException hopeless) {
                    asDecider(by -> neverRuns(by, handoff.node, handoff, hopeless));
                }
            }
        }
    }

    // Refusals.

    /** Hears that a call for a thread was refused later: one of the ready nodes will not have one. */
    final void refused(byte place, RejectedExecutionException refusal) {
        ReadyStack nodes = readyFor(place);
        nodes.hasCome();
        if (nodes.countsCalls() && nodes.isThreadComing()) {
            refusedOneMore(refusal); // that thread will see to the nodes
            return;
        }
        int node = nodes.pop();
        if (node >= 0) {
            asDecider(by -> {
                neverRuns(by, node, null, refusal);
                if (nodes.countsCalls() && !nodes.isEmpty()) {
                    call(by, place, 1);
                }
            });
        }
    }

    /** Hears that a group will not run a node. */
    final void refused(Handoff handoff, RejectedExecutionException refusal) {
        asDecider(by -> neverRuns(by, handoff.node, handoff, refusal));
    }

    private void neverRuns(Runner by, int node, @Nullable Handoff handoff, Throwable refusal) {
        for (Object slot = board.get(node);
                slot == null || slot == Mark.Plain.READY || slot == handoff;
                slot = board.get(node)) {
            if (end(by, node, slot, NodeState.FAILED, refusal, Settled.Reason.PLACING, NOBODY, false)) {
                return;
            }
        }
    }

    // Taking.

    /** Calls for another thread, or for this one when it comes again, to run what this one was to run next. */
    final void handBack(Runner runner) {
        for (int node; (node = takeKept(runner)) >= 0; ) {
            readyFor(runner.place).push(node, node);
            call(runner, runner.place, 1);
        }
    }

    final int takeKept(Runner runner) {
        int node = runner.kept;
        if (node >= 0) {
            runner.kept = board.below(node);
        }
        return node;
    }

    /** Takes a node of the runner's place, or of another whose scheduler wants this thread to run it. */
    final int popFor(Runner runner) {
        int node = runner.place == GROUPED ? NOBODY : readyFor(runner.place).pop();
        for (byte place = HERE; node < 0 && place <= COMPUTING; place++) {
            if ((runner.postponed & 1 << place) != 0 && runner.place != GROUPED) {
                node = readyFor(place).pop();
                runner.place = place;
            }
        }
        return node;
    }

    final @Nullable Object unbegun(int node) {
        return graph.is(Graph.CHOOSES, node) ? Mark.Plain.READY : null;
    }

    final ReadyStack readyFor(byte place) {
        return place == COMPUTING ? Objects.requireNonNull(readyToCompute) : ready;
    }
}
