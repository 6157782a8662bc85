package dev.raddle.flow;

import dev.raddle.kernel.Draft;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A node of a flow that is being defined, with its options. As a dependency it is a must: a node that depends on it
 * waits for its success and receives its value.
 *
 * {@snippet :
 * Node<Promo> promo = f.node("promo", user, u -> promos.of(u))
 *         .timeout(Duration.ofMillis(80))
 *         .retry(RetryPolicy.attempts(2))
 *         .defaultValue(Promo.NONE);
 * }
 *
 * <p>A node belongs to its builder, and like it is not thread-safe. Later changes do not affect plans that were built
 * before.
 *
 * @param <T> the type of the value of the node
 */
public final class Node<T> extends Dependency<T> {

    /** The function of a node, which takes its arguments from the run. */
    @FunctionalInterface
    interface Body {

        /**
         * Returns the node's value, which may be null; of a nested run a {@link NestedPlan}, of a sleep its length or
         * the moment of its end. Not called for a signal.
         */
        Object call(RunFacts run, int node) throws Exception;
    }

    /**
     * What the body of a node returns.
     *
     * @param isNested true for the plan of a nested run
     * @param waits true for the moment or the signal that the node waits for
     * @param signalType the class of the signal that the node waits for, or null
     * @param subflow the plan of the nested run; null if there is none, or it depends on the run
     */
    record Form(
            boolean isNested,
            boolean waits,
            @Nullable Class<?> signalType,
            @Nullable Graph subflow) {

        /** The body is an action and returns the value of the node. */
        static final Form ACTION = new Form(false, false, null, null);

        static final Form NESTED = new Form(true, false, null, null);
        static final Form SLEEP = new Form(false, true, null, null);

        static Form signal(Class<?> type) {
            return new Form(false, true, type, null);
        }

        static Form subflow(Graph graph) {
            return new Form(true, false, null, graph);
        }
    }

    private final String id;
    final int position; // in the order of declaration
    private Dependency<?>[] dependencies; // may be longer than dependencyCount
    private int dependencyCount;
    final Body body;
    final Form form;

    NodeOptions options = NodeOptions.NONE;

    Node(String id, int position, Body body, Form form, Dependency<?>... arguments) {
        this.id = id;
        this.position = position;
        this.body = body;
        this.form = form;
        dependencies = arguments;
        dependencyCount = arguments.length;
    }

    @Override
    Kind kind() {
        return Kind.MUST;
    }

    @Override
    List<String> ids() {
        return List.of(id);
    }

    int dependencyCount() {
        return dependencyCount;
    }

    Dependency<?> dependency(int position) {
        return dependencies[position];
    }

    private Node<T> with(Consumer<NodeOptions> change) {
        options = options.with(change);
        return this;
    }

    /**
     * Returns the id of this node.
     *
     * @return the id, which is unique in the flow
     */
    public String id() {
        return id;
    }

    /**
     * Adds dependencies whose values are not arguments of the action. The action can read them through its context.
     *
     * @param more the dependencies to add
     * @return this node
     */
    public Node<T> needs(Dependency<?>... more) {
        int count = dependencyCount + more.length;
        if (count > dependencies.length) {
            dependencies = Arrays.copyOf(dependencies, Math.max(count, 2 * dependencyCount));
        }
        for (Dependency<?> each : more) {
            dependencies[dependencyCount++] = Objects.requireNonNull(each, "more");
        }
        return this;
    }

    /**
     * Limits the duration of the node, from the time at which it is ready: the wait for a permit of its group, all
     * attempts and the pauses between them are included. After that the node is timed out, its action is interrupted,
     * and its result is dropped.
     *
     * @param timeout the timeout, positive
     * @return this node
     */
    public Node<T> timeout(Duration timeout) {
        if (!timeout.isPositive()) {
            throw new IllegalArgumentException("timeout of node \"" + id + "\" must be positive, was " + timeout);
        }
        return with(own -> own.timeout = timeout);
    }

