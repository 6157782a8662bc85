package dev.raddle.flow;

import java.util.List;
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

    final Graph graph;
    private final boolean takesParameter;

    FlowPlan(Graph graph, boolean takesParameter) {
        this.graph = graph;
        this.takesParameter = takesParameter;
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
        return new FlowBuilder<>(name, true);
    }

    /**
     * Begins the definition of a flow without a parameter, for {@link #run()} and {@link #start()}.
     *
     * @param name the name of the flow, for messages
     * @return a builder that declares the nodes
     */
    public static FlowBuilder<Void> define(String name) {
        return new FlowBuilder<>(name, false);
    }

    /**
     * Runs a flow without a parameter and waits for its end, with default options.
     *
     * @return the result of the run and of each node; it contains the failures of nodes, which are not thrown
     * @throws InterruptedException if the caller was interrupted; the run is then cancelled
     * @throws IllegalStateException if the runs of this flow have a parameter
     */
    public FlowResult<R> run() throws InterruptedException {
        requireNoParameter("run");
        return run(null);
    }

    /**
     * Starts a run of a flow without a parameter with default options, without waiting. The caller must close the run.
     *
     * @return the run
     * @throws IllegalStateException if the runs of this flow have a parameter
     */
    public FlowRun<R> start() {
        requireNoParameter("start");
        return start(null);
    }

    private void requireNoParameter(String method) {
        if (takesParameter) {
            throw new IllegalStateException(
                    this + " has a parameter; call " + method + "(parameter), with null if there is none this time");
        }
    }

    /**
     * Runs the flow and waits for its end, with default options.
     *
     * @param parameter the parameter for the nodes, may be null
     * @return the result of the run and of each node; it contains the failures of nodes, which are not thrown
     * @throws InterruptedException if the caller was interrupted; the run has been cancelled and undone
     */
    public FlowResult<R> run(@Nullable P parameter) throws InterruptedException {
        return run(parameter, RunOptions.defaults());
    }

    /**
     * Runs the flow and waits for its end. With a deadline this method returns at the deadline, even if an action is
     * still running.
     *
     * <p>If the caller is interrupted, the run is cancelled, and this method throws when the run has ended: every
     * action has returned, and callbacks and compensations have been called. A further interrupt does not shorten this,
     * and sets the interrupt status. What compensations have thrown is suppressed in the exception.
     *
     * @param parameter the parameter for the nodes, may be null
     * @param options the options of this run
     * @return the result of the run and of each node; it contains the failures of nodes, which are not thrown
     * @throws InterruptedException if the caller was interrupted; the run has been cancelled and undone
     * @throws IllegalArgumentException if the options do not fit the plan
     */
    public FlowResult<R> run(@Nullable P parameter, RunOptions options) throws InterruptedException {
        FlowRun<R> run = start(parameter, options);
        try {
            return run.join();
        } catch (Throwable failure) {
            run.stop(failure);
            throw failure;
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
        Engine engine = new Engine(graph, parameter, options.values, null, NodeEnd.NO_NODE);
        engine.begin();
        return new FlowRun<>(engine);
    }

    /**
     * Returns a run of this flow without threads and without a clock, for a driver that keeps its state elsewhere.
     *
     * <p>Of the options apply: timeout, failure policy, treatment of unneeded nodes, selected nodes, listener,
     * propagators, sink and times of nodes. Where actions run, in groups or elsewhere, is up to the driver.
     *
     * @param parameter the parameter for the nodes, may be null
     * @param options the options of this run
     * @return a stepper that has not been started
     * @throws IllegalArgumentException if the options do not fit the plan, or include a journal or a deadline
     */
    public FlowStepper<R> stepper(@Nullable P parameter, RunOptions options) {
        return new FlowStepper<>(graph, parameter, options.values);
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
        return graph.nodes();
    }

    /**
     * Checks that a value may be delivered to a node of a run. What stores a signal before its run receives it, in
     * another process perhaps, calls this first: a wrong value that is stored would keep out the right one.
     *
     * @param id the id of a node that was declared by {@link FlowBuilder#signal}, or its path if it is in a subflow
     * @param value the value
     * @throws IllegalArgumentException if there is no such signal, or the value is not of its class
     */
    public void checkSignal(String id, @Nullable Object value) {
        Signals.ensureType(id, graph.addressOf(id).type(), value);
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

    @Override
    public String toString() {
        return "flow \"" + graph.name + "\" of " + graph.size + " nodes";
    }
}
