package dev.raddle.scope;

import java.time.Duration;
import java.util.Objects;

/**
 * Hears of a scope's tasks. For each task it is told at most once that it started, and exactly once how it ended. It should
 * return soon. What it throws changes nothing and goes to the scope's sink.
 *
 * {@snippet :
 * ThreadHook log = new ThreadHook() {
 *     @Override
 *     public void onFailure(TaskInfo task, Throwable error, Duration ran) {
 *         logger.log(Level.WARNING, task.name() + " failed after " + ran, error);
 *     }
 * };
 * try (ThreadScope scope = ThreadScope.open().withHook(log.andThen(SlowTaskHook.create(Duration.ofSeconds(1), slow::add)))) {
 *     scope.submit("load", () -> load());
 * }
 * }
 *
 * <p>A start is told in the task's thread, inside its context, before the callable. An end is told in the thread that decides
 * it: the task's, or that of whoever cancels it. One hook may serve any number of scopes.
 */
public interface ThreadHook {

    /**
     * Hears that a task has begun.
     *
     * @param task which one
     */
    default void onStart(TaskInfo task) {}

    /**
     * Hears that a task has its value.
     *
     * @param task which one
     * @param ran how long its callable ran
     */
    default void onSuccess(TaskInfo task, Duration ran) {}

    /**
     * Hears that a task has failed.
     *
     * @param task which one
     * @param error why
     * @param ran how long its callable ran; zero if it had not begun
     */
    default void onFailure(TaskInfo task, Throwable error, Duration ran) {}

    /**
     * Hears that a task was cancelled. Its callable may still run.
     *
     * @param task which one
     * @param ran how long its callable has run; zero if it had not begun
     */
    default void onCancel(TaskInfo task, Duration ran) {}

    /**
     * Returns a hook that tells this one, then another. What one of them throws is thrown after the other has been told.
     *
     * @param next hears after this one
     * @return a new hook
     */
    default ThreadHook andThen(ThreadHook next) {
        return new HookPair(this, Objects.requireNonNull(next, "next"));
    }
}
