/**
 * Meters of tasks and pools with Micrometer. Start at {@link dev.raddle.micrometer.TaskMeters} for groups, scopes and
 * flows and {@link dev.raddle.micrometer.PoolMeters} for pools. {@link dev.raddle.micrometer.SnapshotPropagator}
 * propagates contexts.
 *
 * <p>Nothing is null unless stated otherwise, and every class is thread-safe. Micrometer is never called under a lock.
 * Nothing here creates a registry.
 */
package dev.raddle.micrometer;
