package dev.raddle.flow;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** What stands in the slots and counters of one run, and the atomic steps between. */
final class Board {

    /*
     * Overview.
     *
     * Each node has one slot, which says all about it:
     *
     *   null ──► READY ──► Handoff ──► Runner ──► Beginning ──► Runner ──► a value, or Settled
     *                                    │                        ▲ │
     *                                    └──► Nested ─────────────┼─┴──► INTERRUPTING ──► Settled
     *
     *   null          pending
     *   READY         what it waited for is there; only of nodes that choose among their upstreams
     *   Handoff       waits for a permit of its group, without a thread; only of nodes with a group
     *   Runner        that thread is inside the node
     *   Beginning     that thread is inside the node's begin callback, or tells the listener of its start
     *   Nested        a run of its own goes on in its place
     *   INTERRUPTING  somebody is calling interrupt() on that thread
     *   ENDING        ended; a supplier is being asked for its default
     *   otherwise     ended: the value itself, NULL for null, or Settled for all other ends
     *
     * Steps are compare-and-sets, may leave out what does not apply, and lead from any mark to Settled, if somebody decides the
     * node from outside; but not from Beginning: whoever meets that comes back when the callback is over. So a node whose begin
     * callback was called is entered, and one that is decided before is not.
     *
     * Besides, there are numbers, which start as the plan says:
     *
     *   pending    of a node: musts, afters and clauses that are not met. Who brings it to zero has triggered the node.
     *   consumers  of a node: undecided nodes that have an edge from it, under KEEP_GOING also those that have failed without
     *              running; one more if it is a sink, an output or essential. At zero
     *              nobody needs it any more, and it is skipped if it is pending.
     *   needed     of a clause: successes that are missing
     *   lost       of a clause: its upstreams that have ended without success
     *   winner     of a clause: its upstream whose success met it, or -1
     *
     * A run in its caller's thread whose nodes nobody decides from outside is alone: its thread counts without atomic steps. Only
     * who ends the whole run counts beside it. Then counts may be lost, so that something is not triggered or not skipped; it is
     * ended all the same, and nothing is triggered too early, since a lost count never brings a number nearer to its goal.
     *
     * A node lets go of its upstreams, once, when it is decided: when a node that chooses steps to READY, or when any node steps
     * from null to its end. A node that does not choose begins only when all of its upstreams have ended, and nobody asks for
     * their consumers then. So each edge is gone over twice at most, once in each direction.
     */

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(int[].class);
    private static final VarHandle CONSUMERS;

    static {
        try {
            CONSUMERS = MethodHandles.lookup().findVarHandle(Board.class, "consumers", int[].class);
        } catch (ReflectiveOperationException impossible) {
            throw new ExceptionInInitializerError(impossible);
        }
    }

    /** The value null. */
    static final Object NULL = new Object();

    final Graph graph;
    final @Nullable Object[] slots;
    private final int[] counters;
    private final boolean alone; // whether one thread counts, but for those that end the run
    private volatile int @Nullable [] consumers; // null until a node lets go

    /*
     * When each node began and ended, with the precision of a float: seven digits of the time since the run began, which is
     * enough for people. Zero if it did not; written by who decides the node. Null if nobody wants to know.
     */
    private final float @Nullable [] times;

    Board(Graph graph, boolean timed, boolean alone) {
        this.graph = graph;
        this.alone = alone;
        slots = new Object[graph.size];
        counters = graph.pending.clone();
        times = timed ? new float[2 * graph.size] : null;
    }

    @Nullable
    Object get(int node) {
        return SLOT.getAcquire(slots, node);
    }

    boolean step(int node, @Nullable Object from, Object to) {
        return SLOT.compareAndSet(slots, node, from, to);
    }

    void set(int node, Object to) {
        SLOT.setVolatile(slots, node, to);
    }

    static boolean isEnd(@Nullable Object slot) {
        return slot != null && !(slot instanceof Mark);
    }

    /** Counts one pending thing less; true if that was the last. */
    boolean isTriggered(int node) {
        return graph.is(Graph.WAITS_FOR_ONE, node) || count(counters, node, -1) == 1;
    }

    /** Counts one consumer less; true if that was the last. */
    boolean isUnneeded(int node) {
        return count(consumers(), node, -1) == 1;
    }

    /** Adds to a number and returns what it was. */
    private int count(int[] numbers, int position, int by) {
        if (alone) {
            int was = numbers[position];
            numbers[position] = was + by;
            return was;
        }
        return (int) COUNT.getAndAdd(numbers, position, by);
    }

    /** Adds a consumer that never lets go. Before anything runs. */
    void pin(int node) {
        consumers()[node]++;
    }

