package dev.raddle.flow;

import dev.raddle.flow.Dependency.Kind;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * A compiled flow: nodes, edges and clauses as numbers. The {@link Compiler} fills it; nothing changes it after that.
 *
 * <p>The edges into node v are {@code upStart[v]} to {@code upStart[v + 1]}, in the order of declaration; the
 * dependencies of v are {@code dependencyStart[v]} to {@code dependencyStart[v + 1]}, and the edges of dependency d are
 * {@code dependencyEdge[d]} to {@code dependencyEdge[d + 1]}. The edges out of node u are {@code downStart[u]} to
 * {@code downStart[u + 1]}; each is a target and two bits for its kind.
 *
 * <p>A clause is a choice that one node makes among some of its edges: it is met by a given number of successes.
 */
final class Graph {

    /** The form of the value of a run. */
    enum Returns {
        NOTHING,
        ONE,
        MAP,
        LIST
    }

    /** An edge that is met when its node succeeds, and ends its target when the node ends otherwise. */
    static final int TO_MUST = 0;

    /** An edge that is met when its node ends. */
    static final int TO_AFTER = 1;

    /** An edge from a node to a clause. */
    static final int TO_CLAUSE = 2;

    // Traits of a node, as bits.

    /** The node may begin before all of its upstreams have ended. */
    static final byte CHOOSES = 1;

    /** The node has no options, is no nested run, and no output. */
    static final byte PLAIN = 2;

    /** Each dependency of the node is a must of one node, whose value is an argument of the action. */
    static final byte TAKES_MUSTS = 4;

    /** The node waits for a single edge or clause. */
    static final byte WAITS_FOR_ONE = 8;

    /** The node is a nested run. */
    static final byte NESTED = 16;

    /** The node waits for a moment or a signal. */
    static final byte WAITS = 32;

    private static final int NODE_DIGEST_BYTES = 8;
    private static final int[] NO_INTS = {};
    private static final Kind[] NO_KINDS = {};

    final String name;
    final int size;
    final String[] ids;
    final Ids index;
    final Node.Body[] bodies;
    final @Nullable NodeOptions[] options; // null instead of NONE
    final byte[] traits;
    final boolean[] sinks;
    final boolean[] isOutput;
    int[] outputs = NO_INTS;
    Returns returns = Returns.NOTHING;
    int[] roots = NO_INTS;
    boolean hasTimeouts;
    boolean hasGroups;
    boolean hasComputing; // whether some nodes run on the compute scheduler
    boolean hasNested;
    boolean hasCallbacks;
    boolean hasCompensations;
    boolean hasWaits; // whether some nodes wait for a moment or a signal
    Map<String, Address> signals = Map.of(); // of this graph and of its subflows, by their paths

    final int[] upStart;
    int[] up = NO_INTS;
    Kind[] upKind = NO_KINDS;
    final int[] dependencyStart;
    int[] dependencyEdge = NO_INTS;
    Kind[] dependencyKind = NO_KINDS;
    int[] dependencyClause = NO_INTS; // or -1
    int[] downStart = NO_INTS;
    int[] down = NO_INTS;
    int[] clauseTarget = NO_INTS;
    int[] clauseEdge = NO_INTS; // the first edge
    int[] clauseSize = NO_INTS;
    int[] clauseNeeded = NO_INTS;

    /** The initial counters of a run, see {@link NodeStates}. */
    int[] pending = NO_INTS; // of all nodes, followed by needed, lost and winner of all clauses

    int[] consumers = NO_INTS;

    private final ConcurrentHashMap<Integer, BitSet> ancestors =
            new ConcurrentHashMap<>(0); // of the nodes that read indirect upstreams

    private volatile @Nullable String digest; // computed on first use

    Graph(String name, int size, Ids index) {
        this.name = name;
        this.size = size;
        this.index = index;
        ids = index.byPosition();
        bodies = new Node.Body[size];
        options = new NodeOptions[size];
        traits = new byte[size];
        sinks = new boolean[size];
        isOutput = new boolean[size];
        upStart = new int[size + 1];
        dependencyStart = new int[size + 1];
    }

    boolean is(byte trait, int node) {
        return (traits[node] & trait) != 0;
    }

    int clauses() {
        return clauseTarget.length;
    }

    NodeOptions optionsOf(int node) {
        NodeOptions known = options[node];
        return known == null ? NodeOptions.NONE : known;
    }

    int indexOf(String id) {
        int known = index.find(id);
        if (known < 0) {
            throw new IllegalArgumentException("unknown id \"" + id + "\": there is no such node in flow \"" + name
                    + "\"; its nodes are " + list());
        }
        return known;
    }

    /** Returns the position of a node, or -1. */
    int find(String id) {
        return index.find(id);
    }

    // Signals.

    /**
     * Where a signal of this graph or of a subflow is received.
     *
     * @param node the node that waits for it, or the node in whose nested run it is
     * @param inner the rest of its path; null if the node itself waits
     * @param type the class of its values
     */
    record Address(int node, @Nullable String inner, Class<?> type) {}

    /** Returns the class of the values of a node that waits for a signal, or null if it does not. */
    @Nullable
    Class<?> signalTypeOf(int node) {
        Address own = signals.get(ids[node]);
        return own == null || own.inner() != null ? null : own.type();
    }

    /**
     * Returns the address of a signal.
     *
     * @throws IllegalArgumentException if there is no such signal
     */
    Address addressOf(String path) {
        Address known = signals.get(path);
        if (known == null) {
            throw new IllegalArgumentException("node \"" + ids[indexOf(path)] + "\" of flow \"" + name
                    + "\" does not wait for a signal; declare it with FlowBuilder.signal");
        }
        return known;
    }

