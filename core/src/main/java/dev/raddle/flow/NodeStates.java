package dev.raddle.flow;

import dev.raddle.flow.threads.NestedRun;
import dev.raddle.flow.threads.NodeLinks;
import dev.raddle.flow.threads.NodePhase;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The states and counters of the nodes of one run, and their atomic transitions. */
final class NodeStates implements NodeLinks {

    /*
     * Overview.
     *
     * Each node has one slot, which contains its whole state:
     *
     *   null ──► READY ──► GroupPlacement ──► Runner ──► Beginning ──► Runner ──► Recording ──► RECORDED ──► a value,
     *                                           │                        ▲ │                                 or NodeEnd
     *                                           └──► NestedRun ──────────┼─┴──► INTERRUPTING ──► NodeEnd
     *
     *   null            pending
     *   READY           triggered; only of nodes that choose among their upstreams
     *   GroupPlacement  waits for a permit of its group, without a thread; only of nodes with a group
     *   Runner          the thread of this runner is inside the node
     *   Beginning       that thread is calling the node's begin callback, or notifying the listener of its start
     *   NestedRun       a nested run is executing the node
     *   Recording       a thread is recording the end of the node; only in a run with a journal
     *   RECORDED        the end of the node is recorded, and takes effect after those that were recorded before
     *   INTERRUPTING    another thread is calling interrupt() on that thread
     *   ENDING          ended; a supplier is computing the default
     *   otherwise       ended: the value itself, NULL for null, or a NodeEnd for all other ends
     *
     * Transitions are compare-and-sets and may skip phases that do not apply. A thread that ends a node from outside
     * changes any phase to NodeEnd, with two exceptions. It leaves Beginning to the thread of the callback, which ends
     * the node before it enters the action. So a node whose begin callback was called is entered, a node that was ended
     * before is not, and a node that is ended during the callback does not succeed. And it leaves Recording and
     * RECORDED alone: that node ends as recorded (NodeTransitions).
     *
     * The counters start with the values of the plan:
     *
     *   pending    of a node: musts, afters and clauses that are not met. The thread that brings it to zero
     *              triggers the node.
     *   consumers  of a node: undecided nodes that have an edge from it, under KEEP_GOING also those that have failed
     *              without running; one more if it is a sink, an output or essential. At zero the node is unneeded, and
     *              it is skipped if it is pending.
     *   needed     of a clause: successes that are missing
     *   lost       of a clause: its upstreams that have ended without success
     *   winner     of a clause: its upstream whose success met it, or -1
     *
     * A run in its caller's thread whose nodes cannot be ended individually from outside is single-threaded: its thread
     * updates the counters without atomic operations. Only a thread that ends the whole run may update them
     * concurrently. Then updates may be lost, so that a node is not triggered or not skipped; that node is ended
     * nevertheless, and no node is triggered too early, since a lost update never brings a counter nearer to its goal.
     *
     * A node is decided when it no longer needs its upstreams: when a node that chooses changes to READY, or when any
     * node changes from null to its end. It then releases its upstreams, once. A node that does not choose begins only
     * when all of its upstreams have ended, and their consumers are not read after that. So each edge is traversed at
     * most twice, once in each direction.
     */

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(Object[].class);
    private static final VarHandle COUNT = MethodHandles.arrayElementVarHandle(int[].class);

    /** The value null. */
    static final Object NULL = new Object();

    final Graph graph;
    final @Nullable Object[] slots;
    private final int[] counters;
    private final boolean isSingleThreaded; // whether one thread counts, except for those that end the run
    private volatile int @Nullable [] consumers; // null until a node releases its upstreams

    /*
     * The begin and end times of the nodes, as floats: seven digits of the time since the run began. Zero if there is
     * no such time. Of times beyond EXACT_NANOS, where a float is off by more than 30 us, `rests` has the difference to
     * the float. Written by the thread that ends the node.
     */
    private static final long EXACT_NANOS = 1L << 40; // 18 minutes

    private final float[] times;
    private volatile float @Nullable [] rests; // null until there is such a time; set under this

