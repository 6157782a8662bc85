package dev.raddle.flow;

import dev.raddle.task.Outcome;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The view of a run that the action of a node receives. Thread-safe; it may also be used after the node has ended.
 *
 * <p>A node can read its direct and indirect upstreams only. Reading never waits.
 *
 * @param <P> the type of the run's parameter
 */
public interface NodeContext<P> {

    /**
     * Returns the parameter of the run.
     *
     * @return the parameter, null if the run was started with null
     */
    P param();

    /**
     * Returns the parameter of the run, in a function of a {@link Node}, which does not know its type.
     *
     * {@snippet :
     * f.node("pay", c -> bank.pay(c.param()))
     *         .compensateWith((c, paid) -> bank.refund(c.param(Order.class), paid));
     * }
     *
     * @param <T> the type of the parameter
     * @param type the class of the parameter
     * @return the parameter, null if the run was started with null
     * @throws ClassCastException if the parameter is of another class
     */
    default <T> @Nullable T param(Class<T> type) {
        return type.cast(param());
    }

    /**
     * Returns the id of this node.
     *
     * @return the id
     */
    String id();

    /**
     * Returns whether the result of the node is no longer needed: the node has timed out, or it or the run was
     * cancelled.
     *
     * @return whether the action should return soon
     */
    boolean isCancelled();

    /**
     * Returns the remaining time of the node.
     *
     * @return the time until its deadline or that of the run; {@link Long#MAX_VALUE} nanoseconds if there is neither
     */
    Duration remaining();

    /**
     * Returns the value of a direct or indirect upstream node.
     *
     * @param <T> the value's type
     * @param node the node
     * @return its result, or its default if it did not succeed
     * @throws IllegalArgumentException if the node is not upstream of this one; the message has the id
     * @throws IllegalStateException if there is no value: the node has not ended, or has neither a result nor a default
     */
    <T> T read(Node<T> node);

    /**
     * Returns the value of a direct or indirect upstream node.
     *
     * @param id the id of the node
     * @return its result, or its default if it did not succeed
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one; the message has the
     *     id
     * @throws IllegalStateException if there is no value: the node has not ended, or has neither a result nor a default
     */
    @Nullable
    Object read(String id);

    /**
     * Returns the value of an upstream node, if it has ended with one.
     *
     * @param <T> the value's type
     * @param node the node
     * @return its result or its default; empty if there is none, or it is null
     * @throws IllegalArgumentException if the node is not upstream of this one
     */
    <T> Optional<T> peek(Node<T> node);

    /**
     * Returns the value of an upstream node, if it has ended with one.
     *
     * @param id the id of the node
     * @return its result or its default; empty if there is none, or it is null
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one
     */
    Optional<Object> peek(String id);

    /**
     * Returns the current state of an upstream node.
     *
     * @param id the id of the node
     * @return its state
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one
     */
    NodeState state(String id);

    /**
     * Returns the outcome of an upstream node.
     *
     * @param id the id of the node
     * @return its outcome, without its default
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one
     * @throws IllegalStateException if it has not ended
     */
    Outcome<?> outcome(String id);

    /**
     * Returns the id of the node of an {@code anyOf} dependency that was the first to succeed.
     *
     * @param any a dependency of this node, made by {@code anyOf}
     * @return the id of the winner
     * @throws IllegalArgumentException if this node has no such dependency
     */
    String winnerOf(Dependency<?> any);
}