    /** Returns the position of a node, which must belong to the definition of this graph. */
    int indexOf(Node<?> node) {
        int position = node.position;
        if (position < size && bodies[position] == node.body && ids[position].equals(node.id())) {
            return position;
        }
        indexOf(node.id());
        throw new IllegalArgumentException(node + " belongs to another flow, and flow \"" + name
                + "\" has a node of that name; pass that node instead");
    }

    /** Returns a digest of all nodes and the outputs, which is the same in every JVM and is stored with runs. */
    String digest() {
        String known = digest;
        if (known == null) {
            MessageDigest sum = newSum();
            for (int node = 0; node < size; node++) {
                addNode(sum, node);
            }
            for (int output : outputs) {
                add(sum, ids[output]);
            }
            known = HexFormat.of().formatHex(sum.digest());
            digest = known;
        }
        return known;
    }

    private String digest(int node) {
        MessageDigest sum = newSum();
        addNode(sum, node);
        add(sum, isOutput[node] ? "output" : "");
        return HexFormat.of().formatHex(sum.digest(), 0, NODE_DIGEST_BYTES);
    }

    static MessageDigest newSum() {
        try {
            return MessageDigest.getInstance("SHA-256");
        } catch (NoSuchAlgorithmException impossible) {
            throw new IllegalStateException("every JDK has SHA-256", impossible);
        }
    }

    /** Adds what makes a node another one: its id, its wait and its dependencies. */
    private void addNode(MessageDigest sum, int node) {
        add(sum, ids[node]);
        if (is(WAITS, node)) {
            Class<?> type = signalTypeOf(node);
            add(sum, type == null ? "sleep" : "signal " + type.getName());
        }
        for (int each = dependencyStart[node]; each < dependencyStart[node + 1]; each++) {
            int needed = dependencyKind[each] == Kind.AT_LEAST ? clauseNeeded[dependencyClause[each]] : 0;
            add(sum, dependencyKind[each] + " " + needed);
            for (int edge = dependencyEdge[each]; edge < dependencyEdge[each + 1]; edge++) {
                add(sum, ids[up[edge]]);
            }
            add(sum, ";");
        }
        add(sum, ".");
    }

    /** Adds a text with its length, so that different lists of texts have different bytes. */
    private static void add(MessageDigest sum, String text) {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        sum.update((bytes.length + ":").getBytes(StandardCharsets.US_ASCII));
        sum.update(bytes);
    }

    /** Describes the nodes and their dependencies, in the order of declaration. */
    List<PlanNode> nodes() {
        List<PlanNode> nodes = new ArrayList<>(size);
        for (int node = 0; node < size; node++) {
            nodes.add(describe(node));
        }
        return nodes;
    }

    private PlanNode describe(int node) {
        List<PlanEdge> edges = new ArrayList<>();
        for (int dependency = dependencyStart[node]; dependency < dependencyStart[node + 1]; dependency++) {
            Kind kind = dependencyKind[dependency];
            String text = kind.text(kind == Kind.AT_LEAST ? clauseNeeded[dependencyClause[dependency]] : 0);
            for (int edge = dependencyEdge[dependency]; edge < dependencyEdge[dependency + 1]; edge++) {
                edges.add(new PlanEdge(ids[up[edge]], ids[node], text));
            }
        }
        NodeOptions own = optionsOf(node);
        String group = own.group instanceof NodeOptions.Constant(Object key) ? (String) key : null;
        return new PlanNode(ids[node], edges, own.has(NodeOptions.ESSENTIAL), isOutput[node], group, digest(node));
    }

    private String list() {
        int shown = Math.min(size, 20);
        return String.join(", ", Arrays.copyOf(ids, shown)) + (shown < size ? " and " + (size - shown) + " more" : "");
    }

    /** Returns all nodes in topological order, upstreams first, and otherwise in the order of declaration. */
    int[] upstreamsFirst() {
        int[] order = new int[size];
        int count = 0;
        int[] nextEdge = upStart.clone();
        int[] open = new int[size]; // the path to the current node
        boolean[] seen = new boolean[size];
        for (int start = 0; start < size; start++) {
            int depth = 0;
            if (!seen[start]) {
                seen[start] = true;
                open[depth++] = start;
            }
            while (depth > 0) {
                int node = open[depth - 1];
                if (nextEdge[node] == upStart[node + 1]) {
                    order[count++] = node;
                    depth--;
                } else {
                    int upstream = up[nextEdge[node]++];
                    if (!seen[upstream]) {
                        seen[upstream] = true;
                        open[depth++] = upstream;
                    }
                }
            }
        }
        return order;
    }

    /** Returns whether there is a path from one node to another, which may then read it. */
    boolean isUpstream(int upstream, int node) {
        for (int edge = upStart[node]; edge < upStart[node + 1]; edge++) {
            if (up[edge] == upstream) {
                return true;
            }
        }
        BitSet known = ancestors.get(node);
        if (known == null) {
            known = ancestorsOf(node);
            ancestors.put(node, known);
        }
        return known.get(upstream);
    }

    /**
     * Returns all nodes from which a path leads to one of the given nodes; these are included only if they are upstream
     * too.
     */
    BitSet ancestorsOf(int... nodes) {
        BitSet found = new BitSet(size);
        int[] open = new int[Math.max(size, nodes.length)];
        int count = 0;
        for (int node : nodes) {
            open[count++] = node;
        }
        while (count > 0) {
            int node = open[--count];
            for (int edge = upStart[node]; edge < upStart[node + 1]; edge++) {
                if (!found.get(up[edge])) {
                    found.set(up[edge]);
                    if (count == open.length) {
                        open = Arrays.copyOf(open, 2 * count);
                    }
                    open[count++] = up[edge];
                }
            }
        }
        return found;
    }
}
