package dev.raddle.structured;

import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.task.CheckReturnValue;
import java.io.Serial;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * A block of code and the subtasks that it forks: no subtask outlives the block. This is the API of JDK 27 (JEP 533),
 * without preview features of the JDK.
 *
 * {@snippet :
 * try (var scope = StructuredTaskScope.open()) {
 *     Subtask<String> user = scope.fork(() -> findUser());
 *     Subtask<Integer> order = scope.fork(() -> fetchOrder());
 *     scope.join(); // throws ExecutionException if one of them has failed, and cancels the other
 *     return new Response(user.get(), order.get());
 * }
 * }
 *
 * <p>The thread that opens a scope owns it. Only the owner forks, joins and closes. A {@link Joiner} determines when
 * {@code join} returns, and what: the scope is <i>cancelled</i> when the joiner has enough, or by the timeout. Then
 * further subtasks do not start, and the threads of unfinished ones are interrupted, once. {@link #close} cancels too,
 * and waits for all threads.
 *
 * <p>Subtasks inherit the scoped values that were bound where the scope was opened. Their threads belong to a scope of
 * the JDK, as described at {@link dev.raddle.scope.StructuredTaskScope}.
 *
 * <p>Memory consistency effects: actions of the owner before it forks <i>happen-before</i> the subtask; actions of the
 * subtask <i>happen-before</i> its result is read, and before a return from {@link #join} that waited for it to end.
 *
 * @param <T> the type of the results of subtasks
 * @param <R> the type of the result of {@code join()}
 * @param <R_X> the type of the exception of {@code join()}
 * @see <a href="https://openjdk.org/jeps/533">JEP 533: Structured Concurrency</a>
 */
public sealed interface StructuredTaskScope<
                T extends @Nullable Object, R extends @Nullable Object, R_X extends Throwable>
        extends AutoCloseable permits JoinedScope {

    /**
     * Opens a scope whose join succeeds if all its subtasks do: with {@link Joiner#awaitAllSuccessfulOrThrow()}.
     *
     * @param <T> the type of the results of subtasks
     * @return a new scope, owned by the calling thread
     */
    static <T extends @Nullable Object> StructuredTaskScope<T, Void, ExecutionException> open() {
        return open(UnaryOperator.identity());
    }

    /**
     * Opens a scope whose join succeeds if all its subtasks do, with a name, a timeout or a thread factory.
     *
     * @param <T> the type of the results of subtasks
     * @param configuration the function that changes the default configuration
     * @return a new scope, owned by the calling thread
     */
    @SuppressWarnings("NullAway") // Void is null
    static <T extends @Nullable Object> StructuredTaskScope<T, Void, ExecutionException> open(
            UnaryOperator<Configuration> configuration) {
        return open(Joiner.<T>awaitAllSuccessfulOrThrow(), configuration);
    }

    /**
     * Opens a scope with a policy.
     *
     * @param <T> the type of the results of subtasks
     * @param <R> the type of the result of {@code join()}
     * @param <R_X> the type of the exception of {@code join()}
     * @param joiner the policy, for this scope only
     * @return a new scope, owned by the calling thread
     */
    static <T extends @Nullable Object, R extends @Nullable Object, R_X extends Throwable>
            StructuredTaskScope<T, R, R_X> open(Joiner<? super T, ? extends R, R_X> joiner) {
        return open(joiner, UnaryOperator.identity());
    }

    /**
     * Opens a scope with a policy, and a name, a timeout or a thread factory.
     *
     * {@snippet :
     * try (var scope = StructuredTaskScope.open(
     *         Joiner.<Quote>anySuccessfulOrThrow(),
     *         config -> config.withName("quotes").withTimeout(Duration.ofMillis(200)))) {
     *     providers.forEach(provider -> scope.fork(provider::quote));
     *     return scope.join();
     * }
     * }
     *
     * @param <T> the type of the results of subtasks
     * @param <R> the type of the result of {@code join()}
     * @param <R_X> the type of the exception of {@code join()}
     * @param joiner the policy, for this scope only
     * @param configuration the function that changes the default configuration; what it throws is thrown by this method
     * @return a new scope, owned by the calling thread
     */
    static <T extends @Nullable Object, R extends @Nullable Object, R_X extends Throwable>
            StructuredTaskScope<T, R, R_X> open(
                    Joiner<? super T, ? extends R, R_X> joiner, UnaryOperator<Configuration> configuration) {
        Objects.requireNonNull(joiner, "joiner");
        return new JoinedScope<>(joiner, Settings.changedBy(configuration));
    }

    /**
     * Starts a thread for a subtask, after {@link Joiner#onFork} in the calling thread. Only the owner may call this
     * method. In a cancelled scope the subtask never starts, and its state stays {@code UNAVAILABLE}.
     *
     * @param <U> the type of the result
     * @param task the callable to run
     * @return the subtask
     * @throws IllegalStateException if the owner has joined, or this scope is closed; a join that was interrupted does
     *     not count
     * @throws WrongThreadException if the caller is not the owner
     * @throws dev.raddle.scope.StructureViolationException if other scoped values are bound than where this scope was
     *     opened
     * @throws java.util.concurrent.RejectedExecutionException if the thread factory returned null
     */
    <U extends T> Subtask<U> fork(Callable<? extends U> task);

    /**
     * Starts a thread for a subtask without a result, as {@link #fork(Callable)} does.
     *
     * @param <U> the type of the result, which is null
     * @param task the action to run
     * @return the subtask
     */
    <U extends T> Subtask<U> fork(Runnable task);

    /**
     * Waits until all subtasks have ended or this scope is cancelled, and returns the {@linkplain Joiner#result()
     * joiner's result}, or what it returns for a {@linkplain Joiner#timeout() timeout}. Only the owner may call this
     * method, and only once unless it was interrupted.
     *
     * @return the joiner's result
     * @throws R_X if the joiner throws it
     * @throws IllegalStateException if the owner has joined, or this scope is closed
     * @throws WrongThreadException if the caller is not the owner
     * @throws InterruptedException if the owner was interrupted before or while it waited
     */
    R join() throws R_X, InterruptedException;

    /** {@return whether this scope was cancelled: by the joiner, by the timeout, or by closing it without a join} */
    boolean isCancelled();

    /**
     * Cancels this scope if necessary, waits for all threads of subtasks to end, and closes this scope. Only the owner
     * may call this method. An interrupt does not end the wait; the interrupt status is kept.
     *
     * @throws IllegalStateException if the owner has forked and not tried to join since; this scope is closed
     *     nevertheless
     * @throws WrongThreadException if the caller is not the owner
     * @throws dev.raddle.scope.StructureViolationException if scopes opened later were still open, or scoped values
     *     that were bound later are still bound; this scope is closed nevertheless
     */
    @Override
    void close();

    /**
     * A forked subtask. Its methods never block.
     *
     * @param <T> the type of the result
     */
    sealed interface Subtask<T extends @Nullable Object> extends Supplier<T> permits Fork {

        /** The state of a subtask. */
        enum State {
            /** It has not ended, or ended after its scope was cancelled, or was never started. */
            UNAVAILABLE,
            /** Its task has returned. This state is final. */
            SUCCESS,
            /** Its task has thrown. This state is final. */
            FAILED
        }

        /** {@return the current state} */
        State state();

        /**
         * Returns the result of the task.
         *
         * @return the result, which is null if the task returned null
         * @throws IllegalStateException if the owner has not joined, unless the caller is {@link Joiner#onComplete}; or
         *     if the state is not {@code SUCCESS}
         */
        @Override
        T get();

        /**
         * Returns the exception of the task.
         *
         * @return the exception or error
         * @throws IllegalStateException if the owner has not joined, unless the caller is {@link Joiner#onComplete}; or
         *     if the state is not {@code FAILED}
         */
        Throwable exception();
    }

    /**
     * The policy of one scope: it determines when {@code join()} ends and what it returns. A joiner must not be shared
     * or reused.
     *
     * @param <T> the type of the results of subtasks
     * @param <R> the type of the result of {@code join()}
     * @param <R_X> the type of the exception of {@code join()}
     */
    interface Joiner<T extends @Nullable Object, R extends @Nullable Object, R_X extends Throwable> {

        /**
         * Called for each fork by the owner, before a thread exists. What it throws is thrown by {@code fork}, and
         * nothing starts.
         *
         * @param subtask the forked subtask, in the state {@code UNAVAILABLE}
         * @return true to cancel the scope; the subtask then never starts
         * @throws IllegalArgumentException if the subtask is in another state
         */
        default boolean onFork(Subtask<T> subtask) {
            if (subtask.state() != Subtask.State.UNAVAILABLE) {
                throw new IllegalArgumentException("a subtask just forked is UNAVAILABLE, this is " + subtask);
            }
            return false;
        }

        /**
         * Called for each subtask that has succeeded or failed, by its thread, unless the scope was cancelled before.
         * An implementation must be safe for use by many threads. What it throws goes to the thread's uncaught
         * exception handler.
         *
         * @param subtask the completed subtask, in the state {@code SUCCESS} or {@code FAILED}
         * @return true to cancel the scope
         * @throws IllegalArgumentException if the subtask is in another state
         */
        default boolean onComplete(Subtask<T> subtask) {
            if (subtask.state() == Subtask.State.UNAVAILABLE) {
                throw new IllegalArgumentException("a completed subtask is SUCCESS or FAILED, this is " + subtask);
            }
            return false;
        }

        /**
         * Returns the result of {@code join()}. Called by the owner when all subtasks have ended or the scope is
         * cancelled, at most once, and not if the timeout has expired.
         *
         * @return the result
         * @throws R_X which {@code join()} throws
         */
        R result() throws R_X;

        /**
         * Returns the result of {@code join()} if the timeout has expired before or while the owner waited, and
         * cancelled the scope. Called by the owner at most once, instead of {@link #result()}.
         *
         * @return the result
         * @throws R_X which {@code join()} throws
         */
        R timeout() throws R_X;

        /**
         * Returns a joiner that cancels the scope when a subtask fails, and lists the results of all.
         *
         * @param <T> the type of the results of subtasks
         * @param <R_X> the type of the exception of {@code join()}
         * @param f the function that creates this exception from that of the first subtask to fail, or from a
         *     {@link CancelledByTimeoutException}
         * @return a joiner whose result is the list of the results, in the order of the forks
         */
        static <T extends @Nullable Object, R_X extends Throwable> Joiner<T, List<T>, R_X> allSuccessfulOrThrow(
                Function<Throwable, R_X> f) {
            return new Joiners.AllSuccessful<>(f);
        }

        /**
         * Returns {@link #allSuccessfulOrThrow(Function)} with {@code ExecutionException::new}.
         *
         * @param <T> the type of the results of subtasks
         * @return a joiner whose result is the list of the results, in the order of the forks
         */
        static <T extends @Nullable Object> Joiner<T, List<T>, ExecutionException> allSuccessfulOrThrow() {
            return allSuccessfulOrThrow(ExecutionException::new);
        }

        /**
         * Returns a joiner that cancels the scope when a subtask succeeds.
         *
         * @param <T> the type of the results of subtasks
         * @param <R_X> the type of the exception of {@code join()}
         * @param f the function that creates this exception if no subtask succeeds: from the exception of one, from a
         *     {@code NoSuchElementException} without forks, or from a {@link CancelledByTimeoutException}
         * @return a joiner whose result is that of the first subtask to succeed
         */
        static <T extends @Nullable Object, R_X extends Throwable> Joiner<T, T, R_X> anySuccessfulOrThrow(
                Function<Throwable, R_X> f) {
            return new Joiners.AnySuccessful<>(f);
        }

        /**
         * Returns {@link #anySuccessfulOrThrow(Function)} with {@code ExecutionException::new}.
         *
         * @param <T> the type of the results of subtasks
         * @return a joiner whose result is that of the first subtask to succeed
         */
        static <T extends @Nullable Object> Joiner<T, T, ExecutionException> anySuccessfulOrThrow() {
            return anySuccessfulOrThrow(ExecutionException::new);
        }

        /**
         * Returns a joiner that cancels the scope when a subtask fails.
         *
         * @param <T> the type of the results of subtasks
         * @param <R_X> the type of the exception of {@code join()}
         * @param f the function that creates this exception from that of the first subtask to fail, or from a
         *     {@link CancelledByTimeoutException}
         * @return a joiner whose result is null
         */
        static <T extends @Nullable Object, R_X extends Throwable> Joiner<T, Void, R_X> awaitAllSuccessfulOrThrow(
                Function<Throwable, R_X> f) {
            return new Joiners.AwaitSuccessful<>(f);
        }

        /**
         * Returns {@link #awaitAllSuccessfulOrThrow(Function)} with {@code ExecutionException::new}.
         *
         * @param <T> the type of the results of subtasks
         * @return a joiner whose result is null
         */
        static <T extends @Nullable Object> Joiner<T, Void, ExecutionException> awaitAllSuccessfulOrThrow() {
            return awaitAllSuccessfulOrThrow(ExecutionException::new);
        }

        /**
         * Returns a joiner that cancels the scope when a predicate returns true. It throws neither for failures nor for
         * a timeout.
         *
         * @param <T> the type of the results of subtasks
         * @param isDone the predicate, called for each completed subtask as {@link #onComplete} is
         * @return a joiner whose result is the list of all subtasks, in the order of their forks
         */
        static <T extends @Nullable Object> Joiner<T, List<Subtask<T>>, RuntimeException> allUntil(
                Predicate<? super Subtask<T>> isDone) {
            return new Joiners.AllUntil<>(isDone);
        }
    }

    /** The configuration of a scope. Immutable. */
    @CheckReturnValue
    sealed interface Configuration permits Settings {

        /**
         * Returns this configuration with another thread factory.
         *
         * @param threadFactory the factory, called once for each subtask by the owner
         * @return a new configuration
         */
        Configuration withThreadFactory(ThreadFactory threadFactory);

        /**
         * Returns this configuration with another name.
         *
         * @param name the scope's name in dumps and messages
         * @return a new configuration
         */
        Configuration withName(String name);

        /**
         * Returns this configuration with a timeout, after which the scope is cancelled.
         *
         * @param timeout the time from the opening; one that is zero or negative has expired at once
         * @return a new configuration
         */
        Configuration withTimeout(Duration timeout);

        /**
         * Returns this configuration with options that the JDK does not have, such as a listener. They replace the name
         * and the thread factory; the last call of the {@code with} methods wins.
         *
         * @param options the options
         * @return a new configuration
         */
        Configuration withOptions(StructuredScopeOptions options);
    }

    /** The exception from which the joiners that throw create theirs if the timeout of a scope has expired. */
    final class CancelledByTimeoutException extends RuntimeException {

        @Serial
        private static final long serialVersionUID = 1L;

        /** Creates an exception without a message. */
        public CancelledByTimeoutException() {}
    }
}
