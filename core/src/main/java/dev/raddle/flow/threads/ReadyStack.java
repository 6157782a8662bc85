package dev.raddle.flow.threads;

import dev.raddle.lock.Fields;
import dev.raddle.task.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The ready nodes of one run that wait for a thread of one scheduler, and the count of requests for such threads. */
public final class ReadyStack {

    /*
     * Overview. Each node is pushed at most once, so there is no ABA problem, and one compare-and-set pushes any number
     * of nodes together. The links are in NodeLinks.
     *
     * The scheduler receives one request for a thread for each pushed node. If it has a known number of threads, at
     * most that many requests are outstanding at a time; `requests` counts them. Then there may be more nodes than
     * requests, and
     *
     *   the stack is not empty only while a request is outstanding, or a thread is about to place one
     *
     * because a thread that executes a request first decrements the count, then takes a node, and then requests another
     * thread if it leaves any nodes. A thread that pushes does so first and then reads the count: either it sees that
     * the last request has been executed, and places one, or the thread of that request sees the pushed nodes.
     */

    private static final VarHandle TOP = Fields.handle(MethodHandles.lookup(), "top", int.class);
    private static final VarHandle REQUESTS = Fields.handle(MethodHandles.lookup(), "requests", int.class);

    public final Scheduler scheduler;
    /** Whether requests are counted, so that there may be more nodes than requests. */
    public final boolean countsRequests;

    private final NodeLinks links;
    private final int threads; // of the scheduler
    private volatile int top = NodeLinks.NO_NODE;
    private volatile int requests;

    public ReadyStack(NodeLinks links, Scheduler scheduler) {
        this.links = links;
        this.scheduler = scheduler;
        threads = Math.max(1, scheduler.parallelism());
        countsRequests = threads != Integer.MAX_VALUE;
    }

    public boolean isEmpty() {
        return top < 0;
    }

    /** Pushes a list of linked nodes, the first on top. */
    public void push(int first, int last) {
        int below;
        do {
            below = top;
            links.link(last, below);
        } while (!TOP.compareAndSet(this, below, first));
    }

    /** Removes and returns the node on top, or -1. */
    public int pop() {
        int node;
        do {
            node = top;
        } while (node >= 0 && !TOP.compareAndSet(this, node, links.below(node)));
        return node;
    }

    public boolean hasRequests() {
        return requests > 0;
    }

    /** Counts one more request, unless the scheduler cannot use it. Returns whether the caller must place it. */
    public boolean tryAddRequest() {
        if (!countsRequests) {
            return true;
        }
        int known;
        do {
            known = requests;
            if (known >= threads) {
                return false;
            }
        } while (!REQUESTS.compareAndSet(this, known, known + 1));
        return true;
    }

    /** Called when a request has been executed or refused. Decrements the count of requests. */
    public void removeRequest() {
        if (countsRequests) {
            REQUESTS.getAndAdd(this, -1);
        }
    }
}
