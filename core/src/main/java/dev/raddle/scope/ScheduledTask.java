package dev.raddle.scope;

import dev.raddle.task.Task;

/**
 * A task that begins later, or a job that is repeated. A delayed task is a task like any other, once its time has come. A
 * job that is repeated is pending until it ends: it fails when one of its rounds does, with what that threw, and is cancelled
 * with its scope at the latest.
 *
 * @param <T> the type of the value; a job that is repeated has none
 */
public interface ScheduledTask<T> extends Task<T> {

    /**
     * Tells whether this is a job that is repeated.
     *
     * @return false if it runs once
     */
    boolean isPeriodic();
}
