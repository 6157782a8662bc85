package dev.raddle.task;

/** The priority of a task among the waiting tasks. {@link Scheduler.Placeable#priority()} allows finer priorities. */
public enum TaskPriority {
    /** Runs before tasks of other priorities. */
    HIGH(1),
    /** The default. */
    NORMAL(0),
    /** Runs when no task of another priority waits. */
    LOW(-1);

    private final int rank;

    TaskPriority(int rank) {
        this.rank = rank;
    }

    /**
     * Returns this priority as a number.
     *
     * @return 1, 0 or -1; tasks of a higher rank run first
     */
    public int rank() {
        return rank;
    }
}
