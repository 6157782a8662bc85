package dev.raddle.task;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * A task of a scope. It provides the value when the task has ended, and can cancel the task.
 *
 * {@snippet :
 * Task<User> user = scope.submit("load-user", () -> users.load(id));
 * render(user.await());
 * }
 *
 * <p>State, runner and result change together in one step, and the state of a task that has ended never changes. Memory
 * consistency effects: actions before the submission <i>happen-before</i> the callable, and the callable
 * <i>happens-before</i> the return of a wait. When a wait returns, hooks have been notified, metrics are counted, and
 * the task's permit is released, unless the task was ended from outside and its callable still runs.
 *
 * @param <T> the type of the value
 */
public interface Task<T> extends TaskIdentity {

    /** The state of a task. */
    enum State {
        /** It was submitted and has not begun. */
        PENDING,
        /** Its callable is running. */
        RUNNING,
        /** Its callable returned. */
        SUCCESS,
        /** Its callable threw, it ran out of time, or it was rejected by the scheduler. */
        FAILED,
        /** It was cancelled, before or while it ran. */
        CANCELLED
    }

    /**
     * Returns the number of this task.
     *
     * @return a number that is unique in its scope
     */
    long id();

    /**
     * Returns the state of this task. Never blocks.
     *
     * @return the current state
     */
    State state();

    /**
     * Returns whether this task has ended. Never blocks.
     *
     * @return true if its state will never change
     */
    boolean isDone();

    /**
     * Returns whether this task was cancelled.
     *
     * @return true if its state is {@link State#CANCELLED}
     */
    default boolean isCancelled() {
        return state() == State.CANCELLED;
    }

    /**
     * Returns whether this task has failed.
     *
     * @return true if its state is {@link State#FAILED}
     */
    default boolean isFailed() {
        return state() == State.FAILED;
    }

    /**
     * Cancels this task. If it has not begun, it never will. If it is running, its thread is interrupted once, and the
     * value of the callable is discarded.
     *
     * @return true if this call cancelled the task; false if it had ended
     */
    boolean cancel();

    /**
     * Waits for the value.
     *
     * @return the value of the callable, which may be null
     * @throws RuntimeException if the callable threw it
     * @throws Error if the callable threw it
     * @throws TaskExecutionException if the callable threw a checked exception, which is the cause
     * @throws TaskTimeoutException if the task timed out
     * @throws CancelledException if the task was cancelled; the message is the reason; if its scope's deadline
     *     cancelled it, the exception is {@code ScopeTimeoutException}
     * @throws IllegalStateException if the task could never begin, or never end, because all running tasks of its scope
     *     wait for other tasks of that scope
     * @throws InterruptedException if the calling thread is interrupted; the task continues
     */
    T await() throws InterruptedException;

    /**
     * Waits for the value, at most for a given time. Throws the same exceptions as {@link #await()}, but does not
     * detect that the task could never end.
     *
     * @param longest the maximum time to wait; zero or less does not wait
     * @return the value of the callable, which may be null
     * @throws TimeoutException if the time passed first; the task continues
     * @throws InterruptedException if the calling thread is interrupted; the task continues
     */
    T await(Duration longest) throws InterruptedException, TimeoutException;

    /**
     * Returns the thread that runs the callable.
     *
     * @return the thread, or empty unless the state is {@link State#RUNNING}
     */
    Optional<Thread> runner();

    /**
     * Returns the outcome of this task. Never blocks.
     *
     * @return the outcome, or empty if the task has not ended
     */
    Optional<Outcome<T>> outcome();

    /**
     * Returns a future with the value or exception that {@link #await()} would return or throw. It is a copy:
     * completing or cancelling it does not affect the task. Its dependent actions run in the thread that settles the
     * task, or at once if the task has ended.
     *
     * <p>The threads that wait for a future are not recorded: unlike {@link #await()}, such a wait is not checked for
     * tasks that could never end.
     *
     * @return a new future
     */
    CompletableFuture<T> toCompletableFuture();

    /**
     * Applies a function to the value, by {@code thenApply} of a {@linkplain #toCompletableFuture() copy}.
     *
     * @param <U> the type of the function's value
     * @param function the function
     * @return a new future
     */
    default <U> CompletableFuture<U> thenApply(Function<? super T, ? extends U> function) {
        return toCompletableFuture().thenApply(function);
    }

    /**
     * Continues with another stage, by {@code thenCompose} of a {@linkplain #toCompletableFuture() copy}.
     *
     * @param <U> the type of the stage's value
     * @param function the function that returns the stage
     * @return a new future
     */
    default <U> CompletableFuture<U> thenCompose(Function<? super T, ? extends CompletionStage<U>> function) {
        return toCompletableFuture().thenCompose(function);
    }

    /**
     * Replaces a failure by a value, by {@code exceptionally} of a {@linkplain #toCompletableFuture() copy}.
     *
     * @param function the function that returns the value
     * @return a new future
     */
    default CompletableFuture<T> exceptionally(Function<Throwable, ? extends T> function) {
        return toCompletableFuture().exceptionally(function);
    }
}