    /*
     * The order of the ends and triggers of nodes in a run with a journal, where one thread at a time makes them, else
     * null. The action of a node sees only the ends that were in force when it was triggered, also if it is called
     * again by a later process.
     */
    private final int @Nullable [] ends;
    private final int @Nullable [] triggers;
    private int latest; // the number of the latest end

    NodeStates(Graph graph, boolean isSingleThreaded, boolean isOrdered) {
        this.graph = graph;
        ends = isOrdered ? new int[graph.size] : null;
        triggers = isOrdered ? new int[graph.size] : null;
        this.isSingleThreaded = isSingleThreaded;
        slots = new Object[graph.size];
        counters = graph.pending.clone();
        times = new float[2 * graph.size];
    }

    @Nullable
    Object get(int node) {
        return SLOT.getAcquire(slots, node);
    }

    boolean compareAndSet(int node, @Nullable Object expected, Object next) {
        return SLOT.compareAndSet(slots, node, expected, next);
    }

    void set(int node, Object next) {
        SLOT.setVolatile(slots, node, next);
    }

    static boolean isEnd(@Nullable Object slot) {
        return slot != null && !(slot instanceof NodePhase);
    }

    /** Returns whether a node that waits for a signal has ended, or the node in whose nested run it is. */
    boolean hasEnded(String signal) {
        Graph.Address address = graph.addressOf(signal);
        Object slot = get(address.node());
        return isEnd(slot)
                || (address.inner() != null && slot instanceof NestedRun nested && nested.hasEnded(address.inner()));
    }

    /** Decrements the pending count of a node. Returns whether this triggers the node. */
    boolean countDownTrigger(int node) {
        return graph.is(Graph.WAITS_FOR_ONE, node) || getAndAdd(counters, node, -1) == 1;
    }

    /** Decrements the consumer count of a node. Returns whether the node is unneeded now. */
    boolean releaseConsumer(int node) {
        return getAndAdd(consumers(), node, -1) == 1;
    }

    /** Adds to a counter and returns its previous value. */
    private int getAndAdd(int[] counts, int position, int delta) {
        if (isSingleThreaded) {
            int was = counts[position];
            counts[position] = was + delta;
            return was;
        }
        return (int) COUNT.getAndAdd(counts, position, delta);
    }

    /** Adds a consumer that is never released. Called before any node runs. */
    void pin(int node) {
        consumers()[node]++;
    }

    private int[] consumers() {
        int[] known = consumers;
        return known == null ? createConsumers() : known;
    }

    private synchronized int[] createConsumers() {
        int[] known = consumers;
        if (known == null) {
            known = graph.consumers.clone();
            consumers = known;
        }
        return known;
    }

    /** {@inheritDoc} The pending counter of a ready node is unused, so it holds the link. */
    @Override
    public void link(int node, int below) {
        counters[node] = below;
    }

    @Override
    public int below(int node) {
        return counters[node];
    }

    /** Counts a success for a clause. Returns whether this meets the clause. */
    boolean countSuccess(int clause, int upstream) {
        boolean met = getAndAdd(counters, graph.size + clause, -1) == 1;
        if (met) {
            COUNT.setVolatile(counters, winnerOf(clause), upstream);
        }
        return met;
    }

    /** Counts an end without success for a clause. Returns whether this makes the clause impossible to meet. */
    boolean countFailure(int clause) {
        int lost = getAndAdd(counters, graph.size + graph.clauses() + clause, 1) + 1;
        return lost == graph.clauseSize[clause] - graph.clauseNeeded[clause] + 1;
    }

    /** Returns the upstream whose success met a clause, or -1. In an any clause this is the first that succeeded. */
    int winner(int clause) {
        return (int) COUNT.getVolatile(counters, winnerOf(clause));
    }

    private int winnerOf(int clause) {
        return graph.size + 2 * graph.clauses() + clause;
    }