    private int[] consumers() {
        int[] known = consumers;
        if (known == null) {
            CONSUMERS.compareAndSet(this, (int[]) null, graph.consumers.clone());
            known = Objects.requireNonNull(consumers);
        }
        return known;
    }

    /**
     * Puts a ready node on top of others. Nobody counts it any more, so its counter holds the next one.
     *
     * @param below what lay on top before
     */
    void link(int node, int below) {
        counters[node] = below;
    }

    int below(int node) {
        return counters[node];
    }

    /** Counts a success for a clause; true if it is met by that. */
    boolean isMet(int clause, int by) {
        boolean met = count(counters, graph.size + clause, -1) == 1;
        if (met) {
            COUNT.setVolatile(counters, winnerOf(clause), by);
        }
        return met;
    }

    /** Counts for a clause an upstream that ended without success; true if the clause has become impossible by that. */
    boolean isImpossible(int clause) {
        int lost = count(counters, graph.size + graph.clauses() + clause, 1) + 1;
        return lost == graph.clauseSize[clause] - graph.clauseNeeded[clause] + 1;
    }

    /** Returns the upstream whose success met a clause, which is the first of an any; or -1. */
    int winner(int clause) {
        return (int) COUNT.getVolatile(counters, winnerOf(clause));
    }

    private int winnerOf(int clause) {
        return graph.size + 2 * graph.clauses() + clause;
    }

    NodeState state(int node) {
        Object slot = get(node);
        if (slot == null || slot == Mark.Plain.READY) {
            return NodeState.PENDING;
        }
        if (slot instanceof Mark) {
            return slot instanceof Handoff ? NodeState.WAITING : NodeState.RUNNING;
        }
        return slot instanceof Settled settled ? settled.state() : NodeState.SUCCESS;
    }

    Via via(int node) {
        Object slot = get(node);
        if (!isEnd(slot)) {
            return Via.NONE;
        }
        return slot instanceof Settled settled ? settled.via() : Via.ACTION;
    }

    @Nullable
    Throwable cause(int node) {
        return get(node) instanceof Settled settled && settled.state() != NodeState.SUCCESS ? settled.cause() : null;
    }

    /** Returns the value of a node that has succeeded. */
    @Nullable
    Object result(int node) {
        Object slot = get(node);
        if (slot == NULL) {
            return null;
        }
        return slot instanceof Settled settled ? settled.value() : slot;
    }

    /** Returns the value of an ended node: its result, or its default, or null if it has neither. */
    @Nullable
    Object value(int node) {
        return isEnd(get(node)) ? result(node) : null;
    }

    /** Returns how an ended node has ended. */
    Outcome<?> outcome(int node) {
        Object slot = get(node);
        if (!isEnd(slot)) {
            throw new IllegalStateException("node \"" + graph.ids[node] + "\" has not ended; it is " + state(node));
        }
        if (!(slot instanceof Settled settled)) {
            return new Outcome.Success<>(slot == NULL ? null : slot);
        }
        Throwable cause = settled.cause();
        return switch (settled.state()) {
            case SUCCESS -> new Outcome.Success<>(settled.value());
            case SKIPPED -> new Outcome.Skipped<>(settled.reason().name().toLowerCase(Locale.ROOT));
            case CANCELLED -> new Outcome.Cancelled<>(cause == null ? new CancelledException("cancelled") : cause);
            default -> new Outcome.Failure<>(Objects.requireNonNull(cause));
        };
    }

    boolean succeeded(int node) {
        Object slot = get(node);
        return isEnd(slot) && (!(slot instanceof Settled settled) || settled.state() == NodeState.SUCCESS);
    }

    long startNanos(int node) {
        return time(2 * node);
    }

    long endNanos(int node) {
        return time(2 * node + 1);
    }

    private long time(int position) {
        float noted = times == null ? 0 : times[position];
        return noted == 0 ? -1 : (long) noted;
    }

    /** Notes when an action was entered, unless that is negative: then it was not. */
    void began(int node, long nanos) {
        if (times != null && nanos >= 0) {
            times[2 * node] = nanos == 0 ? Float.MIN_VALUE : nanos;
        }
    }

    /** Notes when a node ended, unless that is negative: then nobody knows. */
    void ended(int node, long nanos) {
        if (times != null && nanos >= 0) {
            times[2 * node + 1] = nanos == 0 ? Float.MIN_VALUE : nanos;
        }
    }

    boolean isTimed() {
        return times != null;
    }

    /** Tells of an ended node whether it makes the run worse than a success. */
    boolean hasFailed(int node) {
        return slots[node] instanceof Settled settled && settled.state().isFailure();
    }

    NodeReport<?> report(int node) {
        return new NodeReport<>(
                graph.ids[node], state(node), value(node), via(node), cause(node), startNanos(node), endNanos(node));
    }
}
