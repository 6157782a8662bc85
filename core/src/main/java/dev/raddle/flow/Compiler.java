package dev.raddle.flow;

import dev.raddle.flow.Dependency.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;

/** Compiles declared nodes to a graph, or finds all problems with them. Takes time linear in the nodes and edges. */
final class Compiler {

    private static final int NONE = -1;

    private final Graph graph;
    private final List<Node<?>> nodes;
    private final List<String> problems;
    private final int[] upClause;
    private final int[] usedBy; // the last node found to depend on each node
    private int edges;
    private int clauses;

    Compiler(String name, List<Node<?>> nodes, Ids declaredIds, List<String> declared) {
        this.nodes = nodes;
        problems = new ArrayList<>(declared);
        graph = new Graph(name, nodes.size(), declaredIds);
        usedBy = new int[graph.size];
        Arrays.fill(usedBy, NONE);
        int dependencies = 0;
        int mostEdges = 0;
        int mostClauses = 0;
        for (int node = 0; node < graph.size; node++) {
            Node<?> declaredNode = nodes.get(node);
            graph.bodies[node] = declaredNode.body;
            NodeOptions own = declaredNode.options;
            graph.options[node] = own == NodeOptions.NONE ? null : own;
            graph.traits[node] = own == NodeOptions.NONE ? Graph.PLAIN : 0;
            if (declaredNode.form != Node.Form.ACTION) {
                addSpecial(node, declaredNode.form, own);
            }
            if (own.has(NodeOptions.NO_INTERRUPT) && own.retry != null && own.retry.attemptTimeout() != null) {
                problems.add("node \"" + graph.ids[node] + "\" has noInterrupt() and a retry policy with"
                        + " attemptTimeout, which interrupts; leave out one of them");
            }
            graph.hasTimeouts |= own.timeout != null;
            graph.hasGroups |= own.group != null;
            graph.hasComputing |= own.has(NodeOptions.COMPUTE);
            graph.hasNested |= declaredNode.form.isNested();
            graph.hasCallbacks |= !own.begin.isEmpty() || !own.result.isEmpty();
            graph.hasCompensations |= own.compensation != null;
            int needs = declaredNode.dependencyCount();
            graph.dependencyStart[node] = dependencies;
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
        graph.dependencyStart[graph.size] = dependencies;
        graph.dependencyEdge = new int[dependencies + 1];
        graph.dependencyKind = new Kind[dependencies];
        graph.dependencyClause = new int[dependencies];
        graph.up = new int[mostEdges];
        graph.upKind = new Kind[mostEdges];
        upClause = new int[mostEdges];
        graph.clauseTarget = new int[mostClauses];
        graph.clauseEdge = new int[mostClauses];
        graph.clauseSize = new int[mostClauses];
        graph.clauseNeeded = new int[mostClauses];
        for (int node = 0; node < graph.size; node++) {
            connect(node);
        }
        graph.upStart[graph.size] = edges;
        graph.dependencyEdge[dependencies] = edges;
        graph.up = Arrays.copyOf(graph.up, edges);
        graph.upKind = Arrays.copyOf(graph.upKind, edges);
        graph.clauseTarget = Arrays.copyOf(graph.clauseTarget, clauses);
        graph.clauseEdge = Arrays.copyOf(graph.clauseEdge, clauses);
        graph.clauseSize = Arrays.copyOf(graph.clauseSize, clauses);
        graph.clauseNeeded = Arrays.copyOf(graph.clauseNeeded, clauses);
    }

    /** Adds a node that is a nested run, or waits. */
    private void addSpecial(int node, Node.Form form, NodeOptions own) {
        graph.traits[node] = form.isNested() ? Graph.NESTED : Graph.WAITS;
        if (form.isNested() && own.retry != null) {
            problems.add("node \"" + graph.ids[node]
                    + "\" is a nested run and has a retry policy; set it on the nodes of that run");
        }
        if (form.waits() && (own.retry != null || own.group != null)) {
            problems.add("node \"" + graph.ids[node] + "\" only waits and has a "
                    + (own.retry != null ? "retry policy" : "group") + "; set it on a node that acts");
        }
        graph.hasWaits |= form.waits();
        if (form.signalType() != null) {
            addSignal(graph.ids[node], new Graph.Address(node, null, form.signalType()));
        }
        if (form.subflow() != null) {
            form.subflow()
                    .signals
                    .forEach((inner, address) ->
                            addSignal(graph.ids[node] + "/" + inner, new Graph.Address(node, inner, address.type())));
        }
    }

    private void addSignal(String path, Graph.Address address) {
        if (graph.signals.isEmpty()) {
            graph.signals = new LinkedHashMap<>();
        }
        Graph.Address other = graph.signals.putIfAbsent(path, address);
        if (other != null) {
            problems.add("ambiguous signal: the path \"" + path + "\" is that of " + text(other) + " and of "
                    + text(address) + "; rename one of them");
        }
    }

    private String text(Graph.Address signal) {
        return (signal.inner() == null ? "node \"" : "a signal in subflow \"") + graph.ids[signal.node()] + "\"";
    }

    /** Adds the edges into one node. */
    private void connect(int node) {
        graph.upStart[node] = edges;
        Node<?> declared = nodes.get(node);
        int needs = declared.dependencyCount();
        boolean onlyOptional = needs > 0;
        boolean onlyMusts = true;
        for (int each = 0; each < needs; each++) {
            Dependency<?> dependency = declared.dependency(each);
            Kind kind = dependency.kind();
            int position = graph.dependencyStart[node] + each;
            graph.dependencyEdge[position] = edges;
            graph.dependencyKind[position] = kind;
            graph.dependencyClause[position] = NONE;
            onlyOptional &= kind == Kind.OPTIONAL;
            onlyMusts &= kind == Kind.MUST;
            if (kind == Kind.OPTIONAL || kind == Kind.ANY || kind == Kind.AT_LEAST) {
                graph.traits[node] |= Graph.CHOOSES;
            }
            int clause = NONE;
            if (dependency instanceof Dependency.Clause<?> several && (kind == Kind.ANY || kind == Kind.AT_LEAST)) {
                ensurePossible(node, several);
                clause = addClause(node, edges, several.needed);
                graph.dependencyClause[position] = clause;
            }
            link(node, dependency, kind, clause);
            if (clause != NONE) {
                graph.clauseSize[clause] = edges - graph.clauseEdge[clause];
            }
        }
        if (onlyMusts) {
            graph.traits[node] |= Graph.TAKES_MUSTS;
        }
        if (onlyOptional && edges > graph.upStart[node]) {
            int clause = addClause(node, graph.upStart[node], 1);
            graph.clauseSize[clause] = edges - graph.upStart[node];
            Arrays.fill(upClause, graph.upStart[node], edges, clause);
        }
        refuseDuplicates(node);
    }

    private int addClause(int node, int firstEdge, int needed) {
        graph.clauseTarget[clauses] = node;
        graph.clauseEdge[clauses] = firstEdge;
        graph.clauseNeeded[clauses] = needed;
        return clauses++;
    }

    private void ensurePossible(int node, Dependency.Clause<?> clause) {
        int choices = clause.size();
        if (clause.needed < 1 || clause.needed > choices) {
            problems.add("impossible k: node \"" + graph.ids[node] + "\" needs at least " + clause.needed + " of "
                    + choices + " nodes; ask for 1 to " + choices);
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
            int known = graph.index.find(id);
            if (known < 0) {
                problems.add("unknown id: node \"" + graph.ids[node] + "\" depends on \"" + id
                        + "\", which is not a node of this flow");
            } else {
                link(known, kind, clause);
            }
        }
    }

    private void link(int node, Node<?> upstream, Kind kind, int clause) {
        int known = upstream.position;
        if (known < graph.size && nodes.get(known) == upstream) {
            link(known, kind, clause);
        } else {
            problems.add("node \"" + graph.ids[node] + "\" depends on " + upstream + " of another flow");
        }
    }

    private void link(int upstream, Kind kind, int clause) {
        graph.up[edges] = upstream;
        graph.upKind[edges] = kind;
        upClause[edges] = clause;
        edges++;
    }

    private void refuseDuplicates(int node) {
        for (int edge = graph.upStart[node]; edge < edges; edge++) {
            if (usedBy[graph.up[edge]] == node) {
                problems.add("duplicate edge: node \"" + graph.ids[node] + "\" depends twice on \""
                        + graph.ids[graph.up[edge]] + "\"; name it once");
            }
            usedBy[graph.up[edge]] = node;
        }
    }

    /** Returns all problems, including cycles. */
    List<String> problems() {
        reverseEdges();
        return problems;
    }

    Graph compile(List<? extends Node<?>> requested, Graph.Returns returns) {
        for (Node<?> output : requested) {
            if (output.position >= graph.size || nodes.get(output.position) != output) {
                problems.add("unreachable output: " + output + " is not a node of this flow");
            } else {
                graph.isOutput[output.position] = true;
            }
        }
        if (!problems().isEmpty()) {
            throw new InvalidFlowException(graph.name, problems);
        }
        count();
        graph.outputs = new int[requested.size()];
        for (int index = 0; index < graph.outputs.length; index++) {
            graph.outputs[index] = requested.get(index).position;
        }
        if (graph.outputs.length > 1) { // the JDK links a lambda to sort
            Arrays.sort(graph.outputs);
        }
        graph.returns = returns;
        return graph;
    }

    /** Lists the edges by their upstream nodes, and searches for cycles. */
    private void reverseEdges() {
        int[] uses = new int[graph.size];
        int[] next = new int[graph.size + 1];
        for (int edge = 0; edge < edges; edge++) {
            uses[graph.up[edge]]++;
            if (graph.upKind[edge] != Kind.OPTIONAL || upClause[edge] != NONE) {
                next[graph.up[edge] + 1]++;
            }
        }
        for (int node = 0; node < graph.size; node++) {
            graph.sinks[node] = uses[node] == 0;
            next[node + 1] += next[node];
        }
        graph.downStart = next.clone();
        graph.down = new int[next[graph.size]];
        for (int node = 0; node < graph.size; node++) {
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                int clause = upClause[edge];
                if (clause != NONE) {
                    graph.down[next[graph.up[edge]]++] = clause << 2 | Graph.TO_CLAUSE;
                } else if (graph.upKind[edge] == Kind.AFTER) {
                    graph.down[next[graph.up[edge]]++] = node << 2 | Graph.TO_AFTER;
                } else if (graph.upKind[edge] != Kind.OPTIONAL) {
                    graph.down[next[graph.up[edge]]++] = node << 2 | Graph.TO_MUST;
                }
            }
        }
        findCycles(uses);
    }