    /**
     * Excludes the action from interrupts on timeout and cancellation. Its result is dropped nevertheless.
     *
     * @return this node
     */
    public Node<T> noInterrupt() {
        return with(own -> own.flags |= NodeOptions.NO_INTERRUPT);
    }

    /**
     * Sets the retry policy of the action.
     *
     * @param policy the number of attempts and the pauses between them
     * @return this node
     */
    public Node<T> retry(RetryPolicy policy) {
        return with(own -> own.retry = Objects.requireNonNull(policy, "retry"));
    }

    /**
     * Sets a fallback for failures of the action: the node then succeeds with the value of the fallback. The fallback
     * is not called if the node did not run, timed out or was cancelled.
     *
     * @param recovery a function of the exception of the last attempt; if it throws, the node fails
     * @return this node
     */
    public Node<T> fallback(CheckedFunction.F1<Throwable, ? extends T> recovery) {
        return with(own -> own.fallback = Objects.requireNonNull(recovery, "fallback"));
    }

    /**
     * Sets a fallback value for failures of the action.
     *
     * @param value the value, may be null
     * @return this node
     * @see #fallback(CheckedFunction.F1)
     */
    @SuppressWarnings("NullAway") // null is a value
    public Node<T> fallbackValue(@Nullable T value) {
        return fallback(failure -> value);
    }

    /**
     * Sets the value that readers and the caller receive if the node does not succeed. The node still counts as not
     * successful: nodes that require its success fail.
     *
     * @param value the value, may be null
     * @return this node
     */
    public Node<T> defaultValue(@Nullable T value) {
        return with(own -> own.defaultValue = new NodeOptions.Constant(value));
    }

    /**
     * Sets a supplier of the default value, see {@link #defaultValue}. It is called once, by the thread that ends the
     * node. If it throws, there is no value.
     *
     * @param supplier the supplier of the value, which may be null
     * @return this node
     */
    public Node<T> defaultFrom(Supplier<? extends @Nullable T> supplier) {
        return with(own -> own.defaultValue = Objects.requireNonNull(supplier, "default"));
    }

    /**
     * Sets a condition, which is evaluated once, when the node is about to begin. If it is false, the node is skipped,
     * and so are the nodes that require its success; if it throws, the node fails. Branches are built from conditions
     * and {@code anyOf}.
     *
     * @param condition the condition for running the node
     * @return this node
     */
    public Node<T> when(Predicate<? super NodeContext<?>> condition) {
        return with(own -> own.condition = Objects.requireNonNull(condition, "condition"));
    }

    /**
     * Marks the node as essential: neither it nor its upstreams are skipped as unneeded.
     *
     * @return this node
     */
    public Node<T> essential() {
        return with(own -> own.flags |= NodeOptions.ESSENTIAL);
    }

    /**
     * Marks the action as CPU-bound: it runs on the run's compute scheduler, by default the JDK's common pool.
     *
     * @return this node
     */
    public Node<T> compute() {
        return with(own -> own.flags |= NodeOptions.COMPUTE);
    }

    /**
     * Runs the action in a group, under its limits: while the node waits for a permit it is {@link NodeState#WAITING}
     * and holds no thread. The run must have {@linkplain RunOptions#withGroups groups}.
     *
     * @param key the key of the group
     * @return this node
     */
    public Node<T> group(String key) {
        return with(own -> own.group = new NodeOptions.Constant(Objects.requireNonNull(key, "group")));
    }

    /**
     * Runs the action in a group whose key depends on the run.
     *
     * @param key a function that returns the key, called once, when the node is ready. If it throws, the node fails
     * @return this node
     * @see #group(String)
     */
    public Node<T> group(Function<? super NodeContext<?>, String> key) {
        return with(own -> own.group = Objects.requireNonNull(key, "group"));
    }

    /**
     * Adds a callback that is called once, immediately before the action and in its thread. Its exceptions go to the
     * run's sink.
     *
     * @param callback the callback to add
     * @return this node
     */
    public Node<T> onBegin(Consumer<? super NodeContext<?>> callback) {
        return with(own -> own.begin = Draft.added(own.begin, callback, "callback"));
    }

