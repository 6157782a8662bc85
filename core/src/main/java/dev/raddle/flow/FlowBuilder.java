package dev.raddle.flow;

import dev.raddle.flow.CheckedFunction.F1;
import dev.raddle.flow.CheckedFunction.F2;
import dev.raddle.flow.CheckedFunction.F3;
import dev.raddle.flow.CheckedFunction.F4;
import dev.raddle.flow.CheckedFunction.V0;
import dev.raddle.flow.CheckedFunction.V1;
import dev.raddle.flow.CheckedFunction.V2;
import java.lang.invoke.MethodType;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;

/**
 * Defines a flow: declares nodes, and builds plans of them. The dependencies passed before the action are its
 * arguments.
 *
 * {@snippet :
 * FlowBuilder<Order> f = FlowPlan.define("checkout", Order.class);
 * Node<User> user = f.node("user", c -> users.get(c.param().userId()));
 * Node<Promo> promo = f.node("promo", user, promos::of);
 * Node<Page> page = f.node("page", user, promo, Page::new);
 * FlowPlan<Order, Page> plan = f.returning(page);
 * }
 *
 * <p>A node whose action returns nothing is declared by {@code action}. {@code node} takes the id of the node, which is
 * unique in the flow, dependencies, and an action of as many arguments, with or without the {@linkplain NodeContext
 * context} as its first argument. The action of a {@code node} has up to four arguments, that of an {@code action} two,
 * with the context. {@link Node#needs} adds more dependencies, which the action reads through the context. Both return
 * the new node. An exception of an action fails its node. A builder is for one thread; the plans that it builds are for
 * many.
 *
 * @param <P> the type of the parameter that a run is started with
 */
@SuppressWarnings("doclint:missing") // the overloads for more dependencies repeat the parameters; see decision 0031
public final class FlowBuilder<P> {

    private final String name;
    private final List<Node<?>> nodes = new ArrayList<>();
    private final Ids ids = new Ids(); // of the nodes, in the same order
    private final List<String> problems = new ArrayList<>();

    private final boolean takesParameter;

    FlowBuilder(String name, boolean takesParameter) {
        this.name = Objects.requireNonNull(name, "name");
        this.takesParameter = takesParameter;
    }

    private <T> Node<T> add(String id, Object action, Node.Body body, Dependency<?>... arguments) {
        Objects.requireNonNull(action, "action");
        return add(id, body, Node.Form.ACTION, arguments);
    }

    private <T> Node<T> add(String id, Node.Body body, Node.Form form, Dependency<?>... arguments) {
        Node<T> node = new Node<>(Objects.requireNonNull(id, "id"), nodes.size(), body, form, arguments);
        if (id.isBlank()) {
            problems.add("node " + nodes.size() + " has an empty id; give it a name");
        }
        if (!ids.add(id)) {
            problems.add("duplicate id: there are two nodes \"" + id + "\"; give one of them another name");
        }
        nodes.add(node);
        return node;
    }

