package dev.raddle.scope;

import dev.raddle.task.Task;

/**
 * A delayed task or a periodic job. A delayed task is submitted like any other task after its delay. A periodic job is
 * pending until it ends: it fails when one of its rounds fails, with the exception of that round, and is cancelled at
 * the latest with its scope.
 *
 * @param <T> the type of the value; a periodic job has none
 */
public interface ScheduledTask<T> extends Task<T> {

    /**
     * Returns whether this is a periodic job.
     *
     * @return true if it runs periodically, false if it runs once
     */
    boolean isPeriodic();
}
