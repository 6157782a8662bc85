package dev.raddle.flow;

import dev.raddle.flow.threads.GroupPlacement;
import dev.raddle.flow.threads.GroupWaits;
import dev.raddle.flow.threads.NodePhase;
import dev.raddle.flow.threads.ReadyNodes;
import dev.raddle.flow.threads.ReadyStack;
import dev.raddle.flow.threads.RunEntry;
import dev.raddle.flow.threads.RunRequest;
import dev.raddle.flow.threads.Runner;
import dev.raddle.task.Scheduler;
import java.util.Objects;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Dispatches the triggered nodes of a run: to the current thread, to threads of a scheduler, or to their groups. */
final class Dispatcher {

    /*
     * Overview.
     *
     * When a node has ended, the nodes that it triggered are pushed onto a stack (ReadyStack), except for one, which
     * the runner keeps and runs next. There is one stack for each place: the scheduler of the run, and the scheduler
     * for compute nodes. The scheduler receives one request (RunRequest) for each pushed node, or as many requests as
     * it has threads. A thread that executes a request enters the run (RunEntry) and takes nodes until there are none;
     * so may any idle runner. A request that finds no node returns. If a request is refused, one node of the stack
     * fails, unless requests are counted and another one is outstanding.
     *
     * Nodes with a group are placed there one by one, each by its own GroupPlacement, and the thread that receives the
     * permit runs that node only. If this is the placing thread, its runner processes the consequences after it has
     * returned from the group: the permit is released by then, and a chain of nodes does not grow the stack.
     *
     * In a run in its caller's thread, the joining thread (the joiner) keeps the nodes that it triggered in a stack of
     * its own, takes the nodes that other threads have pushed, and is unparked instead of requested.
     */

    private final RunFacts run;
    private final RunEntry entry;
    private final NodeTransitions transitions;
    final @Nullable GroupWaits waits; // null if the run has no groups
    private final ReadyStack ready;
    private final @Nullable ReadyStack readyToCompute; // null if all nodes run in the same place
    private final @Nullable RunRequest reusable; // can be placed again; null if each placement needs a new one

    Dispatcher(RunFacts run, RunEntry entry, NodeTransitions transitions, @Nullable GroupWaits waits) {
        this.run = run;
        this.entry = entry;
        this.transitions = transitions;
        this.waits = waits;
        ready = new ReadyStack(run.states, run.options.scheduler);
        reusable = run.joiner == null && ready.scheduler == Scheduler.virtualThreads()
                ? new RunRequest(entry, Runner.RUN_SCHEDULER)
                : null;
        Scheduler compute = run.options.compute;
        readyToCompute = run.graph.hasComputing
                ? new ReadyStack(run.states, compute == null ? Scheduler.commonPool() : compute)
                : null;
    }

    // Dispatching.

    /**
     * Dispatches the triggered nodes, except for one that this runner keeps. The joiner keeps all of them.
     *
     * @return false if nodes have ended, or may have; then the caller processes their ends and calls this method again
     */
    boolean dispatch(Runner runner) {
        if (runner.ready.count > 0) {
            if (run.graph.hasComputing) {
                dispatchByPlace(runner);
            } else {
                dispatch(runner, Runner.RUN_SCHEDULER, runner.ready);
            }
            if (runner.hasEnded()) {
                return false; // some nodes were refused
            }
        }
        return runner.grouped.count == 0 || !placeNext(runner);
    }

    private void dispatchByPlace(Runner runner) {
        ReadyNodes here = new ReadyNodes();
        ReadyNodes computing = new ReadyNodes();
        for (int node; (node = runner.ready.takeFirst(run.states)) >= 0; ) {
            (placeOf(node) == Runner.COMPUTE_SCHEDULER ? computing : here).add(run.states, node);
        }
        dispatch(runner, Runner.RUN_SCHEDULER, here);
        dispatch(runner, Runner.COMPUTE_SCHEDULER, computing);
    }

