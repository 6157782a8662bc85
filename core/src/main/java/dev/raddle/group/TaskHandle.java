package dev.raddle.group;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * A submitted task: a way to wait for it and to cancel it.
 *
 * {@snippet :
 * TaskHandle<String> handle = executor.submit("groupA", "t1", () -> "hi");
 * GroupResult<String> result = handle.await();
 * }
 *
 * <p>Memory consistency effects: actions before the task was submitted <i>happen-before</i> the task, and the task
 * <i>happens-before</i> the return from any of the waits. When a wait returns, the task's slot is free, unless it was
 * cancelled and still runs, and the listeners have been told.
 *
 * <p>Whether a wait for a rejected task throws depends on the {@link RejectionPolicy}. Under ABORT it throws. Under DISCARD, and
 * if a {@link RejectionHandler} is set, it returns a result. Under CALLER_RUNS the submitter has run a task for which there was
 * no room when it was submitted, and the wait returns its result; a task that is rejected later, because it waited too long or
 * its group was evicted or shut down, has no submitter left to run it, and the wait throws as under ABORT.
 *
 * <p>A task that waits for another task of its own group, while every task that runs in the group does the same, would wait for
 * ever. Waits without a timeout detect this and throw {@link IllegalStateException}. A wait that leads through other groups
 * or through the global cap is not detected, nor is one in a group in which more than 4096 slots are taken; use one with a
 * timeout there.
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
     * Returns what the task is called.
     *
     * @return the id it was submitted with
     */
    String taskId();

    /**
     * Waits until the task has ended.
     *
     * @return its result
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     * @throws IllegalStateException if it could never begin, because all tasks that run in its group wait for others of it, or
     *     all that the cap lets run wait for others; not if one of these ends by itself, by a timeout for example
     * @throws InterruptedException if the calling thread is interrupted; the task goes on
     */
    GroupResult<T> await() throws InterruptedException;

    /**
     * Waits until the task has ended or a time has passed.
     *
     * @param timeout the longest time to wait; zero or less does not wait
     * @return its result; if the time has passed first, one with status CANCELLED and a
     *     {@link java.util.concurrent.TimeoutException}, while the task goes on
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     * @throws InterruptedException if the calling thread is interrupted; the task goes on
     */
    GroupResult<T> await(Duration timeout) throws InterruptedException;

    /**
     * Waits as {@link #await(Duration)} does.
     *
     * @param timeout the longest time to wait
     * @param unit the unit of the timeout
     * @return its result; if the time has passed first, one with status CANCELLED and a
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
     * @throws IllegalStateException if it could never begin, because all tasks that run in its group wait for others of it
     */
    GroupResult<T> join();

    /**
     * Waits until the task has ended, a time has passed, or the calling thread is interrupted.
     *
     * @param timeout the longest time to wait; zero or less does not wait
     * @return its result; if the time passed or the thread was interrupted first, one with status CANCELLED and a
     *     {@link java.util.concurrent.TimeoutException} or {@link InterruptedException}, while the task goes on
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     */
    GroupResult<T> join(Duration timeout);

    /**
     * Waits as {@link #join(Duration)} does.
     *
     * @param timeout the longest time to wait
     * @param unit the unit of the timeout
     * @return its result; if the time passed or the thread was interrupted first, one with status CANCELLED and a
     *     {@link java.util.concurrent.TimeoutException} or {@link InterruptedException}, while the task goes on
     * @throws RejectedTaskException if it was rejected, unless the policy is DISCARD or there is a rejection handler
     */
    GroupResult<T> join(long timeout, TimeUnit unit);

    /**
     * Cancels the task. One that waits leaves the queue at once and never runs. One that runs is interrupted, once, if that
     * is allowed; its result is CANCELLED from now on, and its slot is free when it has really ended.
     *
     * @param mayInterruptIfRunning whether to interrupt a task that runs; if false, such a task is left alone
     * @return true if this call cancelled it; false if it runs and must not be interrupted, or has ended
     */
    boolean cancel(boolean mayInterruptIfRunning);

    /**
     * Tells whether the task has ended. Never blocks.
     *
     * @return true if a wait would return at once
     */
    boolean isDone();

    /**
     * Returns a future that completes with the task's result, or with {@link RejectedTaskException} where a wait would throw
     * it. It is a copy: completing or cancelling it does nothing to the task. What depends on it runs in the thread that
     * settles the task, after the task's slot is free, or at once if it has ended.
     *
     * <p>Nobody knows which thread waits for a future. So a task that waits by {@code get()} or {@code join()} for another one
     * of its own full group waits for ever, where {@link #await()} throws. Inside a task, wait by that, or let the future go on.
     *
     * @return a new future
     */
    CompletableFuture<GroupResult<T>> toCompletableFuture();
}