    @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"
    }) // the value of a dependency is of its type
    private static <X> X arg(RunFacts run, int node, int position) {
        return (X) run.argument(node, position);
    }

    /** Performs the action of a node without a value. */
    @SuppressWarnings("NullAway") // null is a value
    private static Object done(V0 action) throws Exception {
        action.accept();
        return null;
    }

    @SuppressWarnings("unchecked") // a run of this builder's plan has a parameter of this type
    private NodeContext<P> context(RunFacts run, int node) {
        return (NodeContext<P>) run.contextOf(node);
    }

    Node<?> declared(String id) {
        int position = ids.find(id);
        if (position < 0) {
            throw new IllegalArgumentException(
                    "there is no node \"" + id + "\" in flow \"" + name + "\" yet; declare it");
        }
        return nodes.get(position);
    }

    /**
     * Declares a node without dependencies.
     *
     * @param <T> the type of the value
     * @param id the id of the node, unique in the flow
     * @param action the action of the node
     * @return the new node
     */
    public <T> Node<T> node(String id, Callable<? extends T> action) {
        return add(id, action, new Call(action));
    }

    /** The body of a node without dependencies. A class of its own: a lambda would delay the first flow of a JVM. */
    private record Call(Callable<?> action) implements Node.Body {
        @Override
        public Object call(RunFacts run, int node) throws Exception {
            return action.call();
        }
    }

    /**
     * Declares a node without dependencies, whose action also receives the context.
     *
     * @param <T> the type of the value
     * @param id the id of the node, unique in the flow
     * @param action the action of the node
     * @return the new node
     */
    public <T> Node<T> node(String id, F1<? super NodeContext<P>, ? extends T> action) {
        return add(id, action, (r, n) -> action.apply(context(r, n)));
    }

    /**
     * Declares a node with one dependency.
     *
     * @param <A> the type of an argument
     * @param <T> the type of the value
     * @param id the id of the node, unique in the flow
     * @param a a dependency
     * @param action the action of the node
     * @return the new node
     */
    public <A, T> Node<T> node(String id, Dependency<A> a, F1<? super A, ? extends T> action) {
        return add(id, action, (r, n) -> action.apply(arg(r, n, 0)), a);
    }

    /**
     * Declares a node with one dependency, whose action also receives the context.
     *
     * @param <A> the type of an argument
     * @param <T> the type of the value
     * @param id the id of the node, unique in the flow
     * @param a a dependency
     * @param action the action of the node
     * @return the new node
     */
    public <A, T> Node<T> node(String id, Dependency<A> a, F2<? super NodeContext<P>, ? super A, ? extends T> action) {
        return add(id, action, (r, n) -> action.apply(context(r, n), arg(r, n, 0)), a);
    }

    /** Declares a node with two dependencies. */
    public <A, B, T> Node<T> node(
            String id, Dependency<A> a, Dependency<B> b, F2<? super A, ? super B, ? extends T> action) {
        return add(id, action, (r, n) -> action.apply(arg(r, n, 0), arg(r, n, 1)), a, b);
    }

    /** Declares a node with two dependencies, whose action also receives the context. */
    public <A, B, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            F3<? super NodeContext<P>, ? super A, ? super B, ? extends T> action) {
        return add(id, action, (r, n) -> action.apply(context(r, n), arg(r, n, 0), arg(r, n, 1)), a, b);
    }

    /** Declares a node with three dependencies. */
    public <A, B, C, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            F3<? super A, ? super B, ? super C, ? extends T> action) {
        return add(id, action, (r, n) -> action.apply(arg(r, n, 0), arg(r, n, 1), arg(r, n, 2)), a, b, c);
    }

    /** Declares a node with three dependencies, whose action also receives the context. */
    public <A, B, C, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            F4<? super NodeContext<P>, ? super A, ? super B, ? super C, ? extends T> action) {
        Node.Body body = (r, n) -> action.apply(context(r, n), arg(r, n, 0), arg(r, n, 1), arg(r, n, 2));
        return add(id, action, body, a, b, c);
    }

    /** Declares a node with four dependencies. */
    public <A, B, C, D, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            F4<? super A, ? super B, ? super C, ? super D, ? extends T> action) {
        Node.Body body = (r, n) -> action.apply(arg(r, n, 0), arg(r, n, 1), arg(r, n, 2), arg(r, n, 3));
        return add(id, action, body, a, b, c, d);
    }

    /**
     * Declares a node without a value and without dependencies. Use {@code order} to depend on it: its value is null.
     *
     * @param id the id of the node, unique in the flow
     * @param action the action of the node
     * @return the new node
     */
    public Node<Void> action(String id, V0 action) {
        return add(id, action, (r, n) -> done(action));
    }

    /**
     * Declares a node without a value and without dependencies, whose action also receives the context. Use
     * {@code order} to depend on it: its value is null.
     *
     * @param id the id of the node, unique in the flow
     * @param action the action of the node
     * @return the new node
     */
    public Node<Void> action(String id, V1<? super NodeContext<P>> action) {
        return add(id, action, (r, n) -> done(() -> action.accept(context(r, n))));
    }

    /**
     * Declares a node without a value, with one dependency. Use {@code order} to depend on it: its value is null.
     *
     * @param <A> the type of an argument
     * @param id the id of the node, unique in the flow
     * @param a a dependency
     * @param action the action of the node
     * @return the new node
     */
    public <A> Node<Void> action(String id, Dependency<A> a, V1<? super A> action) {
        return add(id, action, (r, n) -> done(() -> action.accept(arg(r, n, 0))), a);
    }

    /**
     * Declares a node without a value, with one dependency, whose action also receives the context. Use {@code order}
     * to depend on it: its value is null.
     *
     * @param <A> the type of an argument
     * @param id the id of the node, unique in the flow
     * @param a a dependency
     * @param action the action of the node
     * @return the new node
     */
    public <A> Node<Void> action(String id, Dependency<A> a, V2<? super NodeContext<P>, ? super A> action) {
        return add(id, action, (r, n) -> done(() -> action.accept(context(r, n), arg(r, n, 0))), a);
    }

    /** Declares a node without a value, with two dependencies. */
    public <A, B> Node<Void> action(String id, Dependency<A> a, Dependency<B> b, V2<? super A, ? super B> action) {
        return add(id, action, (r, n) -> done(() -> action.accept(arg(r, n, 0), arg(r, n, 1))), a, b);
    }

    /**
     * Declares a node that runs another plan as a nested run, with the deadline, scheduler and context of the outer
     * run. No thread waits for it. Its value is the value of that plan; if the nested run fails, so does the node.
     *
     * @param <X> the type of the parameter of the other plan
     * @param <T> the type of the value
     * @param id the id of the node, unique in the flow
     * @param plan the plan to run
     * @param parameter the dependency whose value is the parameter of the nested run
     * @return the new node
     */
    public <X, T> Node<T> subflow(String id, FlowPlan<X, T> plan, Dependency<X> parameter) {
        Objects.requireNonNull(plan, "plan");
        Node.Body body = (run, node) -> new NestedPlan(plan.graph, run.argument(node, 0), OnFailure.CONTINUE, 0);
        return add(id, body, Node.Form.subflow(plan.graph), parameter);
    }

    /**
     * Declares a node that applies a function to each element of a collection that is known only at run time,
     * concurrently. Its value is the list of results, in the same order; the first failure fails the node and cancels
     * the other elements.
     *
     * @param <X> the type of the elements
     * @param <T> the type of the results
     * @param id the id of the node, unique in the flow
     * @param items the dependency whose value is the collection
     * @param each the function
     * @return the new node
     * @see #map(String, Dependency, MapOptions, CheckedFunction.F1)
     */
    public <X, T> Node<List<T>> map(
            String id, Dependency<? extends Collection<? extends X>> items, F1<? super X, ? extends T> each) {
        return map(id, items, MapOptions.defaults(), each);
    }

    /**
     * Declares a node that applies a function to each element of a collection that is known only at run time. Its value
     * is the list of results, in the same order; the first failure or timeout of an element fails the node and cancels
     * the other elements.
     *
     * {@snippet :
     * Node<List<Image>> images = f.map(
     *         "images",
     *         pictures,
     *         MapOptions.limit(8).withTimeout(Duration.ofSeconds(2)).withRetry(RetryPolicy.attempts(3)),
     *         picture -> scaled(picture));
     * }
     *
     * <p>A journal records each result by the position of its element. A run that continues uses these results if the
     * collection is a {@link List} or a {@link java.util.SortedSet}; equal collections of other types may have
     * different orders, so it processes all of their elements again.
     *
     * @param <X> the type of the elements
     * @param <T> the type of the results
     * @param id the id of the node, unique in the flow
     * @param items the dependency whose value is the collection
     * @param options the limit of concurrent elements, and the timeout and the retry policy of each
     * @param each the function
     * @return the new node
     */
    public <X, T> Node<List<T>> map(
            String id,
            Dependency<? extends Collection<? extends X>> items,
            MapOptions options,
            F1<? super X, ? extends T> each) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(each, "each");
        Node.Body body = (run, node) -> {
            Collection<? extends X> elements = arg(run, node, 0);
            return mapped(id, elements, options, each);
        };
        return add(id, body, Node.Form.NESTED, items);
    }

    private static <X, T> NestedPlan mapped(
            String id, Collection<? extends X> elements, MapOptions options, F1<? super X, ? extends T> each) {
        FlowBuilder<Void> inner = new FlowBuilder<>(id, false);
        int position = 0;
        for (X element : elements) {
            inner.node(id + "[" + position++ + "]", () -> each.apply(element)).options = options.each;
        }
        Graph graph = inner.compile(inner.nodes, Graph.Returns.LIST);
        return new NestedPlan(graph, elements, OnFailure.FAIL_FAST, options.limit);
    }

    /**
     * Declares a node that ends after a time, counted from when it is reached. It holds no thread meanwhile. Add its
     * dependencies by {@link Node#needs}.
     *
     * @param id the id of the node, unique in the flow
     * @param length the time; zero or less ends the node at once
     * @return the new node, whose value is null
     */
    public Node<Void> sleep(String id, Duration length) {
        Objects.requireNonNull(length, "length");
        return sleep(id, context -> length);
    }

    /**
     * Declares a node that ends after a time that depends on the run.
     *
     * @param id the id of the node, unique in the flow
     * @param length a function that returns the time, called once, when the node is reached; if it throws, the node
     *     fails
     * @return the new node, whose value is null
     * @see #sleep(String, Duration)
     */
    public Node<Void> sleep(String id, F1<? super NodeContext<P>, Duration> length) {
        Objects.requireNonNull(length, "length");
        return add(id, (run, node) -> length.apply(context(run, node)), Node.Form.SLEEP);
    }

    /**
     * Declares a node that ends at a moment on the wall clock. It holds no thread meanwhile. Add its dependencies by
     * {@link Node#needs}.
     *
     * @param id the id of the node, unique in the flow
     * @param moment a function that returns the moment, called once, when the node is reached; one that has passed ends
     *     the node at once; if it throws, the node fails
     * @return the new node, whose value is null
     */
    public Node<Void> sleepUntil(String id, F1<? super NodeContext<P>, Instant> moment) {
        Objects.requireNonNull(moment, "moment");
        return add(id, (run, node) -> moment.apply(context(run, node)), Node.Form.SLEEP);
    }

    /**
     * Declares a node that ends when a value is delivered from outside, by {@link FlowRun#signal}. It holds no thread
     * meanwhile. A value that is delivered before the node is reached is kept until then. Add its dependencies by
     * {@link Node#needs}, and a limit by {@link Node#timeout}.
     *
     * {@snippet :
     * Node<Decision> approved = f.signal("approved", Decision.class).needs(order(asked)).timeout(Duration.ofDays(3));
     * }
     *
     * @param <T> the type of the value
     * @param id the id of the node, unique in the flow
     * @param type the class of the value; of {@code Void} the value is null
     * @return the new node
     */
    public <T> Node<T> signal(String id, Class<T> type) {
        Objects.requireNonNull(type, "type");
        Class<?> ofValues = MethodType.methodType(type).wrap().returnType();
        return add(id, (run, node) -> ofValues, Node.Form.signal(ofValues));
    }

    /**
     * Builds a plan whose value is the value of one node.
     *
     * @param <R> the type of the value
     * @param output a node of this flow
     * @return an immutable plan
     * @throws InvalidFlowException if the definition is not valid; the message names all problems
     */
    public <R> FlowPlan<P, R> returning(Node<R> output) {
        return new FlowPlan<>(compile(List.of(output), Graph.Returns.ONE), takesParameter);
    }

    /**
     * Builds a plan whose value is a map of the values of several nodes by their ids.
     *
     * @param outputs nodes of this flow
     * @return an immutable plan
     * @throws InvalidFlowException if the definition is not valid; the message names all problems
     */
    public FlowPlan<P, Map<String, Object>> returning(List<? extends Node<?>> outputs) {
        return new FlowPlan<>(compile(outputs, Graph.Returns.MAP), takesParameter);
    }

    /**
     * Builds a plan without a value; its results contain only the ends of the nodes.
     *
     * @return an immutable plan
     * @throws InvalidFlowException if the definition is not valid; the message names all problems
     */
    public FlowPlan<P, Void> build() {
        return new FlowPlan<>(compile(List.of(), Graph.Returns.NOTHING), takesParameter);
    }

    private Graph compile(List<? extends Node<?>> outputs, Graph.Returns returns) {
        return compiler().compile(outputs, returns);
    }

    Compiler compiler() {
        return new Compiler(name, nodes, ids.copy(), problems);
    }

    @Override
    public String toString() {
        return "definition of flow \"" + name + "\" with " + nodes.size() + " nodes";
    }
}
