package dev.raddle.scope;

import dev.raddle.task.CheckReturnValue;
import java.time.Duration;
import java.util.Objects;

/**
 * A listener for the tasks of a scope. For each task it is notified at most once of the start, and exactly once of the
 * end. Its methods should return soon. Exceptions that they throw do not affect the task and go to the scope's sink.
 *
 * {@snippet :
 * ThreadHook log = new ThreadHook() {
 *     @Override
 *     public void onFailure(TaskInfo task, Throwable error, Duration ran) {
 *         logger.log(Level.WARNING, task.name() + " failed after " + ran, error);
 *     }
 * };
 * ThreadHook slowTasks = SlowTaskHook.create(Duration.ofSeconds(1), slow::add);
 * try (ThreadScope scope = ThreadScope.open().addHook(log.andThen(slowTasks))) {
 *     scope.submit("load", () -> load());
 * }
 * }
 *
 * <p>The start is notified by the task's thread, inside its context, before the callable is called. The end is notified
 * by the thread that decides it: the task's own or the cancelling thread. One hook may be used by any number of scopes.
 */
public interface ThreadHook {

    /**
     * Called when a task has started.
     *
     * @param task the task
     */
    default void onStart(TaskInfo task) {}

    /**
     * Called when a task has succeeded.
     *
     * @param task the task
     * @param ran the time for which its callable ran
     */
    default void onSuccess(TaskInfo task, Duration ran) {}

    /**
     * Called when a task has failed.
     *
     * @param task the task
     * @param error the exception or error
     * @param ran the time for which its callable ran; zero if it had not started
     */
    default void onFailure(TaskInfo task, Throwable error, Duration ran) {}

    /**
     * Called when a task was cancelled. Its callable may still run.
     *
     * @param task the task
     * @param ran the time for which its callable has run; zero if it had not started
     */
    default void onCancel(TaskInfo task, Duration ran) {}

    /**
     * Returns a hook that notifies this hook and then another. If this hook throws, the exception is rethrown after the
     * other was notified.
     *
     * @param next the hook to notify after this one
     * @return a new hook
     */
    @CheckReturnValue
    default ThreadHook andThen(ThreadHook next) {
        return new HookPair(this, Objects.requireNonNull(next, "next"));
    }
}
