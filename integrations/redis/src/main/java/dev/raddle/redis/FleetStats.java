package dev.raddle.redis;

import java.time.Duration;

/**
 * Counts of one instance of a fleet, read in one moment.
 *
 * @param acquired the number of permits that the server has granted
 * @param acquireTime the sum of the times between wanting a permit and its grant
 * @param lost the number of permits that were lost with their lease
 * @param leases the number of permits that the instance holds of the server
 * @param wanted the number of further permits that its executors want
 * @param groups the number of groups that hold or want permits
 * @param backendUp whether the server answers; false before its first answer
 * @param calls the number of calls to the server
 * @param outages the number of outages that have begun
 */
public record FleetStats(
        long acquired,
        Duration acquireTime,
        long lost,
        int leases,
        long wanted,
        int groups,
        boolean backendUp,
        long calls,
        long outages) {}
