package dev.raddle.flow;

/**
 * Functions and actions of up to four arguments that may throw any exception: the actions of nodes, besides
 * {@link java.util.concurrent.Callable}.
 *
 * <p>{@code apply} of a function {@code F1} to {@code F4} returns its result, which may be null if {@code T} allows it.
 * {@code accept} of an action {@code V0} to {@code V2} returns nothing. Both throw an exception if they fail, and then
 * the node fails.
 */
@SuppressWarnings("doclint:missing") // told once, above; see decision 0031
public final class CheckedFunction {

    private CheckedFunction() {}

    /** An action of no arguments. */
    @FunctionalInterface
    public interface V0 {
        void accept() throws Exception;
    }

    /** An action of one argument. */
    @FunctionalInterface
    public interface V1<A> {
        void accept(A a) throws Exception;
    }

    /** An action of two arguments. */
    @FunctionalInterface
    public interface V2<A, B> {
        void accept(A a, B b) throws Exception;
    }

    /** A function of one argument. */
    @FunctionalInterface
    public interface F1<A, T> {
        T apply(A a) throws Exception;
    }

    /** A function of two arguments. */
    @FunctionalInterface
    public interface F2<A, B, T> {
        T apply(A a, B b) throws Exception;
    }

    /** A function of three arguments. */
    @FunctionalInterface
    public interface F3<A, B, C, T> {
        T apply(A a, B b, C c) throws Exception;
    }

    /** A function of four arguments. */
    @FunctionalInterface
    public interface F4<A, B, C, D, T> {
        T apply(A a, B b, C c, D d) throws Exception;
    }
}
