package dev.raddle.flow;

import dev.raddle.task.Outcome;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * A dependency of a node: a condition that must be met before the node begins, and the value that the node receives.
 * The simplest dependency is a {@link Node}, which is met by its success. The factory methods of this class create the
 * others.
 *
 * {@snippet :
 * Node<Price> price = f.node("price", anyOf(local, remote), optional(promo), (p, pr) -> p.minus(pr.orElse(NONE)));
 * }
 *
 * <p>All dependencies of a node must be met before it begins. Nodes can be given by their ids, which need not be
 * declared yet; the types of their values are then {@code Object}.
 *
 * @param <T> the type of the value that the node receives
 */
public abstract sealed class Dependency<T> permits Node, Dependency.Clause {

    /** The kind of an edge: the condition on its upstream node. */
    enum Kind {
        MUST,
        ORDER,
        OPTIONAL,
        AFTER,
        ANY,
        AT_LEAST,
        ALL;

        /** Returns the word for this kind in plans. */
        String text(int needed) {
            return switch (this) {
                case MUST, ALL -> "must";
                case AT_LEAST -> "atLeast " + needed;
                default -> name().toLowerCase(Locale.ROOT);
            };
        }

        /** Returns whether the node cannot begin unless the upstream node succeeds. */
        boolean isMust() {
            return this == MUST || this == ORDER || this == ALL;
        }
    }

    /** A dependency that is not a {@link Node} itself. */
    static final class Clause<T> extends Dependency<T> {
        final Kind kind;
        final int needed; // of AT_LEAST
        final List<? extends Node<?>> nodes; // empty if they are given by their ids
        private final List<String> given; // these ids, or empty

        Clause(Kind kind, int needed, Stream<String> ids) {
            this.kind = kind;
            this.needed = needed;
            this.nodes = List.of();
            given = ids.toList();
        }

        private Clause(Kind kind, int needed, List<? extends Node<?>> nodes) {
            this.kind = kind;
            this.needed = needed;
            this.nodes = List.copyOf(nodes);
            given = List.of();
        }

        /** Returns the number of edges. */
        int size() {
            return nodes.size() + given.size();
        }

        @Override
        Kind kind() {
            return kind;
        }

        @Override
        List<String> ids() {
            return nodes.isEmpty() ? given : nodes.stream().map(Node::id).toList();
        }

        @Override
        public String toString() {
            return kind + (kind == Kind.AT_LEAST ? " " + needed : "") + " of " + ids();
        }
    }

    Dependency() {}

    abstract Kind kind();

    abstract List<String> ids();

    /**
     * Returns a dependency that neither delays nor fails the node, which receives the value if there is one when it
     * begins. If all upstreams of a node are optional, the node begins when the first of them succeeds.
     *
     * @param <T> the type of the value
     * @param node the upstream node
     * @return a dependency with its result or its default, if it has ended with one that is not null
     */
    public static <T> Dependency<Optional<T>> optional(Node<T> node) {
        return new Clause<>(Kind.OPTIONAL, 1, List.of(node));
    }

    /**
     * Returns a dependency on the end of a node, whether it succeeds or not.
     *
     * @param <T> the type of the value
     * @param node the upstream node
     * @return a dependency with its outcome
     */
    public static <T> Dependency<Outcome<T>> after(Node<T> node) {
        return new Clause<>(Kind.AFTER, 1, List.of(node));
    }

    /**
     * Returns a dependency on the success of a node, without its value.
     *
     * @param node the upstream node
     * @return a dependency with the value null
     */
    public static Dependency<Void> order(Node<?> node) {
        return new Clause<>(Kind.ORDER, 1, List.of(node));
    }

    /**
     * Returns a dependency on the first success. It fails when none of the nodes can still succeed.
     *
     * @param <T> the type of the value
     * @param nodes the upstream nodes
     * @return a dependency with the value of the first that succeeds
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Dependency<T> anyOf(Node<? extends T>... nodes) {
        return anyOf(List.of(nodes));
    }

    /**
     * Returns a dependency on the first success. It fails when none of the nodes can still succeed.
     *
     * @param <T> the type of the value
     * @param nodes the upstream nodes
     * @return a dependency with the value of the first that succeeds
     */
    public static <T> Dependency<T> anyOf(List<? extends Node<? extends T>> nodes) {
        return new Clause<>(Kind.ANY, 1, nodes);
    }

    /**
     * Returns a dependency on a number of successes. It fails when that number can no longer be reached.
     *
     * @param <T> the type of the values
     * @param successes the number of successes
     * @param nodes the upstream nodes
     * @return a dependency with the values of those that have succeeded when the node begins, in the order of
     *     declaration
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Dependency<List<T>> atLeast(int successes, Node<? extends T>... nodes) {
        return atLeast(successes, List.of(nodes));
    }

    /**
     * Returns a dependency on a number of successes. It fails when that number can no longer be reached.
     *
     * @param <T> the type of the values
     * @param successes the number of successes
     * @param nodes the upstream nodes
     * @return a dependency with the values of those that have succeeded when the node begins, in the order of
     *     declaration
     */
    public static <T> Dependency<List<T>> atLeast(int successes, List<? extends Node<? extends T>> nodes) {
        return new Clause<>(Kind.AT_LEAST, successes, nodes);
    }

    /**
     * Returns a dependency on the success of all nodes.
     *
     * @param <T> the type of the values
     * @param nodes the upstream nodes
     * @return a dependency with their values, in the order of declaration
     */
    public static <T> Dependency<List<T>> allOf(List<? extends Node<? extends T>> nodes) {
        return new Clause<>(Kind.ALL, nodes.size(), nodes);
    }

    /**
     * Returns a dependency on the success of a node, by its id.
     *
     * @param id the id of the upstream node
     * @return a dependency with its value
     */
    public static Dependency<Object> must(String id) {
        return new Clause<>(Kind.MUST, 1, Stream.of(id));
    }

    /**
     * Returns the same dependency as {@link #optional(Node)}, by id.
     *
     * @param id the id of the upstream node
     * @return a dependency with its value, if there is one
     */
    public static Dependency<Optional<Object>> optional(String id) {
        return new Clause<>(Kind.OPTIONAL, 1, Stream.of(id));
    }

    /**
     * Returns the same dependency as {@link #after(Node)}, by id.
     *
     * @param id the id of the upstream node
     * @return a dependency with its outcome
     */
    public static Dependency<Outcome<Object>> after(String id) {
        return new Clause<>(Kind.AFTER, 1, Stream.of(id));
    }

    /**
     * Returns the same dependency as {@link #order(Node)}, by id.
     *
     * @param id the id of the upstream node
     * @return a dependency with the value null
     */
    public static Dependency<Void> order(String id) {
        return new Clause<>(Kind.ORDER, 1, Stream.of(id));
    }

    /**
     * Returns the same dependency as {@link #anyOf(Node[])}, by id.
     *
     * @param ids the ids of the upstream nodes
     * @return a dependency with the value of the first that succeeds
     */
    public static Dependency<Object> anyOf(String... ids) {
        return new Clause<>(Kind.ANY, 1, Stream.of(ids));
    }

    /**
     * Returns the same dependency as {@link #atLeast(int, Node[])}, by id.
     *
     * @param successes the number of successes
     * @param ids the ids of the upstream nodes
     * @return a dependency with the values of those that have succeeded
     */
    public static Dependency<List<Object>> atLeast(int successes, String... ids) {
        return new Clause<>(Kind.AT_LEAST, successes, Stream.of(ids));
    }
}
