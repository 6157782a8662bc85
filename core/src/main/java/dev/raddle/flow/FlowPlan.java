package dev.raddle.flow;

import dev.raddle.flow.Dependency.Kind;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A flow that can be run: named nodes and their dependencies. Immutable; it can be run any number of times,
 * concurrently.
 *
 * {@snippet :
 * FlowBuilder<Order> f = FlowPlan.define("checkout", Order.class);
 * Node<User> user = f.node("user", c -> users.get(c.param().userId()));
 * Node<Promo> promo = f.node("promo", user, promos::of).timeout(Duration.ofMillis(80)).defaultValue(Promo.NONE);
 * Node<Page> page = f.node("page", user, optional(promo), (u, p) -> render(u, p.orElse(Promo.NONE)));
 * FlowPlan<Order, Page> plan = f.returning(page);
 *
 * Page shown = plan.run(order, RunOptions.timeout(Duration.ofMillis(300))).value();
 * }
 *
 * <p>Memory consistency effects: actions of a node <i>happen-before</i> the actions and callbacks of the nodes that
 * depend on it, and actions of a node that has ended before the run ends <i>happen-before</i> the return of
 * {@code run}.
 *
 * @param <P> the type of the parameter
 * @param <R> the type of the value of a run
 */
public final class FlowPlan<P, R> {

    /** The form of the value of a run. */
    enum Returns {
        NOTHING,
        ONE,
        MAP,
        LIST
    }

    final Graph graph;
    private final Returns returns;

    FlowPlan(Graph graph, Returns returns) {
        this.graph = graph;
        this.returns = returns;
    }

    /**
     * Begins the definition of a flow whose runs have a parameter.
     *
     * @param <P> the type of the parameter
     * @param name the name of the flow, for messages
     * @param parameter the class of the parameter, for type inference
     * @return a builder that declares the nodes
     */
    public static <P> FlowBuilder<P> define(String name, Class<P> parameter) {
        Objects.requireNonNull(parameter, "parameter");
        return new FlowBuilder<>(name);
    }

    /**
     * Begins the definition of a flow without a parameter, which is run with null.
     *
     * @param name the name of the flow, for messages
     * @return a builder that declares the nodes
     */
    public static FlowBuilder<Void> define(String name) {
        return new FlowBuilder<>(name);
    }

    /**
     * Runs the flow and waits for its end, with default options.
     *
     * @param parameter the parameter for the nodes, may be null
     * @return the result of the run and of each node; it contains the failures of nodes, which are not thrown
     * @throws InterruptedException if the caller was interrupted; the run is then cancelled
     */
    public FlowResult<R> run(@Nullable P parameter) throws InterruptedException {
        return run(parameter, RunOptions.defaults());
    }

    /**
     * Runs the flow and waits for its end. With a deadline this method returns at the deadline, even if an action is
     * still running.
     *
     * @param parameter the parameter for the nodes, may be null
     * @param options the options of this run
     * @return the result of the run and of each node; it contains the failures of nodes, which are not thrown
     * @throws InterruptedException if the caller was interrupted; the run is then cancelled
     * @throws IllegalArgumentException if the options do not fit the plan
     */
    public FlowResult<R> run(@Nullable P parameter, RunOptions options) throws InterruptedException {
        FlowRun<R> run = start(parameter, options);
        try {
            return run.join();
        } catch (InterruptedException interrupt) {
            run.cancel("its caller was interrupted");
            throw interrupt;
        }
    }

    /**
     * Starts a run with default options, without waiting. The caller must close the run.
     *
     * @param parameter the parameter for the nodes, may be null
     * @return the run
     */
    public FlowRun<R> start(@Nullable P parameter) {
        return start(parameter, RunOptions.defaults());
    }

    /**
     * Starts a run without waiting. The caller must close the run.
     *
     * {@snippet :
     * try (FlowRun<Page> run = plan.start(order, RunOptions.timeout(Duration.ofMillis(300)))) {
     *     return run.get();
     * }
     * }
     *
     * @param parameter the parameter for the nodes, may be null
     * @param options the options of this run
     * @return the run
     * @throws IllegalArgumentException if the options do not fit the plan
     */
    public FlowRun<R> start(@Nullable P parameter, RunOptions options) {
        FlowRun<R> run = new FlowRun<>(graph, returns, parameter, options, null, NodeEnd.NO_NODE);
        run.begin(null);
        return run;
    }

    /** Returns a nested run, which has not begun. */
    Engine inside(Engine outer, int node, @Nullable P parameter, OnFailure onFailure, int rootsAtOnce) {
        RunOptions options = ((FlowRun<?>) outer).optionsForNested(onFailure, rootsAtOnce);
        return new FlowRun<>(graph, returns, parameter, options, outer, node);
    }

    /**
     * Returns the name of the flow.
     *
     * @return the name, for messages
     */
    public String name() {
        return graph.name;
    }

    /**
     * Returns the nodes and their dependencies.
     *
     * @return the nodes, in the order of declaration
     */
    public List<PlanNode> nodes() {
        List<PlanNode> nodes = new ArrayList<>(graph.size);
        for (int node = 0; node < graph.size; node++) {
            nodes.add(describe(node));
        }
        return nodes;
    }

    private PlanNode describe(int node) {
        List<PlanEdge> edges = new ArrayList<>();
        for (int dependency = graph.dependencyStart[node]; dependency < graph.dependencyStart[node + 1]; dependency++) {
            String kind = text(dependency);
            for (int edge = graph.dependencyEdge[dependency]; edge < graph.dependencyEdge[dependency + 1]; edge++) {
                edges.add(new PlanEdge(graph.ids[graph.up[edge]], graph.ids[node], kind));
            }
        }
        NodeOptions options = graph.optionsOf(node);
        String group = options.group() instanceof NodeOptions.Constant(Object key) ? (String) key : null;
        return new PlanNode(graph.ids[node], edges, options.has(NodeOptions.ESSENTIAL), graph.isOutput[node], group);
    }

    private String text(int dependency) {
        return switch (graph.dependencyKind[dependency]) {
            case MUST, ALL -> "must";
            case ORDER -> "order";
            case OPTIONAL -> "optional";
            case AFTER -> "after";
            case ANY -> "any";
            case AT_LEAST -> "atLeast " + graph.clauseNeeded[graph.dependencyClause[dependency]];
        };
    }

    /**
     * Returns a drawing of the plan for Mermaid.
     *
     * @return a flowchart
     */
    public String toMermaid() {
        return Drawing.mermaid(nodes(), null);
    }

    /**
     * Returns a drawing of the plan for Graphviz.
     *
     * @return a digraph in the DOT language
     */
    public String toDot() {
        return Drawing.dot(graph.name, nodes(), null);
    }

    static @Nullable Object valueOf(Returns returns, FlowResult<?> result, Graph graph) {
        return switch (returns) {
            case NOTHING -> null;
            case ONE -> result.outputOf(graph.outputs[0]);
            case LIST -> Arrays.stream(graph.outputs).mapToObj(result::outputOf).toList();
            case MAP -> {
                Map<String, @Nullable Object> values = new LinkedHashMap<>();
                for (int node : graph.outputs) {
                    values.put(graph.ids[node], result.outputOf(node));
                }
                yield values;
            }
        };
    }

    @Override
    public String toString() {
        return "flow \"" + graph.name + "\" of " + graph.size + " nodes";
    }

    static boolean isMust(Kind kind) {
        return kind == Kind.MUST || kind == Kind.ORDER || kind == Kind.ALL;
    }
}
