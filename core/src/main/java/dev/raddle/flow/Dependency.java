package dev.raddle.flow;

import dev.raddle.task.Outcome;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What a node waits for, and what it gets of it. A {@link Node} itself is the plainest: the node waits for its success and
 * gets its value. The factories here are the others; import them statically.
 *
 * {@snippet :
 * Node<Price> price = f.node("price", anyOf(local, remote), optional(promo), (p, pr) -> p.minus(pr.orElse(NONE)));
 * }
 *
 * <p>All dependencies of a node must be met before it begins. Nodes may be named by their ids, which need not be declared yet;
 * their values are then objects.
 *
 * @param <T> what the node gets
 */
public abstract sealed class Dependency<T> permits Node, Dependency.Clause {

    /** What an edge asks of its upstream node. */
    enum Kind {
        MUST,
        ORDER,
        OPTIONAL,
        AFTER,
        ANY,
        AT_LEAST,
        ALL
    }

    /** One that is not simply a node. */
    static final class Clause<T> extends Dependency<T> {
        final Kind kind;
        final int needed; // of AT_LEAST
        final List<? extends Node<?>> nodes; // empty if they are named by their ids only
        private final List<String> given; // those ids, or empty

        private Clause(Kind kind, int needed, Stream<String> ids) {
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

        /** Returns how many edges it makes. */
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
     * Returns a dependency that neither delays nor fails the node: it gets the value if there is one when it begins. If all
     * upstreams of a node are optional, it begins with the first of them that succeeds.
     *
     * @param <T> the value's type
     * @param node upstream
     * @return its result or its default, if it has ended with one that is not null
     */
    public static <T> Dependency<Optional<T>> optional(Node<T> node) {
        return new Clause<>(Kind.OPTIONAL, 1, List.of(node));
    }

    /**
     * Returns a dependency on a node's end, whatever it is.
     *
     * @param <T> the value's type
     * @param node upstream
     * @return how it ended
     */
    public static <T> Dependency<Outcome<T>> after(Node<T> node) {
        return new Clause<>(Kind.AFTER, 1, List.of(node));
    }

    /**
     * Returns a dependency on a node's success, and not on its value.
     *
     * @param node upstream
     * @return null
     */
    public static Dependency<Void> order(Node<?> node) {
        return new Clause<>(Kind.ORDER, 1, List.of(node));
    }

    /**
     * Returns a dependency on the first success. It fails when none of the nodes can succeed any more.
     *
     * @param <T> the value's type
     * @param nodes upstream
     * @return the value of the first that succeeds
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Dependency<T> anyOf(Node<? extends T>... nodes) {
        return anyOf(List.of(nodes));
    }

    /**
     * Returns a dependency on the first success. It fails when none of the nodes can succeed any more.
     *
     * @param <T> the value's type
     * @param nodes upstream
     * @return the value of the first that succeeds
     */
    public static <T> Dependency<T> anyOf(List<? extends Node<? extends T>> nodes) {
        return new Clause<>(Kind.ANY, 1, nodes);
    }

    /**
     * Returns a dependency on some successes. It fails when so many cannot be had any more.
     *
     * @param <T> the values' type
     * @param successes how many
     * @param nodes upstream
     * @return the values of those that have succeeded when the node begins, in the order of declaration
     */
    @SafeVarargs
    @SuppressWarnings("varargs")
    public static <T> Dependency<List<T>> atLeast(int successes, Node<? extends T>... nodes) {
        return atLeast(successes, List.of(nodes));
    }

    /**
     * Returns a dependency on some successes. It fails when so many cannot be had any more.
     *
     * @param <T> the values' type
     * @param successes how many
     * @param nodes upstream
     * @return the values of those that have succeeded when the node begins, in the order of declaration
     */
    public static <T> Dependency<List<T>> atLeast(int successes, List<? extends Node<? extends T>> nodes) {
        return new Clause<>(Kind.AT_LEAST, successes, nodes);
    }

    /**
     * Returns a dependency on the success of all.
     *
     * @param <T> the values' type
     * @param nodes upstream
     * @return their values, in the order of declaration
     */
    public static <T> Dependency<List<T>> allOf(List<? extends Node<? extends T>> nodes) {
        return new Clause<>(Kind.ALL, nodes.size(), nodes);
    }

    /**
     * Returns a dependency on a node's success, by its id.
     *
     * @param id of the upstream node
     * @return its value
     */
    public static Dependency<Object> must(String id) {
        return new Clause<>(Kind.MUST, 1, Stream.of(id));
    }

    /**
     * Does what {@link #optional(Node)} does, by id.
     *
     * @param id of the upstream node
     * @return its value, if there is one
     */
    public static Dependency<Optional<Object>> optional(String id) {
        return new Clause<>(Kind.OPTIONAL, 1, Stream.of(id));
    }

    /**
     * Does what {@link #after(Node)} does, by id.
     *
     * @param id of the upstream node
     * @return how it ended
     */
    public static Dependency<Outcome<Object>> after(String id) {
        return new Clause<>(Kind.AFTER, 1, Stream.of(id));
    }

    /**
     * Does what {@link #order(Node)} does, by id.
     *
     * @param id of the upstream node
     * @return null
     */
    public static Dependency<Void> order(String id) {
        return new Clause<>(Kind.ORDER, 1, Stream.of(id));
    }

    /**
     * Does what {@link #anyOf(Node[])} does, by id.
     *
     * @param ids of the upstream nodes
     * @return the value of the first that succeeds
     */
    public static Dependency<Object> anyOf(String... ids) {
        return new Clause<>(Kind.ANY, 1, Stream.of(ids));
    }

    /**
     * Does what {@link #atLeast(int, Node[])} does, by id.
     *
     * @param successes how many
     * @param ids of the upstream nodes
     * @return the values of those that have succeeded
     */
    public static Dependency<List<Object>> atLeast(int successes, String... ids) {
        return new Clause<>(Kind.AT_LEAST, successes, Stream.of(ids));
    }
}
