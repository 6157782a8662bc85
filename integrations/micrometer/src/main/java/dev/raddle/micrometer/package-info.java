/**
 * How much runs, waits and is refused, and for whom? Start at {@link dev.raddle.micrometer.TaskMeters} for groups and scopes
 * and {@link dev.raddle.micrometer.PoolMeters} for pools. {@link dev.raddle.micrometer.SnapshotPropagator} is for contexts.
 *
 * <p>Nothing is null unless it says so, and everything here is safe for many threads. Micrometer is never called under a
 * lock. Nothing here creates a registry.
 */
package dev.raddle.micrometer;
