package dev.raddle.task;

/**
 * One task, as those know it who hear of it: the same object in everything that is told of one task, and unlike that of any
 * other task, although names need not be unique.
 */
public interface TaskIdentity extends NamedTask {

    /**
     * Returns what the task belongs to.
     *
     * @return the key of its group, or the name of its scope
     */
    String owner();

    /**
     * Returns what the task is called.
     *
     * @return the name that it was submitted with
     */
    @Override
    String name();
}
