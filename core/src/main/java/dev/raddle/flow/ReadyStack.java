package dev.raddle.flow;

import dev.raddle.task.Scheduler;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/** The ready nodes of one run that wait for a thread of one scheduler, and the calls for such threads. */
final class ReadyStack {

    /*
     * Overview. A node is pushed once in its life, so a compare-and-set is all that the stack takes, for any number of nodes that
     * are pushed together; links are in the board.
     *
     * For each pushed node the scheduler is called for a thread. But one that says how many threads it has is not called more often
     * at once: `coming` counts its calls under way. Then there may be more nodes than calls, and
     *
     *   there are nodes only while a call is under way, or somebody sees to it that one is
     *
     * because a thread that comes counts down first, takes a node, and calls for another thread if it leaves any. Who pushes does
     * that first and then reads the count: either it sees that the last call has come, and calls, or that one sees its nodes.
     */

    private static final VarHandle TOP;
    private static final VarHandle COMING;

    static {
        try {
            MethodHandles.Lookup lookup = MethodHandles.lookup();
            TOP = lookup.findVarHandle(ReadyStack.class, "top", int.class);
            COMING = lookup.findVarHandle(ReadyStack.class, "coming", int.class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    final Scheduler scheduler;
    private final Board board;
    private final int threads; // of the scheduler; calls are not counted if it does not say
    private volatile int top = Settled.NOBODY;
    private volatile int coming;

    ReadyStack(Board board, Scheduler scheduler) {
        this.board = board;
        this.scheduler = scheduler;
        threads = Math.max(1, scheduler.parallelism());
    }

    boolean isEmpty() {
        return top < 0;
    }

    /** Pushes nodes that are linked, the first on top. */
    void push(int first, int last) {
        int below;
        do {
            below = top;
            board.link(last, below);
        } while (!TOP.compareAndSet(this, below, first));
    }

    /** Takes the node on top, or -1. */
    int pop() {
        int node;
        do {
            node = top;
        } while (node >= 0 && !TOP.compareAndSet(this, node, board.below(node)));
        return node;
    }

    /** Tells whether there may be more nodes than calls. */
    boolean countsCalls() {
        return threads != Integer.MAX_VALUE;
    }

    boolean isThreadComing() {
        return coming > 0;
    }

    /** Tells whether one call more is of use. It is under way then. */
    boolean mayCall() {
        if (!countsCalls()) {
            return true;
        }
        int known;
        do {
            known = coming;
            if (known >= threads) {
                return false;
            }
        } while (!COMING.compareAndSet(this, known, known + 1));
        return true;
    }

    /** Hears that a call is not under way any more. */
    void hasCome() {
        if (countsCalls()) {
            COMING.getAndAdd(this, -1);
        }
    }
}
