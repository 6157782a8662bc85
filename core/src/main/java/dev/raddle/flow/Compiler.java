package dev.raddle.flow;

import dev.raddle.flow.Dependency.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Compiles declared nodes to a graph, or finds all problems with them. Takes time linear in the nodes and edges. */
final class Compiler {

    private static final int NONE = -1;
    private static final @Nullable Class<?>[] NO_TYPES = {};
    private static final @Nullable Graph[] NO_GRAPHS = {};

    final String name;
    final int size;
    final String[] ids;
    final Ids index;
    final Node.Body[] bodies;
    final @Nullable NodeOptions[] options;
    final byte[] traits;
    final boolean[] sinks;
    final boolean[] isOutput;
    final int[] upStart;
    final int[] dependencyStart;
    final int[] dependencyEdge;
    final Kind[] dependencyKind;
    final int[] dependencyClause;
    final int[] clauseTarget;
    final int[] clauseEdge;
    final int[] clauseSize;
    final int[] clauseNeeded;
    int[] roots = {};
    int[] outputs = {};
    boolean hasTimeouts;
    boolean hasGroups;
    boolean hasComputing;
    boolean hasNested;
    boolean hasCallbacks;
    boolean hasCompensations;
    boolean hasWaits;
    boolean hasInnerWaits;
    boolean hasSignals;

    @Nullable
    Class<?>[] signalTypes = NO_TYPES;

    @Nullable
    Graph[] subflows = NO_GRAPHS;

    int[] up;
    Kind[] upKind;
    int[] downStart = {};
    int[] down = {};
    int[] counters = {};
    int[] consumers = {};

    private final List<Node<?>> nodes;
    private final List<String> problems;
    private final int[] upClause;
    private final int[] usedBy; // the last node found to depend on each node
    private int edges;
    private int clauses;

    Compiler(String name, List<Node<?>> nodes, Ids declaredIds, List<String> declared) {
        this.name = name;
        this.nodes = nodes;
        this.problems = new ArrayList<>(declared);
        size = nodes.size();
        index = declaredIds;
        ids = index.byPosition();
        bodies = new Node.Body[size];
        options = new NodeOptions[size];
        traits = new byte[size];
        usedBy = new int[size];
        Arrays.fill(usedBy, NONE);
        sinks = new boolean[size];
        isOutput = new boolean[size];
        upStart = new int[size + 1];
        dependencyStart = new int[size + 1];
        int dependencies = 0;
        int mostEdges = 0;
        int mostClauses = 0;
        for (int node = 0; node < size; node++) {
            Node<?> declaredNode = nodes.get(node);
            bodies[node] = declaredNode.body;
            NodeOptions own = declaredNode.options;
            options[node] = own == NodeOptions.NONE ? null : own;
            traits[node] = own == NodeOptions.NONE ? Graph.PLAIN : 0;
            if (declaredNode.form != Node.Form.ACTION) {
                addSpecial(node, declaredNode.form, own);
            }
            hasTimeouts |= own.timeout() != null;
            hasGroups |= own.group() != null;
            hasComputing |= own.has(NodeOptions.COMPUTE);
            hasNested |= declaredNode.form.isNested();
            hasCallbacks |= own.begin() != null || own.result() != null;
            hasCompensations |= own.compensation() != null;
            int needs = declaredNode.dependencyCount();
            dependencyStart[node] = dependencies;
            dependencies += needs;
            for (int each = 0; each < needs; each++) {
                if (declaredNode.dependency(each) instanceof Dependency.Clause<?> clause) {
                    mostEdges += clause.size();
                    mostClauses++;
                } else {
                    mostEdges++;
                }
            }
        }
        dependencyStart[size] = dependencies;
        dependencyEdge = new int[dependencies + 1];
        dependencyKind = new Kind[dependencies];
        dependencyClause = new int[dependencies];
        up = new int[mostEdges];
        upKind = new Kind[mostEdges];
        upClause = new int[mostEdges];
        int[] target = new int[mostClauses];
        int[] first = new int[mostClauses];
        int[] length = new int[mostClauses];
        int[] needed = new int[mostClauses];
        for (int node = 0; node < size; node++) {
            connect(node, target, first, length, needed);
        }
        upStart[size] = edges;
        dependencyEdge[dependencies] = edges;
        up = Arrays.copyOf(up, edges);
        upKind = Arrays.copyOf(upKind, edges);
        clauseTarget = Arrays.copyOf(target, clauses);
        clauseEdge = Arrays.copyOf(first, clauses);
        clauseSize = Arrays.copyOf(length, clauses);
        clauseNeeded = Arrays.copyOf(needed, clauses);
    }

