package dev.raddle.task;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;

/**
 * A task of a scope: its value once it is there, and a way to cancel it.
 *
 * {@snippet :
 * Task<User> user = scope.submit("load-user", () -> users.load(id));
 * render(user.await());
 * }
 *
 * <p>State, runner and result change together, and a state that is an end never changes. Memory consistency effects: actions
 * before the submission <i>happen-before</i> the callable, and the callable <i>happens-before</i> the return of a wait. When
 * a wait returns, hooks have been told, metrics counted, and the task's permit is free, unless it was ended from outside and
 * its callable still runs.
 *
 * @param <T> the type of the value
 */
public interface Task<T> extends TaskIdentity {

    /** Where a task is in its life. */
    enum State {
        /** Submitted, and not begun. */
        PENDING,
        /** Its callable is being called. */
        RUNNING,
        /** Its callable returned. */
        SUCCESS,
        /** Its callable threw, it ran out of time, or it was rejected by the scheduler. */
        FAILED,
        /** It was cancelled, before or while it ran. */
        CANCELLED
    }

    /**
     * Returns the task's number.
     *
     * @return a number that no other task of its scope has
     */
    long id();

    /**
     * Returns where the task is in its life. Never blocks.
     *
     * @return the state now
     */
    State state();

    /**
     * Tells whether the task has ended. Never blocks.
     *
     * @return true if its state will never change
     */
    boolean isDone();

    /**
     * Tells whether the task was cancelled.
     *
     * @return true if its state is {@link State#CANCELLED}
     */
    default boolean isCancelled() {
        return state() == State.CANCELLED;
    }

    /**
     * Tells whether the task has failed.
     *
     * @return true if its state is {@link State#FAILED}
     */
    default boolean isFailed() {
        return state() == State.FAILED;
    }

    /**
     * Cancels the task. If it has not begun it never will; if it runs, its thread is interrupted, once, and whatever the
     * callable returns is dropped.
     *
     * @return true if this call cancelled it; false if it had ended
     */
    boolean cancel();

    /**
     * Waits for the value.
     *
     * @return what the callable returned, which may be null
     * @throws RuntimeException the task's own, if it threw one
     * @throws Error the task's own, if it threw one
     * @throws TaskExecutionException if the callable threw a checked exception, which is the cause
     * @throws TaskTimeoutException if the task ran out of time
     * @throws CancelledException if the task was cancelled, with the reason; if it was by its scope's deadline, the exception
     *     is {@code ScopeTimeoutException}
     * @throws IllegalStateException if the task could never begin, or never end, because all tasks that run in its scope
     *     wait for others of it
     * @throws InterruptedException if the calling thread is interrupted; the task goes on
     */
    T await() throws InterruptedException;

    /**
     * Waits for the value, for some time. It throws what {@link #await()} throws, but does not find out whether the task
     * could ever end.
     *
     * @param longest how long to wait at most; zero or less does not wait
     * @return what the callable returned, which may be null
     * @throws TimeoutException if the time passed first; the task goes on
     * @throws InterruptedException if the calling thread is interrupted; the task goes on
     */
    T await(Duration longest) throws InterruptedException, TimeoutException;

    /**
     * Returns the thread that is inside the callable.
     *
     * @return the thread, or empty unless the state is {@link State#RUNNING}
     */
    Optional<Thread> runner();

    /**
     * Returns how the task ended. Never blocks.
     *
     * @return the outcome, or empty if it has not ended
     */
    Optional<Outcome<T>> outcome();

    /**
     * Returns a future that completes as a wait for this task would return. It is a copy: completing or cancelling it does
     * nothing to the task. What depends on it runs in the thread that settles the task, or at once if that has happened.
     *
     * <p>Nobody knows which thread waits for a future: a wait for it in a task that could never end is not found, as one by
     * {@link #await()} is.
     *
     * @return a new future
     */
    CompletableFuture<T> toCompletableFuture();

    /**
     * Applies a function to the value, through a {@linkplain #toCompletableFuture() copy}.
     *
     * @param <U> the type of the function's value
     * @param function what to apply
     * @return a new future
     */
    default <U> CompletableFuture<U> thenApply(Function<? super T, ? extends U> function) {
        return toCompletableFuture().thenApply(function);
    }

    /**
     * Goes on with another stage, through a {@linkplain #toCompletableFuture() copy}.
     *
     * @param <U> the type of the stage's value
     * @param function returns the stage
     * @return a new future
     */
    default <U> CompletableFuture<U> thenCompose(Function<? super T, ? extends CompletionStage<U>> function) {
        return toCompletableFuture().thenCompose(function);
    }

    /**
     * Replaces a failure by a value, through a {@linkplain #toCompletableFuture() copy}.
     *
     * @param function returns the value
     * @return a new future
     */
    default CompletableFuture<T> exceptionally(Function<Throwable, ? extends T> function) {
        return toCompletableFuture().exceptionally(function);
    }
}
