package dev.raddle.jdbc;

import java.time.Duration;

/**
 * The settings of a service.
 *
 * @param name the name of the worker
 * @param maxRuns the number of runs that it executes at the same time
 * @param maxRecoveries how often a run may lose its worker without a record in between
 * @param heartbeat the time between two heartbeats of a run
 * @param missedHeartbeats the number of missing heartbeats after which a run is taken over
 * @param pollInterval the time between two looks for runs that are due
 * @param parkAfter the time without progress after which a run that only waits is executed no more
 * @param retention the time for which ended runs are kept
 * @param closeTimeout the time that runs have to end when the service is closed
 */
record ServiceSettings(
        String name,
        int maxRuns,
        int maxRecoveries,
        Duration heartbeat,
        int missedHeartbeats,
        Duration pollInterval,
        Duration parkAfter,
        Duration retention,
        Duration closeTimeout) {

    /** Returns the time after its last heartbeat at which a run is taken over. */
    Duration lease() {
        return heartbeat.multipliedBy(missedHeartbeats);
    }
}