    NodeState state(int node) {
        Object slot = get(node);
        if (slot == null || slot == NodePhase.Plain.READY) {
            return NodeState.PENDING;
        }
        if (slot instanceof NodePhase phase) {
            return phase.isWaiting() ? NodeState.WAITING : NodeState.RUNNING;
        }
        return slot instanceof NodeEnd end ? end.state() : NodeState.SUCCESS;
    }

    ValueSource via(int node) {
        Object slot = get(node);
        if (!isEnd(slot)) {
            return ValueSource.NONE;
        }
        return slot instanceof NodeEnd end ? end.via() : ValueSource.ACTION;
    }

    @Nullable
    Throwable cause(int node) {
        return get(node) instanceof NodeEnd end && end.state() != NodeState.SUCCESS ? end.cause() : null;
    }

    /** Returns the value of a node that has succeeded. */
    @Nullable
    Object result(int node) {
        return resultOf(Objects.requireNonNull(get(node)));
    }

    /** Returns the value in the slot of an ended node. */
    static @Nullable Object resultOf(Object slot) {
        if (slot == NULL) {
            return null;
        }
        return slot instanceof NodeEnd end ? end.value() : slot;
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
        if (!(slot instanceof NodeEnd end)) {
            return new Outcome.Success<>(slot == NULL ? null : slot);
        }
        Throwable cause = end.cause();
        return switch (end.state()) {
            case SUCCESS -> new Outcome.Success<>(end.value());
            case SKIPPED -> new Outcome.Skipped<>(end.reason().name().toLowerCase(Locale.ROOT));
            case CANCELLED -> new Outcome.Cancelled<>(cause == null ? new CancelledException("cancelled") : cause);
            default -> new Outcome.Failure<>(Objects.requireNonNull(cause));
        };
    }

    boolean succeeded(int node) {
        Object slot = get(node);
        return isEnd(slot) && (!(slot instanceof NodeEnd end) || end.state() == NodeState.SUCCESS);
    }

    long startNanos(int node) {
        return time(2 * node);
    }

    long endNanos(int node) {
        return time(2 * node + 1);
    }

    private long time(int position) {
        float nanos = times[position];
        float[] differences = nanos < EXACT_NANOS ? null : rests;
        return nanos == 0 ? -1 : (long) nanos + (differences == null ? 0 : (long) differences[position]);
    }

    private void setTime(int position, long nanos) {
        float rounded = nanos == 0 ? Float.MIN_VALUE : nanos;
        if (rounded >= EXACT_NANOS) {
            ensureRests()[position] = nanos - (long) rounded;
        }
        times[position] = rounded;
    }

    private float[] ensureRests() {
        float[] known = rests;
        if (known == null) {
            synchronized (this) {
                known = rests == null ? new float[times.length] : rests;
                rests = known;
            }
        }
        return known;
    }

    /** Records when the action was entered; a negative value, which means never, is ignored. */
    void recordBegin(int node, long nanos) {
        if (nanos >= 0) {
            setTime(2 * node, nanos);
        }
    }

    /** Records that a node is triggered. */
    void recordTrigger(int node) {
        if (triggers != null) {
            triggers[node] = latest;
        }
    }

    /** Returns whether a node may see the end of an upstream node. */
    boolean isVisible(int upstream, int node) {
        if (!isEnd(get(upstream))) {
            return false;
        }
        return ends == null || triggers == null || (ends[upstream] > 0 && ends[upstream] <= triggers[node]);
    }

    /** Records that a node has ended, and when; a negative time, which means unknown, is ignored. */
    void recordEnd(int node, long nanos) {
        if (ends != null) {
            ends[node] = ++latest;
        }
        if (nanos >= 0) {
            setTime(2 * node + 1, nanos);
        }
    }

    /** Returns whether an ended node has failed or timed out, which excludes success of the run. */
    boolean hasFailed(int node) {
        return slots[node] instanceof NodeEnd end && end.state().isFailure();
    }

    NodeReport<?> report(int node) {
        return new NodeReport<>(
                graph.ids[node], state(node), value(node), via(node), cause(node), startNanos(node), endNanos(node));
    }
}
