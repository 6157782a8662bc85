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

/** Dispatches the triggered nodes of a run: to the current thread, to threads of a scheduler, or to their groups. */
abstract class Dispatcher extends NodeTransitions {

    /*
     * Overview.
     *
     * When a node has ended, the nodes that it triggered are pushed onto a stack (ReadyStack), except for one, which
     * the runner keeps and runs next. There is one stack for each place: the scheduler of the run, and the scheduler
     * for compute nodes. The scheduler receives one request (RunRequest) for each pushed node, or as many requests as
     * it has threads. A thread that executes a request takes nodes until there are none; so may any idle
     * runner. A request that finds no node returns. If a request is refused, one node of the stack fails, unless
     * requests are counted and another one is outstanding.
     *
     * Nodes with a group are placed there one by one, each by its own GroupPlacement, and the thread that receives the
     * permit runs that node only. If this is the placing thread, its runner processes the consequences after it has
     * returned from the group: the permit is released by then, and a chain of nodes does not grow the stack.
     *
     * In a run in its caller's thread, the joining thread (the joiner) keeps the nodes that it triggered in a stack of
     * its own, takes the nodes that other threads have pushed, and is unparked instead of requested.
     */

    private static final VarHandle ALARM_THREAD;

    static {
        try {
            ALARM_THREAD = MethodHandles.lookup().findVarHandle(Dispatcher.class, "alarmThread", AlarmThread.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    static final byte RUN_SCHEDULER = 0;
    static final byte COMPUTE_SCHEDULER = 1;
    static final byte GROUPED = 2;

    private final ReadyStack ready;
    private final @Nullable ReadyStack readyToCompute; // null if all nodes run in the same place
    private volatile @Nullable AlarmThread alarmThread; // created on first use
    private @Nullable RunRequest reusable; // can be placed again; a race creates two, either can be used

    Dispatcher(Graph graph, RunOptions options) {
        super(graph, options);
        ready = new ReadyStack(states, options.scheduler);
        Scheduler compute = options.compute;
        readyToCompute =
                graph.hasComputing ? new ReadyStack(states, compute == null ? Scheduler.commonPool() : compute) : null;
    }

    /** Returns whether the joining thread executes the nodes. */
    abstract boolean runsInJoiner();

    /**
     * Registers that the joining thread, if there is one, waits for a node in its group; throws if the node could never
     * begin.
     */
    abstract void registerWait(GroupPlacement placement);

    /** Unparks the joining thread, because there are nodes for it. */
    abstract void wakeJoiner();

    /** Returns the context that the group, condition and action functions of a node receive. */
    abstract NodeContext<?> contextOf(int node);

    abstract AlarmThread newAlarmThread();

    abstract RunRequest newRequest(byte place);

    abstract GroupPlacement newPlacement(int node);

    /** Increments the count that must be zero before the run ends. */
    abstract void addRemaining();

    /**
     * Applies transitions in a thread that runs no node, processes their consequences, and dispatches the triggered
     * nodes.
     */
    abstract void runTransitions(Consumer<Runner> action);

    final AlarmThread alarmThread() {
        AlarmThread known = alarmThread;
        if (known == null) {
            ALARM_THREAD.compareAndSet(this, (AlarmThread) null, newAlarmThread());
            known = Objects.requireNonNull(alarmThread);
        }
        return known;
    }

    // Dispatching.

    /** Dispatches the triggered nodes, except for one that this runner keeps. The joiner keeps all of them. */
    final void dispatch(Runner runner) {
        if (runner.hasEnded()) {
            settleAll(runner); // some nodes ended while they were triggered
        }
        dispatchReady(runner);
        if (runner.grouped.count > 0 && isOnAlarmThread() && !runner.placesAnywhere) {
            placeElsewhere(runner.grouped.takeAll());
        }
        for (int node; (node = runner.grouped.takeFirst(states)) >= 0; ) {
            placeInGroup(runner, node);
            settleAll(runner); // it was refused, or has been run in this thread
            dispatchReady(runner);
        }
    }

    private void dispatchReady(Runner runner) {
        while (runner.ready.count > 0) {
            ReadyNodes nodes = runner.ready;
            int first = nodes.first;
            int last = nodes.last;
            int count = nodes.count;
            nodes.clear();
            if (graph.hasComputing) {
                dispatchByPlace(runner, first, count);
            } else {
                dispatch(runner, RUN_SCHEDULER, first, last, count);
            }
            if (runner.hasEnded()) {
                settleAll(runner); // some nodes were refused
            }
        }
    }

    private void dispatchByPlace(Runner runner, int first, int count) {
        ReadyNodes here = new ReadyNodes();
        ReadyNodes computing = new ReadyNodes();
        int next = first;
        for (int each = 0; each < count; each++) {
            int node = next;
            next = states.below(node);
            (placeOf(node) == COMPUTE_SCHEDULER ? computing : here).add(states, node);
        }
        dispatch(runner, RUN_SCHEDULER, here.first, here.last, here.count);
        dispatch(runner, COMPUTE_SCHEDULER, computing.first, computing.last, computing.count);
    }

    /** Dispatches a list of nodes to one place. The first becomes the top of the stack, or is kept. */
    private void dispatch(Runner runner, byte place, int first, int last, int count) {
        if (count == 0) {
            return;
        }
        if (runner.isJoiner && runsInJoiner()) {
            states.link(last, runner.kept);
            runner.kept = first;
            return;
        }
        int pushed = first;
        int requests = count;
        if (runner.place == place
                && runner.kept < 0
                && runner.grouped.count == 0) { // a group may occupy this thread for long
            pushed = states.below(first);
            requests--;
            states.link(first, NO_NODE);
            runner.kept = first;
        }
        if (requests > 0) {
            readyFor(place).push(pushed, last);
            requestThreads(runner, place, requests);
        }
    }

    /** Requests as many threads as nodes were pushed, or as many as the scheduler can use. */
    private void requestThreads(Runner runner, byte place, int times) {
        if (runsInJoiner()) {
            wakeJoiner(); // it takes the nodes itself
            return;
        }
        ReadyStack nodes = readyFor(place);
        int left = times;
        while (left > 0 && nodes.tryAddRequest()) {
            left--;
            try {
                requestThread(runner, place, nodes);
            } catch (Throwable refusal) {
                if (nodes.countsRequests() && (nodes.hasRequests() || runner.place == place)) {
                    reportRefusal(refusal); // that thread, or this one, takes the nodes
                    return;
                }
                int node = nodes.pop();
                if (node >= 0) {
                    failRefused(runner, node, null, refusal);
                    left = nodes.countsRequests() ? Math.max(1, left) : left; // there may be more nodes than requests
                }
            }
        }
    }

    /** Requests another thread if nodes are left in the stack. If none is available, this thread takes all of them. */
    final void requestAnother(Runner runner) {
        ReadyStack nodes = readyFor(runner.place);
        if (nodes.countsRequests() && !nodes.isEmpty() && nodes.tryAddRequest()) {
            try {
                requestThread(runner, runner.place, nodes);
            } catch (Throwable refusal) {
                reportRefusal(refusal);
            }
        }
    }

    private void reportRefusal(Throwable refusal) {
        options.sink.report("request for another thread for flow \"" + graph.name + "\"", refusal);
    }

    private void requestThread(Runner runner, byte place, ReadyStack nodes) {
        Scheduler scheduler = nodes.scheduler;
        runner.now = -1; // the scheduler takes time
        // A fork-join pool must not contain one task twice: its queues detect a changed slot by the task's identity.
        RunRequest request = scheduler == Scheduler.virtualThreads() ? requestFor(place) : newRequest(place);
        try {
            if (request.place(scheduler)) {
                runner.postponed |= 1 << place;
                nodes.removeRequest();
            }
        } catch (Throwable refusal) {
            nodes.removeRequest();
            throw refusal;
        }
    }

    private RunRequest requestFor(byte place) {
        if (place != RUN_SCHEDULER) {
            return newRequest(place);
        }
        RunRequest known = reusable;
        if (known == null) {
            known = newRequest(place);
            reusable = known;
        }
        return known;
    }

    private byte placeOf(int node) {
        NodeOptions own = graph.options[node];
        return own != null && own.has(NodeOptions.COMPUTE) && !runsInJoiner() ? COMPUTE_SCHEDULER : RUN_SCHEDULER;
    }

    final boolean isOnAlarmThread() {
        AlarmThread alarms = alarmThread;
        return alarms != null && alarms.isCurrentThread();
    }

    /** Places nodes in their groups in another thread, because a group may run them in the placing thread. */
    final void placeElsewhere(ReadyNodes nodes) {
        addRemaining(); // the group keys must not be computed after the end of the run
        new OffloadExecutor(options.sink)
                .execute(() -> runTransitions(runner -> {
                    runner.finished++;
                    runner.placesAnywhere = true; // even on the alarm thread, if no other was available
                    for (int node; (node = nodes.takeFirst(states)) >= 0; ) {
                        runner.grouped.add(states, node);
                    }
                }));
    }

    private void placeInGroup(Runner runner, int node) {
        GroupPlacement placement = newPlacement(node);
        runner.now = -1; // the group takes time
        try {
            Function<? super NodeContext<?>, String> function =
                    Objects.requireNonNull(graph.optionsOf(node).group());
            String key = callInStarterContext(() -> function.apply(contextOf(node)));
            Scheduler group = Objects.requireNonNull(options.groups).apply(key);
            if (!states.compareAndSet(node, readyPhase(node), placement)) {
                return;
            }
            placement.place(group, runner);
            ensureCanBegin(placement);
            if (NodeStates.isEnd(states.get(node))) {
                placement.withdraw(); // the thread that ended it may not have seen the placement
            }
        } catch (Throwable refusal) {
            failRefused(runner, node, placement, refusal);
        }
    }

    /**
     * Throws if a node can never begin, because its group is full of waiting tasks, among them the one that joins the
     * run.
     */
    private void ensureCanBegin(GroupPlacement placement) {
        try {
            registerWait(placement);
        } catch (IllegalStateException deadlock) {
            placement.withdraw();
            throw deadlock;
        }
    }

    /** Fails the nodes that wait in their groups and can never begin, because the calling thread is about to join. */
    final void refuseDeadlocked() {
        for (int node = 0; graph.hasGroups && node < graph.size; node++) {
            if (states.get(node) instanceof GroupPlacement placement) {
                try {
                    ensureCanBegin(placement);
                } catch (IllegalStateException deadlock) {
                    runTransitions(runner -> failRefused(runner, placement.node, placement, deadlock));
                }
            }
        }
    }

    // Refusals.

    /**
     * Called when a scheduler refuses a request after accepting it. Fails one of the ready nodes, unless another thread
     * takes it.
     */
    final void handleRefusal(byte place, RejectedExecutionException refusal) {
        ReadyStack nodes = readyFor(place);
        nodes.removeRequest();
        if (nodes.countsRequests() && nodes.hasRequests()) {
            reportRefusal(refusal); // that thread takes the nodes
            return;
        }
        int node = nodes.pop();
        if (node >= 0) {
            runTransitions(runner -> {
                failRefused(runner, node, null, refusal);
                if (nodes.countsRequests() && !nodes.isEmpty()) {
                    requestThreads(runner, place, 1);
                }
            });
        }
    }

    /** Called when a group refuses to run a node. */
    final void handleRefusal(GroupPlacement placement, RejectedExecutionException refusal) {
        runTransitions(runner -> failRefused(runner, placement.node, placement, refusal));
    }

    private void failRefused(Runner runner, int node, @Nullable GroupPlacement placement, Throwable refusal) {
        for (Object slot = states.get(node);
                slot == null || slot == NodePhase.Plain.READY || slot == placement;
                slot = states.get(node)) {
            if (end(runner, node, slot, NodeState.FAILED, refusal, NodeEnd.Reason.PLACING, NO_NODE, false)) {
                return;
            }
        }
    }

    // Taking.

    /** Pushes the kept nodes and requests threads for them, possibly this thread when it joins again. */
    final void pushBack(Runner runner) {
        for (int node; (node = takeKept(runner)) >= 0; ) {
            readyFor(runner.place).push(node, node);
            requestThreads(runner, runner.place, 1);
        }
    }

    final int takeKept(Runner runner) {
        int node = runner.kept;
        if (node >= 0) {
            runner.kept = states.below(node);
        }
        return node;
    }

    /** Takes a node of the runner's place, or of one whose scheduler executes nodes in this thread. */
    final int popFor(Runner runner) {
        int node = runner.place == GROUPED ? NO_NODE : readyFor(runner.place).pop();
        for (byte place = RUN_SCHEDULER; node < 0 && place <= COMPUTE_SCHEDULER; place++) {
            if ((runner.postponed & 1 << place) != 0 && runner.place != GROUPED) {
                node = readyFor(place).pop();
                runner.place = place;
            }
        }
        return node;
    }

    final @Nullable Object readyPhase(int node) {
        return graph.is(Graph.CHOOSES, node) ? NodePhase.Plain.READY : null;
    }

    final ReadyStack readyFor(byte place) {
        return place == COMPUTE_SCHEDULER ? Objects.requireNonNull(readyToCompute) : ready;
    }
}