    /** Dispatches a list of nodes to one place. The first becomes the top of the stack, or is kept. */
    private void dispatch(Runner runner, byte place, ReadyNodes triggered) {
        int first = triggered.first;
        int last = triggered.last;
        int requests = triggered.count;
        triggered.clear();
        if (requests == 0) {
            return;
        }
        if (runner.isJoiner && run.joiner != null) {
            run.states.link(last, runner.kept);
            runner.kept = first;
            return;
        }
        int pushed = first;
        if (runner.place == place
                && runner.kept < 0
                && runner.grouped.count == 0) { // a group may occupy this thread for long
            pushed = run.states.below(first);
            requests--;
            run.states.link(first, NodeEnd.NO_NODE);
            runner.kept = first;
        }
        if (requests > 0) {
            ReadyStack nodes = readyFor(place);
            nodes.push(pushed, last);
            requestThreads(runner, place, nodes, requests);
        }
    }

    /** Requests as many threads as nodes were pushed, or as many as the scheduler can use. */
    private void requestThreads(Runner runner, byte place, ReadyStack nodes, int times) {
        if (run.joiner != null) {
            run.joiner.wake(); // it takes the nodes itself
            return;
        }
        int left = times;
        while (left > 0 && nodes.tryAddRequest()) {
            left--;
            try {
                requestThread(runner, place, nodes);
            } catch (Throwable refusal) {
                if (nodes.countsRequests && (nodes.hasRequests() || runner.place == place)) {
                    reportRefusal(refusal); // that thread, or this one, takes the nodes
                    return;
                }
                int node = nodes.pop();
                if (node >= 0) {
                    failRefused(runner, node, null, refusal);
                    left = nodes.countsRequests ? Math.max(1, left) : left; // there may be more nodes than requests
                }
            }
        }
    }

    /** Requests another thread if nodes are left in the stack. If none is available, this thread takes all of them. */
    void requestAnother(Runner runner) {
        ReadyStack nodes = runner.place == Runner.GROUPED ? null : readyFor(runner.place);
        if (nodes != null
                && nodes.countsRequests
                && !nodes.isEmpty()
                && !run.progress.isStopping()
                && nodes.tryAddRequest()) {
            try {
                requestThread(runner, runner.place, nodes);
            } catch (Throwable refusal) {
                reportRefusal(refusal);
            }
        }
    }

    private void reportRefusal(Throwable refusal) {
        run.sink.report("request for another thread for flow \"" + run.graph.name + "\"", refusal);
    }

    private void requestThread(Runner runner, byte place, ReadyStack nodes) {
        runner.now = -1; // the scheduler takes time
        // A fork-join pool must not contain one task twice: its queues detect a changed slot by the task's identity.
        RunRequest request = reusable == null || nodes != ready ? new RunRequest(entry, place) : reusable;
        try {
            if (request.place(nodes.scheduler)) {
                runner.postponed |= 1 << place;
                nodes.removeRequest();
            }
        } catch (Throwable refusal) {
            nodes.removeRequest();
            throw refusal;
        }
    }

    private byte placeOf(int node) {
        NodeOptions own = run.graph.options[node];
        return own != null && own.has(NodeOptions.COMPUTE) && run.joiner == null
                ? Runner.COMPUTE_SCHEDULER
                : Runner.RUN_SCHEDULER;
    }

    // Placing in groups.

    /** Places the next node with a group. Returns false if there is none. */
    private boolean placeNext(Runner runner) {
        int node = runner.grouped.takeFirst(run.states);
        if (node < 0) {
            return false;
        }
        placeInGroup(runner, node);
        return true; // it may have been refused, or run in this thread
    }

    /** Places nodes in their groups in another thread, because a group may run them in the placing thread. */
    void placeElsewhere(ReadyNodes nodes) {
        if (!run.progress.tryAddRemaining()) {
            return; // the group keys must not be computed after the end of the run
        }
        run.runElsewhere(() -> entry.runTransitions(runner -> {
            runner.finished++;
            for (int node; (node = nodes.takeFirst(run.states)) >= 0; ) {
                runner.grouped.add(run.states, node);
            }
        }));
    }

