package dev.raddle.task;

/**
 * Identifies a task in notifications. All notifications of a task have the same object, and different tasks have
 * different objects, although their names may be equal.
 */
public interface TaskIdentity extends NamedTask {

    /**
     * Returns the name of the group, scope, flow or pool to which the task belongs.
     *
     * @return the key of the group, or the name of the scope, flow or pool
     */
    String owner();

    /**
     * Returns the name of the task.
     *
     * @return the name given at the submission
     */
    @Override
    String name();
}
