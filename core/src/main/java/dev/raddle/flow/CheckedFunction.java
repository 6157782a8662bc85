package dev.raddle.flow;

/**
 * Functions of zero to nine arguments, with or without a result, that may throw any exception: the actions of nodes.
 */
public final class CheckedFunction {

    private CheckedFunction() {}

    /**
     * An action on a value.
     *
     * @param <A> the value's type
     */
    @FunctionalInterface
    public interface V1<A> {
        /**
         * Performs the action.
         *
         * @param a the value
         * @throws Exception if the action fails
         */
        void accept(A a) throws Exception;
    }

    /**
     * An action without arguments.
     */
    @FunctionalInterface
    public interface V0 {
        /**
         * Performs the action.
         *
         * @throws Exception if the action fails
         */
        void accept() throws Exception;
    }

    /**
     * An action on two values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     */
    @FunctionalInterface
    public interface V2<A, B> {
        /**
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b) throws Exception;
    }

    /**
     * An action on three values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     */
    @FunctionalInterface
    public interface V3<A, B, C> {
        /**
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b, C c) throws Exception;
    }

    /**
     * An action on four values.
     *
     * @param <A> an argument's type
     * @param <B> an argument's type
     * @param <C> an argument's type
     * @param <D> an argument's type
     */
    @FunctionalInterface
    public interface V4<A, B, C, D> {
        /**
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b, C c, D d) throws Exception;
    }

    /**
     * An action on five values.
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
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b, C c, D d, E e) throws Exception;
    }

    /**
     * An action on six values.
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
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b, C c, D d, E e, F f) throws Exception;
    }

    /**
     * An action on seven values.
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
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b, C c, D d, E e, F f, G g) throws Exception;
    }

    /**
     * An action on eight values.
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
         * Performs the action.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @param h an argument
         * @throws Exception if the action fails
         */
        void accept(A a, B b, C c, D d, E e, F f, G g, H h) throws Exception;
    }

    /**
     * An action on nine values.
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
         * Performs the action.
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
         * @throws Exception if the action fails
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
         * Applies this function.
         *
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @param b an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
         *
         * @param a an argument
         * @param b an argument
         * @param c an argument
         * @param d an argument
         * @param e an argument
         * @param f an argument
         * @param g an argument
         * @return the result, which may be null if T allows it
         * @throws Exception if the function fails
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
         * Applies this function.
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
         * @throws Exception if the function fails
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
         * Applies this function.
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
         * @throws Exception if the function fails
         */
        T apply(A a, B b, C c, D d, E e, F f, G g, H h, I i) throws Exception;
    }
}
