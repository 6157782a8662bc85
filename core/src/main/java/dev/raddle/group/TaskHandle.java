package dev.raddle.group;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A handle of a submitted task, with methods to wait for it and to cancel it.
 *
 * {@snippet :
 * TaskHandle<String> handle = executor.submit("groupA", "t1", () -> "hi");
 * GroupResult<String> result = handle.await();
 * }
 *
 * <p>Memory consistency effects: actions before the task was submitted <i>happen-before</i> the task, and the task
 * <i>happens-before</i> the return from any of the waits. When a wait returns, the task's slot is free, unless the task
 * was cancelled and still runs, and the listeners have been notified.
 *
 * <p>Whether a wait for a rejected task throws depends on the {@link RejectionPolicy}. Under ABORT it throws. Under
 * DISCARD, and if a {@link RejectionHandler} is set, it returns a result. Under CALLER_RUNS, a task that was rejected
 * when it was submitted has been called by its submitter, and the wait returns its result. For a task that is rejected
 * later, because it waited too long or its group was evicted or shut down, the wait throws as under ABORT.
 *
 * <p>A task that awaits another task of its own group, while every running task of the group does the same, would wait
 * forever. Waits without a timeout detect this and throw {@link IllegalStateException}. A cycle of waits that involves
 * other groups or the global cap is not always detected, nor is one in a group in which more than 4096 slots are taken.
 * Use a wait with a timeout there.
 *
 * @param <T> the type of the value
 */
public interface TaskHandle<T> {

    /**
     * Returns the key of the task's group.
     *
     * @return the key
     */
    String groupKey();

    /**
     * Returns the id of the task.
     *
     * @return the id it was submitted with
     */
    String taskId();

    /**
     * Waits until the task has ended.
     *
     * @return its result
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     * @throws IllegalStateException if it could never begin, because all running tasks of its group await others of
     *     that group, or all running tasks under the cap await others; not thrown if a time limit ends one of these
     *     tasks
     * @throws InterruptedException if the calling thread is interrupted; the task goes on
     */
    GroupResult<T> await() throws InterruptedException;

    /**
     * Waits until the task has ended or a timeout has passed.
     *
     * @param timeout the longest time to wait; zero or less does not wait
     * @param unit the unit of the timeout
     * @return its result; if the timeout passes first, one with status CANCELLED and a
     *     {@link java.util.concurrent.TimeoutException}, while the task goes on
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     * @throws InterruptedException if the calling thread is interrupted; the task goes on
     */
    GroupResult<T> await(long timeout, TimeUnit unit) throws InterruptedException;

    /**
     * Waits until the task has ended, or the calling thread is interrupted.
     *
     * @return its result; if the calling thread was interrupted first, one with status CANCELLED and the
     *     {@link InterruptedException}, while the task goes on and the thread's interrupt status stays set
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     * @throws IllegalStateException as {@link #await()} does
     */
    GroupResult<T> join();

    /**
     * Waits until the task has ended, a timeout has passed, or the calling thread is interrupted.
     *
     * @param timeout the longest time to wait; zero or less does not wait
     * @param unit the unit of the timeout
     * @return its result; if the timeout passed or the thread was interrupted first, one with status CANCELLED and a
     *     {@link java.util.concurrent.TimeoutException} or {@link InterruptedException}, while the task goes on
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     */
    GroupResult<T> join(long timeout, TimeUnit unit);

    /**
     * Cancels the task. A waiting task leaves the queue at once and never runs. A running task is interrupted once, if
     * that is allowed; its result is CANCELLED at once, and its slot is free when the task returns.
     *
     * @param mayInterruptIfRunning whether to interrupt the task if it runs; if false, a running task is not cancelled
     * @return true if this call cancelled the task; false if the task runs and must not be interrupted, or has ended
     */
    boolean cancel(boolean mayInterruptIfRunning);

    /**
     * Returns whether the task has ended. Never blocks.
     *
     * @return true if a wait would return at once
     */
    boolean isDone();

    /**
     * Returns a future that completes with the task's result, or with {@link RejectedTaskException} where a wait would
     * throw it. The future is a copy: completing or cancelling it does not affect the task. Its dependants run in the
     * thread that settles the task, after the task's slot is free, or at once if the task has ended.
     *
     * <p>The executor cannot detect which thread waits for a future. So a task that waits by {@code get()} or
     * {@code join()} for another task of its own full group waits forever, where {@link #await()} throws. Inside a
     * task, use {@code await()}, or attach dependants to the future instead of waiting.
     *
     * @return a new future
     */
    CompletableFuture<GroupResult<T>> toCompletableFuture();
}