    /**
     * Adds a callback that is called once, when the node has ended, whether it ran or not, before any node that depends
     * on it begins. Its exceptions go to the run's sink. It is not called for a node that is restored from a journal,
     * since an earlier run called it.
     *
     * @param callback the callback to add
     * @return this node
     */
    @SuppressWarnings("unchecked") // the node's values are of the callback's type
    public Node<T> onResult(Consumer<? super NodeReport<T>> callback) {
        Objects.requireNonNull(callback, "callback");
        Consumer<NodeReport<?>> added = report -> callback.accept((NodeReport<T>) report);
        return with(own -> own.result = Draft.added(own.result, added, "callback"));
    }

    /**
     * Sets a compensation, which undoes the effects of the node if the node succeeded and the run fails, is cancelled
     * or times out; also if the action has returned, and its value could not be recorded. Nodes are undone in the
     * reverse order of their completion, one after the other, before the run ends. In a run with a
     * {@linkplain FlowJournal journal} this includes the nodes that earlier runs have completed.
     *
     * @param undo a function of the node's value. If its last attempt throws, the exception is in the result, the node
     *     counts as not undone, and the other nodes are undone nevertheless; a run with a journal has then not ended,
     *     and goes on undoing when it is continued
     * @return this node
     */
    public Node<T> compensate(CheckedFunction.V1<? super T> undo) {
        Objects.requireNonNull(undo, "compensate");
        return compensateWith((c, value) -> undo.accept(value));
    }

    /**
     * Sets a compensation, as {@link #compensate} does, that also reads the parameter of the run and the values of
     * upstream nodes.
     *
     * {@snippet :
     * f.node("pay", order, o -> bank.pay(o))
     *         .compensateWith((c, payment) -> bank.refund(c.read(order), payment))
     *         .compensationRetry(RetryPolicy.fixedDelay(5, Duration.ofSeconds(1)))
     *         .compensationTimeout(Duration.ofMinutes(1));
     * }
     *
     * @param undo a function of the context of the node, whose remaining time is that of the compensation, and of its
     *     value
     * @return this node
     */
    @SuppressWarnings("unchecked") // the node's values are of the function's type
    public Node<T> compensateWith(CheckedFunction.V2<? super NodeContext<?>, ? super T> undo) {
        Objects.requireNonNull(undo, "compensate");
        Compensation made = new Compensation((c, value) -> undo.accept(c, (T) value), RetryPolicy.noRetry(), null);
        return with(own -> own.compensation = made);
    }

    private Compensation compensation(String option) {
        Compensation known = options.compensation;
        if (known == null) {
            throw new IllegalStateException(
                    "node \"" + id + "\" has no compensation; call compensate before " + option);
        }
        return known;
    }

    /**
     * Sets the retry policy of the compensation. Without it there is one attempt.
     *
     * @param policy the number of attempts and the pauses between them
     * @return this node
     * @throws IllegalStateException if the node has no compensation yet
     */
    public Node<T> compensationRetry(RetryPolicy policy) {
        Compensation known = compensation("compensationRetry");
        Objects.requireNonNull(policy, "retry");
        return with(own -> own.compensation = new Compensation(known.undo(), policy, known.timeout()));
    }

    /**
     * Limits the duration of the compensation, all attempts and the pauses between them included. After that the
     * compensation is interrupted and has failed. In another process the time begins anew.
     *
     * @param timeout the timeout, positive
     * @return this node
     * @throws IllegalStateException if the node has no compensation yet
     */
    public Node<T> compensationTimeout(Duration timeout) {
        Compensation known = compensation("compensationTimeout");
        if (!timeout.isPositive()) {
            throw new IllegalArgumentException(
                    "compensationTimeout of node \"" + id + "\" must be positive, was " + timeout);
        }
        return with(own -> own.compensation = new Compensation(known.undo(), known.retry(), timeout));
    }

    @Override
    public String toString() {
        return "node \"" + id + "\"";
    }
}
