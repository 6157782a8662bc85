/**
 * Meters of tasks, pools and fleets with Micrometer. Start at {@link dev.raddle.micrometer.TaskMeters} for groups,
 * scopes and flows, {@link dev.raddle.micrometer.PoolMeters} for pools and {@link dev.raddle.micrometer.FleetMeters}
 * for fleets. {@link dev.raddle.micrometer.SnapshotPropagator} propagates contexts.
 *
 * <p>Nothing is null unless stated otherwise, and every class is thread-safe. Micrometer is never called under a lock.
 * Nothing here creates a registry.
 */
package dev.raddle.micrometer;
