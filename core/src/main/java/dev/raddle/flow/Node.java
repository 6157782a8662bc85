package dev.raddle.flow;

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
 * A step of a flow that is being defined: what others depend on, and what says how it behaves. As a dependency it is a must:
 * who names it waits for its success and gets its value.
 *
 * {@snippet :
 * Node<Promo> promo = f.node("promo", user, u -> promos.of(u))
 *         .timeout(Duration.ofMillis(80))
 *         .retry(RetryPolicy.attempts(2))
 *         .defaultValue(Promo.NONE);
 * }
 *
 * <p>A node belongs to its builder and to the thread that defines; plans built before do not see what is changed later.
 *
 * @param <T> the type of its value
 */
public final class Node<T> extends Dependency<T> {

    private final String id;
    final int position; // in the order of declaration
    private Dependency<?>[] dependencies; // with room for more at the end
    private int dependencyCount;
    final Body body;
    final boolean isNested; // whether that is a run of its own

    NodeOptions options = NodeOptions.NONE;

    Node(String id, int position, Body body, Dependency<?>... arguments) {
        this.id = id;
        this.position = position;
        this.body = body;
        isNested = body instanceof Body.Nested;
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

    private Node<T> with(NodeOptions changed) {
        options = changed;
        return this;
    }

    /**
     * Returns the name of this node.
     *
     * @return unique in its flow
     */
    public String id() {
        return id;
    }

    /**
     * Adds dependencies whose values the action does not get as arguments. It may read them through its context.
     *
     * @param more what must be met, too
     * @return this
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
     * Limits how long the node may take, from the moment at which it is ready: the wait for a permit of its group, all
     * attempts and the rests between them count. Then it has timed out; its action is interrupted, and its result dropped.
     *
     * @param length positive
     * @return this
     */
    public Node<T> timeout(Duration length) {
        if (!length.isPositive()) {
            throw new IllegalArgumentException("timeout of node \"" + id + "\" must be positive, was " + length);
        }
        return with(options.withTimeout(length));
    }

    /**
     * Has the action not interrupted when its time is over or the run is cancelled. Its result is dropped all the same.
     *
     * @return this
     */
    public Node<T> noInterrupt() {
        return with(options.with(NodeOptions.NO_INTERRUPT));
    }

    /**
     * Has the action tried again after failures.
     *
     * @param policy how often, and after which rests
     * @return this
     */
    public Node<T> retry(RetryPolicy policy) {
        return with(options.withRetry(Objects.requireNonNull(policy, "retry")));
    }

    /**
     * Recovers from a failure of the action: the node then succeeds with another value, and what depends on it goes on. It is
     * not asked for if the node did not run, timed out or was cancelled.
     *
     * @param recovery gets what the last attempt has thrown; if it throws, the node fails
     * @return this
     */
    public Node<T> fallback(Fn.F1<Throwable, ? extends T> recovery) {
        Objects.requireNonNull(recovery, "fallback");
        return with(options.withFallback(recovery));
    }

    /**
     * Recovers from a failure of the action with a value.
     *
     * @param value may be null
     * @return this
     * @see #fallback(Fn.F1)
     */
    @SuppressWarnings("NullAway") // null is a value
    public Node<T> fallbackValue(@Nullable T value) {
        return with(options.withFallback(failure -> value));
    }

    /**
     * Sets what readers and the caller see if the node does not succeed. This is no recovery: what must have the node's
     * success fails.
     *
     * @param value may be null
     * @return this
     */
    public Node<T> defaultValue(@Nullable T value) {
        return with(options.withDefault(new NodeOptions.Constant(value)));
    }

    /**
     * Sets what finds out what readers and the caller see if the node does not succeed. It is asked once, by whoever decides
     * the node. If it throws, there is no value.
     *
     * @param supplier may return null
     * @return this
     */
    public Node<T> defaultFrom(Supplier<? extends @Nullable T> supplier) {
        return with(options.withDefault(Objects.requireNonNull(supplier, "default")));
    }

    /**
     * Sets a condition, which is asked once, when the node would begin. If it is false the node is skipped, and with it what
     * must have its success; if it throws, the node fails. Branches are conditions and {@code anyOf}.
     *
     * @param condition whether to run
     * @return this
     */
    public Node<T> when(Predicate<? super NodeContext<?>> condition) {
        return with(options.withCondition(Objects.requireNonNull(condition, "condition")));
    }

    /**
     * Has the node never skipped for being unneeded, nor what it needs.
     *
     * @return this
     */
    public Node<T> essential() {
        return with(options.with(NodeOptions.ESSENTIAL));
    }

    /**
     * Says that the action burns CPU: it runs in the run's scheduler for that, a pool as large as the machine.
     *
     * @return this
     */
    public Node<T> compute() {
        return with(options.with(NodeOptions.COMPUTE));
    }

    /**
     * Has the action run in a group, under its limits: while it waits for a permit it is {@link NodeState#WAITING} and holds no
     * thread. The run must have {@linkplain RunOptions#withGroups groups}.
     *
     * @param key of the group
     * @return this
     */
    public Node<T> group(String key) {
        return with(options.withGroup(new NodeOptions.Constant(Objects.requireNonNull(key, "group"))));
    }

    /**
     * Has the action run in a group whose key depends on the run.
     *
     * @param key returns the key; asked once, when the node is ready. If it throws, the node fails
     * @return this
     * @see #group(String)
     */
    public Node<T> group(Function<? super NodeContext<?>, String> key) {
        return with(options.withGroup(Objects.requireNonNull(key, "group")));
    }

    /**
     * Sets what is called right before the action is entered, once, in its thread. What it throws goes to the run's sink.
     *
     * @param callback hears of the beginning
     * @return this
     */
    public Node<T> onBegin(Consumer<? super NodeContext<?>> callback) {
        return with(options.withBegin(Objects.requireNonNull(callback, "callback")));
    }

    /**
     * Sets what is called when the node is decided, once, whether it ran or not, before anything that depends on it begins.
     * What it throws goes to the run's sink. A node that is restored from a journal was told of in an earlier run.
     *
     * @param callback hears of the result
     * @return this
     */
    public Node<T> onResult(Consumer<? super NodeReport<T>> callback) {
        Objects.requireNonNull(callback, "callback");
        return with(options.withResult(callback));
    }

    /**
     * Sets what undoes the node's work if it succeeded and the run did not: if the run fails, is cancelled or runs out of time.
     * Nodes are undone in the reverse order of their completion, one after the other, before the run is reported as ended. In a
     * run with a {@linkplain FlowJournal journal} that includes what earlier runs have completed.
     *
     * @param undo gets the node's value; what it throws is collected in the result, and the node counts as not undone
     * @return this
     */
    public Node<T> compensate(Fn.V1<? super T> undo) {
        Objects.requireNonNull(undo, "compensate");
        return with(options.withCompensation(undo));
    }

    @Override
    public String toString() {
        return "node \"" + id + "\"";
    }
}