    private void placeInGroup(Runner runner, int node) {
        GroupPlacement placement = new GroupPlacement(entry, run, node);
        runner.now = -1; // the group takes time
        try {
            Function<? super NodeContext<?>, String> function = Objects.requireNonNull(run.graph.optionsOf(node).group);
            String key = run.callInStarterContext(() -> function.apply(run.contextOf(node)));
            Scheduler group = Objects.requireNonNull(run.options.groups).apply(key);
            if (!run.states.compareAndSet(node, transitions.consequences.readyPhase(node), placement)) {
                return;
            }
            placement.place(group, runner);
            ensureCanBegin(placement);
            if (NodeStates.isEnd(run.states.get(node))) {
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
            if (waits != null && run.deadline() == null) { // a deadline ends the run in any case
                waits.register(placement);
            }
        } catch (IllegalStateException deadlock) {
            placement.withdraw();
            throw deadlock;
        }
    }

    /** Fails the nodes that wait in their groups and can never begin, because the calling thread is about to join. */
    void refuseDeadlocked() {
        for (int node = 0; run.graph.hasGroups && node < run.graph.size; node++) {
            if (run.states.get(node) instanceof GroupPlacement placement) {
                try {
                    ensureCanBegin(placement);
                } catch (IllegalStateException deadlock) {
                    entry.runTransitions(runner -> failRefused(runner, placement.node, placement, deadlock));
                }
            }
        }
    }

    // Refusals.

    /**
     * Called when a scheduler refuses a request after accepting it. Fails one of the ready nodes, unless another thread
     * takes it.
     */
    void handleRefusal(byte place, RejectedExecutionException refusal) {
        ReadyStack nodes = readyFor(place);
        nodes.removeRequest();
        if (nodes.countsRequests && nodes.hasRequests()) {
            reportRefusal(refusal); // that thread takes the nodes
            return;
        }
        int node = nodes.pop();
        if (node >= 0) {
            entry.runTransitions(runner -> {
                failRefused(runner, node, null, refusal);
                if (nodes.countsRequests && !nodes.isEmpty()) {
                    requestThreads(runner, place, nodes, 1);
                }
            });
        }
    }

    /** Called when a group refuses to run a node. */
    void handleRefusal(GroupPlacement placement, RejectedExecutionException refusal) {
        entry.runTransitions(runner -> failRefused(runner, placement.node, placement, refusal));
    }

    private void failRefused(Runner runner, int node, @Nullable GroupPlacement placement, Throwable refusal) {
        for (Object slot = run.states.get(node);
                slot == null || slot == NodePhase.Plain.READY || slot == placement;
                slot = run.states.get(node)) {
            if (transitions.end(runner, node, slot, NodeEnd.Verdict.failed(refusal, NodeEnd.Reason.PLACING))) {
                return;
            }
        }
    }

    // Taking.

    /** Pushes the kept nodes and requests threads for them, possibly this thread when it joins again. */
    void pushBack(Runner runner) {
        while (runner.kept >= 0) {
            int node = take(runner);
            ReadyStack nodes = readyFor(runner.place);
            nodes.push(node, node);
            requestThreads(runner, runner.place, nodes, 1);
        }
    }

    /** Takes the next node that a runner runs: one that it keeps, or one of its place; -1 if there is none. */
    int take(Runner runner) {
        int node = runner.kept;
        if (node < 0) {
            return popFor(runner);
        }
        runner.kept = run.states.below(node);
        return node;
    }

    /** Takes a node of the runner's place, or of one whose scheduler executes nodes in this thread. */
    private int popFor(Runner runner) {
        int node = runner.place == Runner.GROUPED
                ? NodeEnd.NO_NODE
                : readyFor(runner.place).pop();
        for (byte place = Runner.RUN_SCHEDULER; node < 0 && place <= Runner.COMPUTE_SCHEDULER; place++) {
            if ((runner.postponed & 1 << place) != 0 && runner.place != Runner.GROUPED) {
                node = readyFor(place).pop();
                runner.place = place;
            }
        }
        return node;
    }

    ReadyStack readyFor(byte place) {
        return place == Runner.COMPUTE_SCHEDULER ? Objects.requireNonNull(readyToCompute) : ready;
    }
}
