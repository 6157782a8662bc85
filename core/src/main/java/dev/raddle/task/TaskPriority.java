package dev.raddle.task;

/** How urgent a task is among those that wait with it. {@link Scheduler.Placeable#priority()} has room for more ranks. */
public enum TaskPriority {
    /** Goes before the others. */
    HIGH(1),
    /** The rank of a task that says nothing. */
    NORMAL(0),
    /** Goes when no other waits. */
    LOW(-1);

    private final int rank;

    TaskPriority(int rank) {
        this.rank = rank;
    }

    /**
     * Returns this priority as a number.
     *
     * @return 1, 0 or -1; the higher goes first
     */
    public int rank() {
        return rank;
    }
}