    /** Removes nodes without consumers repeatedly. If nodes are left, there is a cycle. */
    private void findCycles(int[] uses) {
        int[] open = new int[graph.size];
        int count = 0;
        int removed = 0;
        for (int node = 0; node < graph.size; node++) {
            if (uses[node] == 0) {
                open[count++] = node;
            }
        }
        while (count > 0) {
            int node = open[--count];
            removed++;
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                if (--uses[graph.up[edge]] == 0) {
                    open[count++] = graph.up[edge];
                }
            }
        }
        if (removed < graph.size) {
            new Cycles(graph.ids, graph.upStart, graph.up).addTo(problems);
        }
    }

    private void count() {
        graph.pending = new int[graph.size + 3 * clauses];
        graph.consumers = new int[graph.size];
        for (int edge = 0; edge < edges; edge++) {
            graph.consumers[graph.up[edge]]++;
        }
        for (int node = 0; node < graph.size; node++) {
            int count = 0;
            for (int edge = graph.upStart[node]; edge < graph.upStart[node + 1]; edge++) {
                count += upClause[edge] == NONE && graph.upKind[edge] != Kind.OPTIONAL ? 1 : 0;
            }
            graph.pending[node] = count;
            NodeOptions known = graph.options[node];
            if (graph.sinks[node] || graph.isOutput[node] || (known != null && known.has(NodeOptions.ESSENTIAL))) {
                graph.consumers[node]++;
            }
        }
        for (int clause = 0; clause < clauses; clause++) {
            graph.pending[graph.clauseTarget[clause]]++;
            graph.pending[graph.size + clause] = graph.clauseNeeded[clause];
            graph.pending[graph.size + 2 * clauses + clause] = NONE;
        }
        for (int node = 0; node < graph.size; node++) {
            if (graph.pending[node] == 1) {
                graph.traits[node] |= Graph.WAITS_FOR_ONE;
            }
        }
        int[] roots = new int[graph.size];
        int found = 0;
        for (int node = 0; node < graph.size; node++) {
            if (graph.upStart[node] == graph.upStart[node + 1]) {
                roots[found++] = node;
            }
        }
        graph.roots = Arrays.copyOf(roots, found);
    }
}