    /** Adds a node that is a nested run, or waits. */
    private void addSpecial(int node, Node.Form form, NodeOptions own) {
        traits[node] = form.isNested() ? Graph.NESTED : Graph.WAITS;
        if (form.isNested() && own.retry() != null) {
            problems.add("node \"" + ids[node]
                    + "\" is a nested run and has a retry policy; set it on the nodes of that run");
        }
        if (form.waits() && (own.retry() != null || own.group() != null)) {
            problems.add("node \"" + ids[node] + "\" only waits and has a "
                    + (own.retry() != null ? "retry policy" : "group") + "; set it on a node that acts");
        }
        hasWaits |= form.waits();
        hasInnerWaits |= form.waits() || (form.subflow() != null && form.subflow().hasInnerWaits);
        Class<?> type = form.signalType();
        if (type != null) {
            signalTypes = signalTypes.length == 0 ? new Class<?>[size] : signalTypes;
            signalTypes[node] = type;
            hasSignals = true;
        }
        Graph subflow = form.subflow();
        if (subflow != null) {
            subflows = subflows.length == 0 ? new Graph[size] : subflows;
            subflows[node] = subflow;
            hasSignals |= subflow.hasSignals;
        }
    }

    /** Adds the edges into one node. */
    private void connect(int node, int[] target, int[] first, int[] length, int[] needed) {
        upStart[node] = edges;
        Node<?> declared = nodes.get(node);
        int needs = declared.dependencyCount();
        boolean onlyOptional = needs > 0;
        boolean onlyMusts = true;
        for (int each = 0; each < needs; each++) {
            Dependency<?> dependency = declared.dependency(each);
            Kind kind = dependency.kind();
            int position = dependencyStart[node] + each;
            dependencyEdge[position] = edges;
            dependencyKind[position] = kind;
            dependencyClause[position] = NONE;
            onlyOptional &= kind == Kind.OPTIONAL;
            onlyMusts &= kind == Kind.MUST;
            if (kind == Kind.OPTIONAL || kind == Kind.ANY || kind == Kind.AT_LEAST) {
                traits[node] |= Graph.CHOOSES;
            }
            int clause = NONE;
            if (dependency instanceof Dependency.Clause<?> several && (kind == Kind.ANY || kind == Kind.AT_LEAST)) {
                ensurePossible(node, several);
                clause = clauses++;
                dependencyClause[position] = clause;
                target[clause] = node;
                first[clause] = edges;
                needed[clause] = several.needed;
            }
            link(node, dependency, kind, clause);
            if (clause != NONE) {
                length[clause] = edges - first[clause];
            }
        }
        if (onlyMusts) {
            traits[node] |= Graph.TAKES_MUSTS;
        }
        if (onlyOptional && edges > upStart[node]) {
            int clause = clauses++;
            target[clause] = node;
            first[clause] = upStart[node];
            length[clause] = edges - upStart[node];
            needed[clause] = 1;
            Arrays.fill(upClause, upStart[node], edges, clause);
        }
        refuseDuplicates(node);
    }

    private void ensurePossible(int node, Dependency.Clause<?> clause) {
        int choices = clause.size();
        if (clause.needed < 1 || clause.needed > choices) {
            problems.add("impossible k: node \"" + ids[node] + "\" needs at least " + clause.needed + " of " + choices
                    + " nodes; ask for 1 to " + choices);
        }
    }

    private void link(int node, Dependency<?> dependency, Kind kind, int clause) {
        if (dependency instanceof Node<?> upstream) {
            link(node, upstream, kind, clause);
            return;
        }
        Dependency.Clause<?> several = (Dependency.Clause<?>) dependency;
        for (Node<?> upstream : several.nodes) {
            link(node, upstream, kind, clause);
        }
        if (!several.nodes.isEmpty()) {
            return;
        }
        for (String id : several.ids()) {
            int known = index.find(id);
            if (known < 0) {
                problems.add("unknown id: node \"" + ids[node] + "\" depends on \"" + id
                        + "\", which is not a node of this flow");
            } else {
                link(known, kind, clause);
            }
        }
    }

    private void link(int node, Node<?> upstream, Kind kind, int clause) {
        int known = upstream.position;
        if (known < size && nodes.get(known) == upstream) {
            link(known, kind, clause);
        } else {
            problems.add("node \"" + ids[node] + "\" depends on " + upstream + " of another flow");
        }
    }

    private void link(int upstream, Kind kind, int clause) {
        up[edges] = upstream;
        upKind[edges] = kind;
        upClause[edges] = clause;
        edges++;
    }

    private void refuseDuplicates(int node) {
        for (int edge = upStart[node]; edge < edges; edge++) {
            if (usedBy[up[edge]] == node) {
                problems.add("duplicate edge: node \"" + ids[node] + "\" depends twice on \"" + ids[up[edge]]
                        + "\"; name it once");
            }
            usedBy[up[edge]] = node;
        }
    }

    /** Returns all problems, including cycles and signals with the same path. */
    List<String> problems() {
        reverseEdges();
        if (hasSignals
                && Arrays.stream(ids, 0, size).anyMatch(id -> id.indexOf('/') >= 0)) { // otherwise paths are unique
            refuseAmbiguousSignals();
        }
        return problems;
    }

