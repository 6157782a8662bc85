package dev.raddle.flow;

import dev.raddle.task.Outcome;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * What a node's action can ask about its run. It may be kept and asked from any thread, also after the node has ended.
 *
 * <p>A node may read its upstreams and theirs, and no others. Reading never waits.
 *
 * @param <P> the type of the run's parameter
 */
public interface NodeContext<P> {

    /**
     * Returns what the run was started with.
     *
     * @return the parameter, null if the run was started with null
     */
    P param();

    /**
     * Returns which node this is.
     *
     * @return its id
     */
    String id();

    /**
     * Tells whether the node's result is wanted no more: its time is over, or it or the run was cancelled.
     *
     * @return true if the action should return soon
     */
    boolean isCancelled();

    /**
     * Returns how much time is left for the node.
     *
     * @return the time until its deadline or that of the run; {@link Long#MAX_VALUE} nanoseconds if there is neither
     */
    Duration remaining();

    /**
     * Returns the value of an upstream node, near or far.
     *
     * @param <T> the value's type
     * @param node which
     * @return its result, or its default if it did not succeed
     * @throws IllegalArgumentException if that is not upstream of this node; the message has the id
     * @throws IllegalStateException if there is no value: the node has not ended, or has neither a result nor a default
     */
    <T> T read(Node<T> node);

    /**
     * Returns the value of an upstream node, near or far.
     *
     * @param id which
     * @return its result, or its default if it did not succeed
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one; the message has the id
     * @throws IllegalStateException if there is no value: the node has not ended, or has neither a result nor a default
     */
    @Nullable
    Object read(String id);

    /**
     * Returns the value of an upstream node, if it has ended with one.
     *
     * @param <T> the value's type
     * @param node which
     * @return its result or its default; empty if there is none, or it is null
     * @throws IllegalArgumentException if that is not upstream of this node
     */
    <T> Optional<T> peek(Node<T> node);

    /**
     * Returns the value of an upstream node, if it has ended with one.
     *
     * @param id which
     * @return its result or its default; empty if there is none, or it is null
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one
     */
    Optional<Object> peek(String id);

    /**
     * Returns how an upstream node stands.
     *
     * @param id which
     * @return its state now
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one
     */
    NodeState state(String id);

    /**
     * Returns how an upstream node has ended.
     *
     * @param id which
     * @return its outcome, without its default
     * @throws IllegalArgumentException if there is no such node, or it is not upstream of this one
     * @throws IllegalStateException if it has not ended
     */
    Outcome<?> outcome(String id);

    /**
     * Returns which node was the first to succeed.
     *
     * @param any a dependency of this node, made by {@code anyOf}
     * @return the id of the winner
     * @throws IllegalArgumentException if this node has no such dependency
     */
    String winnerOf(Dependency<?> any);
}
