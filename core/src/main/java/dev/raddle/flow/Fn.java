package dev.raddle.flow;

/** Functions of no to nine arguments, with a result or without one, that may throw anything: what nodes do. */
public final class Fn {

    private Fn() {}

    /**
     * Does something with a value.
     *
     * @param <A> the value's type
     */
    @FunctionalInterface
    public interface V1<A> {
        /**
         * Does it.
         *
         * @param a the value
         * @throws Exception if it failed
         */
        void accept(A a) throws Exception;
    }

    /**
     * Does something.
     */
    @FunctionalInterface
    public interface V0 {
        /**
         * Does it.
         *
         * @throws Exception if it failed
         */
        void accept() throws Exception;
    }

    /**
     * Does something with two values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     */
    @FunctionalInterface
    public interface V2<A, B> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b) throws Exception;
    }

    /**
     * Does something with three values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     */
    @FunctionalInterface
    public interface V3<A, B, C> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c) throws Exception;
    }

    /**
     * Does something with four values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     */
    @FunctionalInterface
    public interface V4<A, B, C, D> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c, D d) throws Exception;
    }

    /**
     * Does something with five values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     */
    @FunctionalInterface
    public interface V5<A, B, C, D, E> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c, D d, E e) throws Exception;
    }

    /**
     * Does something with six values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     */
    @FunctionalInterface
    public interface V6<A, B, C, D, E, F> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c, D d, E e, F f) throws Exception;
    }

    /**
     * Does something with seven values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     */
    @FunctionalInterface
    public interface V7<A, B, C, D, E, F, G> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c, D d, E e, F f, G g) throws Exception;
    }

    /**
     * Does something with eight values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     */
    @FunctionalInterface
    public interface V8<A, B, C, D, E, F, G, H> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @param h an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c, D d, E e, F f, G g, H h) throws Exception;
    }

    /**
     * Does something with nine values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param <I> an argument's type
     */
    @FunctionalInterface
    public interface V9<A, B, C, D, E, F, G, H, I> {
        /**
         * Does it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @param h an argument
         * @param i an argument
         * @throws Exception if it failed
         */
        void accept(A a, B b, C c, D d, E e, F f, G g, H h, I i) throws Exception;
    }

    /**
     * A function of no arguments.
     *
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F0<T> {
        /**
         * Applies it.
         *
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply() throws Exception;
    }

    /**
     * A function of one argument.
     *
     * @param <A> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F1<A, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a) throws Exception;
    }

    /**
     * A function of two arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F2<A, B, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b) throws Exception;
    }

    /**
     * A function of three arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F3<A, B, C, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c) throws Exception;
    }

    /**
     * A function of four arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F4<A, B, C, D, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c, D d) throws Exception;
    }

    /**
     * A function of five arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F5<A, B, C, D, E, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c, D d, E e) throws Exception;
    }

    /**
     * A function of six arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F6<A, B, C, D, E, F, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c, D d, E e, F f) throws Exception;
    }

    /**
     * A function of seven arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F7<A, B, C, D, E, F, G, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c, D d, E e, F f, G g) throws Exception;
    }

    /**
     * A function of eight arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F8<A, B, C, D, E, F, G, H, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @param h an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c, D d, E e, F f, G g, H h) throws Exception;
    }

    /**
     * A function of nine arguments.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     * @param <E> an argument's type
     * @param <F> an argument's type
     * @param <G> an argument's type
     * @param <H> an argument's type
     * @param <I> an argument's type
     * @param <T> the result's type
     */
    @FunctionalInterface
    public interface F9<A, B, C, D, E, F, G, H, I, T> {
        /**
         * Applies it.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @param h an argument
         * @param i an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if it failed
         */
        T apply(A a, B b, C c, D d, E e, F f, G g, H h, I i) throws Exception;
    }
}
