package dev.raddle.flow;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Defines a flow: declares nodes, and builds plans of them. A dependency named before the action is an argument of it.
 *
 * {@snippet :
 * FlowBuilder<Order> f = FlowPlan.define("checkout", Order.class);
 * Node<User> user = f.node("user", c -> users.get(c.param().userId()));
 * Node<Promo> promo = f.node("promo", user, promos::of);
 * Node<Page> page = f.node("page", user, promo, Page::new);
 * FlowPlan<Order, Page> plan = f.returning(page);
 * }
 *
 * <p>A node whose action returns nothing is declared by {@code action}. Each kind of {@code node} takes an action with or without the {@linkplain NodeContext context} as its first argument. What
 * an action throws fails its node. A builder is for one thread; the plans that it builds are for many.
 *
 * @param <P> the type of the parameter that a run is started with
 */
public final class FlowBuilder<P> {

    private final String name;
    private final List<Node<?>> nodes = new ArrayList<>();
    private Ids ids = new Ids(); // of the nodes, in the same order
    private boolean areIdsShared; // with a plan, for which they have to stay as they are
    private final List<String> problems = new ArrayList<>();

    FlowBuilder(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    private <T> Node<T> add(String id, Body body, Dependency<?>... arguments) {
        Node<T> node = new Node<>(Objects.requireNonNull(id, "id"), nodes.size(), body, arguments);
        if (id.isBlank()) {
            problems.add("node " + nodes.size() + " has an empty id; give it a name");
        }
        if (areIdsShared) {
            ids = ids.copy();
            areIdsShared = false;
        }
        if (!ids.add(id)) {
            problems.add("duplicate id: there are two nodes \"" + id + "\"; give one of them another name");
        }
        nodes.add(node);
        return node;
    }

    @SuppressWarnings({"unchecked", "NullAway", "TypeParameterUnusedInFormals"
    }) // a dependency gives what its type says
    private static <X> X given(Engine run, int node, int argument) {
        return (X) run.argument(node, argument);
    }

    /** Does what a node without a value does. */
    @SuppressWarnings("NullAway") // null is a value
    private static Object done(Fn.V0 action) throws Exception {
        action.accept();
        return null;
    }

    @SuppressWarnings("unchecked") // a run of this builder's plan has this parameter
    private NodeContext<P> context(Engine run, int node) {
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
     * Declares a node that needs nothing.
     *
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <T> Node<T> node(String id, Fn.F0<? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> action.apply());
    }

    /**
     * Declares a node that needs nothing, with its context.
     *
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <T> Node<T> node(String id, Fn.F1<? super NodeContext<P>, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> action.apply(context(run, node)));
    }

    /**
     * Declares a node that needs one thing.
     *
     * @param <A> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, T> Node<T> node(String id, Dependency<A> a, Fn.F1<? super A, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> action.apply(given(run, node, 0)), a);
    }

    /**
     * Declares a node that needs one thing, with its context.
     *
     * @param <A> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, T> Node<T> node(
            String id, Dependency<A> a, Fn.F2<? super NodeContext<P>, ? super A, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> action.apply(context(run, node), given(run, node, 0)), a);
    }

    /**
     * Declares a node that needs two things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, T> Node<T> node(
            String id, Dependency<A> a, Dependency<B> b, Fn.F2<? super A, ? super B, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> action.apply(given(run, node, 0), given(run, node, 1)), a, b);
    }

    /**
     * Declares a node that needs two things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Fn.F3<? super NodeContext<P>, ? super A, ? super B, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> action.apply(context(run, node), given(run, node, 0), given(run, node, 1)), a, b);
    }

    /**
     * Declares a node that needs three things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Fn.F3<? super A, ? super B, ? super C, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(given(run, node, 0), given(run, node, 1), given(run, node, 2)),
                a,
                b,
                c);
    }

    /**
     * Declares a node that needs three things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Fn.F4<? super NodeContext<P>, ? super A, ? super B, ? super C, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) ->
                        action.apply(context(run, node), given(run, node, 0), given(run, node, 1), given(run, node, 2)),
                a,
                b,
                c);
    }

    /**
     * Declares a node that needs four things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Fn.F4<? super A, ? super B, ? super C, ? super D, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        given(run, node, 0), given(run, node, 1), given(run, node, 2), given(run, node, 3)),
                a,
                b,
                c,
                d);
    }

    /**
     * Declares a node that needs four things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Fn.F5<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3)),
                a,
                b,
                c,
                d);
    }

    /**
     * Declares a node that needs five things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Fn.F5<? super A, ? super B, ? super C, ? super D, ? super E, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4)),
                a,
                b,
                c,
                d,
                e);
    }

    /**
     * Declares a node that needs five things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Fn.F6<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D, ? super E, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4)),
                a,
                b,
                c,
                d,
                e);
    }

    /**
     * Declares a node that needs six things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Fn.F6<? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5)),
                a,
                b,
                c,
                d,
                e,
                f);
    }

    /**
     * Declares a node that needs six things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Fn.F7<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? extends T>
                    action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5)),
                a,
                b,
                c,
                d,
                e,
                f);
    }

    /**
     * Declares a node that needs seven things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Fn.F7<? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? super G, ? extends T> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6)),
                a,
                b,
                c,
                d,
                e,
                f,
                g);
    }

    /**
     * Declares a node that needs seven things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Fn.F8<
                            ? super NodeContext<P>,
                            ? super A,
                            ? super B,
                            ? super C,
                            ? super D,
                            ? super E,
                            ? super F,
                            ? super G,
                            ? extends T>
                    action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6)),
                a,
                b,
                c,
                d,
                e,
                f,
                g);
    }

    /**
     * Declares a node that needs eight things.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param h what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G, H, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Dependency<H> h,
            Fn.F8<? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? super G, ? super H, ? extends T>
                    action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6),
                        given(run, node, 7)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h);
    }

    /**
     * Declares a node that needs eight things, with its context.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param h what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G, H, T> Node<T> node(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Dependency<H> h,
            Fn.F9<
                            ? super NodeContext<P>,
                            ? super A,
                            ? super B,
                            ? super C,
                            ? super D,
                            ? super E,
                            ? super F,
                            ? super G,
                            ? super H,
                            ? extends T>
                    action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> action.apply(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6),
                        given(run, node, 7)),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h);
    }

    /**
     * Declares a node without a value that needs nothing. What must have it gets null; {@code order} says so.
     *
     * @param id its name, unique in the flow
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public Node<Void> action(String id, Fn.V0 action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> done(() -> action.accept()));
    }

    /**
     * Declares a node without a value that needs nothing, with its context. What must have it gets null; {@code order} says so.
     *
     * @param id its name, unique in the flow
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public Node<Void> action(String id, Fn.V1<? super NodeContext<P>> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> done(() -> action.accept(context(run, node))));
    }

    /**
     * Declares a node without a value that needs one thing. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A> Node<Void> action(String id, Dependency<A> a, Fn.V1<? super A> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> done(() -> action.accept(given(run, node, 0))), a);
    }

    /**
     * Declares a node without a value that needs one thing, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A> Node<Void> action(String id, Dependency<A> a, Fn.V2<? super NodeContext<P>, ? super A> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> done(() -> action.accept(context(run, node), given(run, node, 0))), a);
    }

    /**
     * Declares a node without a value that needs two things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B> Node<Void> action(String id, Dependency<A> a, Dependency<B> b, Fn.V2<? super A, ? super B> action) {
        Objects.requireNonNull(action, "action");
        return add(id, (run, node) -> done(() -> action.accept(given(run, node, 0), given(run, node, 1))), a, b);
    }

    /**
     * Declares a node without a value that needs two things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B> Node<Void> action(
            String id, Dependency<A> a, Dependency<B> b, Fn.V3<? super NodeContext<P>, ? super A, ? super B> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(context(run, node), given(run, node, 0), given(run, node, 1))),
                a,
                b);
    }

    /**
     * Declares a node without a value that needs three things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Fn.V3<? super A, ? super B, ? super C> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(given(run, node, 0), given(run, node, 1), given(run, node, 2))),
                a,
                b,
                c);
    }

    /**
     * Declares a node without a value that needs three things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Fn.V4<? super NodeContext<P>, ? super A, ? super B, ? super C> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        context(run, node), given(run, node, 0), given(run, node, 1), given(run, node, 2))),
                a,
                b,
                c);
    }

    /**
     * Declares a node without a value that needs four things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Fn.V4<? super A, ? super B, ? super C, ? super D> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        given(run, node, 0), given(run, node, 1), given(run, node, 2), given(run, node, 3))),
                a,
                b,
                c,
                d);
    }

    /**
     * Declares a node without a value that needs four things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Fn.V5<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3))),
                a,
                b,
                c,
                d);
    }

    /**
     * Declares a node without a value that needs five things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Fn.V5<? super A, ? super B, ? super C, ? super D, ? super E> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4))),
                a,
                b,
                c,
                d,
                e);
    }

    /**
     * Declares a node without a value that needs five things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Fn.V6<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D, ? super E> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4))),
                a,
                b,
                c,
                d,
                e);
    }

    /**
     * Declares a node without a value that needs six things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Fn.V6<? super A, ? super B, ? super C, ? super D, ? super E, ? super F> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5))),
                a,
                b,
                c,
                d,
                e,
                f);
    }

    /**
     * Declares a node without a value that needs six things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Fn.V7<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D, ? super E, ? super F> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5))),
                a,
                b,
                c,
                d,
                e,
                f);
    }

    /**
     * Declares a node without a value that needs seven things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Fn.V7<? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? super G> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6))),
                a,
                b,
                c,
                d,
                e,
                f,
                g);
    }

    /**
     * Declares a node without a value that needs seven things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Fn.V8<? super NodeContext<P>, ? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? super G>
                    action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6))),
                a,
                b,
                c,
                d,
                e,
                f,
                g);
    }

    /**
     * Declares a node without a value that needs eight things. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param h what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G, H> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Dependency<H> h,
            Fn.V8<? super A, ? super B, ? super C, ? super D, ? super E, ? super F, ? super G, ? super H> action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6),
                        given(run, node, 7))),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h);
    }

    /**
     * Declares a node without a value that needs eight things, with its context. What must have it gets null; {@code order} says so.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param id its name, unique in the flow
     * @param a what it needs
     * @param b what it needs
     * @param c what it needs
     * @param d what it needs
     * @param e what it needs
     * @param f what it needs
     * @param g what it needs
     * @param h what it needs
     * @param action what it does
     * @return the node, to depend on, and to say how it behaves
     */
    public <A, B, C, D, E, F, G, H> Node<Void> action(
            String id,
            Dependency<A> a,
            Dependency<B> b,
            Dependency<C> c,
            Dependency<D> d,
            Dependency<E> e,
            Dependency<F> f,
            Dependency<G> g,
            Dependency<H> h,
            Fn.V9<
                            ? super NodeContext<P>,
                            ? super A,
                            ? super B,
                            ? super C,
                            ? super D,
                            ? super E,
                            ? super F,
                            ? super G,
                            ? super H>
                    action) {
        Objects.requireNonNull(action, "action");
        return add(
                id,
                (run, node) -> done(() -> action.accept(
                        context(run, node),
                        given(run, node, 0),
                        given(run, node, 1),
                        given(run, node, 2),
                        given(run, node, 3),
                        given(run, node, 4),
                        given(run, node, 5),
                        given(run, node, 6),
                        given(run, node, 7))),
                a,
                b,
                c,
                d,
                e,
                f,
                g,
                h);
    }

    /**
     * Declares a node that is a run of another plan, inside this run: with its deadline, scheduler and context. No thread waits
     * for it. Its value is what that plan returns; if the inner run fails, so does the node.
     *
     * @param <X> the type of the other plan's parameter
     * @param <T> the value's type
     * @param id its name, unique in the flow
     * @param plan what to run
     * @param parameter what to run it with
     * @return the node
     */
    public <X, T> Node<T> subflow(String id, FlowPlan<X, T> plan, Dependency<X> parameter) {
        Objects.requireNonNull(plan, "plan");
        Body.Nested body =
                (run, node) -> plan.inside(run, node, FlowBuilder.<X>given(run, node, 0), OnFailure.CONTINUE, 0);
        return add(id, body, parameter);
    }

    /**
     * Declares a node that does something with each element of a list that is known only at run time, all at the same time. Its
     * value is the list of results, in the same order; the first failure fails the node and cancels the others.
     *
     * @param <X> the elements' type
     * @param <T> the results' type
     * @param id its name, unique in the flow
     * @param items what to go over
     * @param each what to do with one
     * @return the node
     * @see #map(String, Dependency, MapOptions, Fn.F1)
     */
    public <X, T> Node<List<T>> map(
            String id, Dependency<? extends Collection<? extends X>> items, Fn.F1<? super X, ? extends T> each) {
        return map(id, items, MapOptions.defaults(), each);
    }

    /**
     * Declares a node that does something with each element of a list that is known only at run time. Its value is the list of
     * results, in the same order; the first failure or timeout of an element fails the node and cancels the others.
     *
     * {@snippet :
     * Node<List<Image>> images = f.map(
     *         "images",
     *         pictures,
     *         MapOptions.limit(8).withTimeout(Duration.ofSeconds(2)).withRetry(RetryPolicy.attempts(3)),
     *         picture -> scaled(picture));
     * }
     *
     * @param <X> the elements' type
     * @param <T> the results' type
     * @param id its name, unique in the flow
     * @param items what to go over
     * @param options how many elements at the same time, and the timeout and the retry policy of each
     * @param each what to do with one
     * @return the node
     */
    public <X, T> Node<List<T>> map(
            String id,
            Dependency<? extends Collection<? extends X>> items,
            MapOptions options,
            Fn.F1<? super X, ? extends T> each) {
        Objects.requireNonNull(options, "options");
        Objects.requireNonNull(each, "each");
        Body.Nested body = (run, node) -> {
            Collection<? extends X> elements = given(run, node, 0);
            return mapped(id, elements, options, each).inside(run, node, null, OnFailure.FAIL_FAST, options.limit());
        };
        return add(id, body, items);
    }

    private static <X, T> FlowPlan<Void, List<Object>> mapped(
            String id, Collection<? extends X> elements, MapOptions options, Fn.F1<? super X, ? extends T> each) {
        FlowBuilder<Void> inner = new FlowBuilder<>(id);
        int position = 0;
        for (X element : elements) {
            options.applyTo(inner.node(id + "[" + position++ + "]", () -> each.apply(element)));
        }
        return new FlowPlan<>(inner.compile(inner.nodes), FlowPlan.Returns.LIST);
    }

    /**
     * Builds a plan that returns one node's value.
     *
     * @param <R> the value's type
     * @param output a node of this flow
     * @return an immutable plan
     * @throws InvalidFlowException if anything is wrong; it names all problems
     */
    public <R> FlowPlan<P, R> returning(Node<R> output) {
        return new FlowPlan<>(compile(List.of(output)), FlowPlan.Returns.ONE);
    }

    /**
     * Builds a plan that returns several nodes' values by their ids.
     *
     * @param outputs nodes of this flow
     * @return an immutable plan
     * @throws InvalidFlowException if anything is wrong; it names all problems
     */
    public FlowPlan<P, Map<String, Object>> returning(List<? extends Node<?>> outputs) {
        return new FlowPlan<>(compile(outputs), FlowPlan.Returns.MAP);
    }

    /**
     * Builds a plan that returns nothing but how its nodes ended.
     *
     * @return an immutable plan
     * @throws InvalidFlowException if anything is wrong; it names all problems
     */
    public FlowPlan<P, Void> build() {
        return new FlowPlan<>(compile(List.of()), FlowPlan.Returns.NOTHING);
    }

    private Graph compile(List<? extends Node<?>> outputs) {
        return new Compiler(name, nodes, frozenIds(), problems).compile(outputs);
    }

    /**
     * Returns what is wrong so far.
     *
     * @return one sentence for each problem
     */
    public List<String> problems() {
        return List.copyOf(new Compiler(name, nodes, frozenIds(), problems).problems());
    }

    private Ids frozenIds() {
        areIdsShared = true;
        return ids;
    }

    @Override
    public String toString() {
        return "definition of flow \"" + name + "\" with " + nodes.size() + " nodes";
    }
}
