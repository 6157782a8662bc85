package dev.raddle.jdbc;

import java.util.List;

/**
 * A service at one moment, as this process knows it: the database is not asked.
 *
 * @param worker the name of this worker
 * @param isClosed whether the service has been closed, or is being closed
 * @param isDatabaseAvailable whether the latest look at the database has succeeded; true for a service that executes
 *     nothing and awaits no run, because it does not look
 * @param executing the runs that this service executes, ordered by their ids
 * @param givenUp the runs that this service has given up because it was closed; while the database is unavailable, they
 *     may not have been returned yet
 */
public record FlowServiceStats(
        String worker,
        boolean isClosed,
        boolean isDatabaseAvailable,
        List<Execution> executing,
        List<Execution> givenUp) {

    /** Copies the lists. */
    public FlowServiceStats {
        executing = List.copyOf(executing);
        givenUp = List.copyOf(givenUp);
    }

    /**
     * A run that a service executes.
     *
     * @param run the id of the run
     * @param flow the name of its flow
     * @param version the version of the flow
     */
    public record Execution(String run, String flow, String version) {

        /** Returns a text such as {@code order-17 (checkout 1)}. */
        @Override
        public String toString() {
            return run + " (" + flow + " " + version + ")";
        }
    }
}