    private void refuseAmbiguousSignals() {
        Map<String, String> owners = new HashMap<>();
        for (int node = 0; node < size; node++) {
            if (signalTypes.length > 0 && signalTypes[node] != null) {
                addSignal(owners, ids[node], "node \"" + ids[node] + "\"");
            }
            Graph subflow = subflows.length == 0 ? null : subflows[node];
            if (subflow != null) {
                for (String inner : subflow.signalPaths()) {
                    addSignal(owners, ids[node] + "/" + inner, "a signal in subflow \"" + ids[node] + "\"");
                }
            }
        }
    }

    private void addSignal(Map<String, String> owners, String path, String owner) {
        String other = owners.putIfAbsent(path, owner);
        if (other != null) {
            problems.add("ambiguous signal: the path \"" + path + "\" is that of " + other + " and of " + owner
                    + "; rename one of them");
        }
    }

    Graph compile(List<? extends Node<?>> requested, Graph.Returns returns) {
        for (Node<?> output : requested) {
            if (output.position >= size || nodes.get(output.position) != output) {
                problems.add("unreachable output: " + output + " is not a node of this flow");
            } else {
                isOutput[output.position] = true;
                traits[output.position] &= ~Graph.PLAIN; // a thread may wait for its end
            }
        }
        if (!problems().isEmpty()) {
            throw new InvalidFlowException(name, problems);
        }
        count();
        outputs =
                requested.stream().mapToInt(output -> output.position).sorted().toArray();
        return new Graph(this, returns);
    }

    /** Lists the edges by their upstream nodes, and searches for cycles. */
    private void reverseEdges() {
        int[] uses = new int[size];
        int[] next = new int[size + 1];
        for (int edge = 0; edge < edges; edge++) {
            uses[up[edge]]++;
            if (upKind[edge] != Kind.OPTIONAL || upClause[edge] != NONE) {
                next[up[edge] + 1]++;
            }
        }
        for (int node = 0; node < size; node++) {
            sinks[node] = uses[node] == 0;
            next[node + 1] += next[node];
        }
        downStart = next.clone();
        down = new int[next[size]];
        for (int node = 0; node < size; node++) {
            for (int edge = upStart[node]; edge < upStart[node + 1]; edge++) {
                int clause = upClause[edge];
                if (clause != NONE) {
                    down[next[up[edge]]++] = clause << 2 | Graph.TO_CLAUSE;
                } else if (upKind[edge] == Kind.AFTER) {
                    down[next[up[edge]]++] = node << 2 | Graph.TO_AFTER;
                } else if (upKind[edge] != Kind.OPTIONAL) {
                    down[next[up[edge]]++] = node << 2 | Graph.TO_MUST;
                }
            }
        }
        findCycles(uses);
    }

    /** Removes nodes without consumers repeatedly. If nodes are left, there is a cycle. */
    private void findCycles(int[] consumers) {
        int[] open = new int[size];
        int count = 0;
        int removed = 0;
        for (int node = 0; node < size; node++) {
            if (consumers[node] == 0) {
                open[count++] = node;
            }
        }
        while (count > 0) {
            int node = open[--count];
            removed++;
            for (int edge = upStart[node]; edge < upStart[node + 1]; edge++) {
                if (--consumers[up[edge]] == 0) {
                    open[count++] = up[edge];
                }
            }
        }
        if (removed < size) {
            new Cycles(ids, upStart, up).addTo(problems);
        }
    }

    private void count() {
        counters = new int[size + 3 * clauses];
        consumers = new int[size];
        for (int edge = 0; edge < edges; edge++) {
            consumers[up[edge]]++;
        }
        int rootCount = 0;
        for (int node = 0; node < size; node++) {
            int pending = 0;
            for (int edge = upStart[node]; edge < upStart[node + 1]; edge++) {
                pending += upClause[edge] == NONE && upKind[edge] != Kind.OPTIONAL ? 1 : 0;
            }
            counters[node] = pending;
            NodeOptions known = options[node];
            if (sinks[node] || isOutput[node] || (known != null && known.has(NodeOptions.ESSENTIAL))) {
                consumers[node]++;
            }
            rootCount += upStart[node] == upStart[node + 1] ? 1 : 0;
        }
        for (int clause = 0; clause < clauses; clause++) {
            counters[clauseTarget[clause]]++;
            counters[size + clause] = clauseNeeded[clause];
            counters[size + 2 * clauses + clause] = NONE;
        }
        for (int node = 0; node < size; node++) {
            if (counters[node] == 1) {
                traits[node] |= Graph.WAITS_FOR_ONE;
            }
        }
        roots = new int[rootCount];
        for (int node = 0, root = 0; node < size; node++) {
            if (upStart[node] == upStart[node + 1]) {
                roots[root++] = node;
            }
        }
    }
}
