/**
 * Raddle with Micrometer: meters for {@linkplain dev.raddle.micrometer.TaskMeters groups, scopes and flows},
 * {@linkplain dev.raddle.micrometer.PoolMeters pools} and {@linkplain dev.raddle.micrometer.FleetMeters fleets}, and
 * {@linkplain dev.raddle.micrometer.SnapshotPropagator propagation} of every context that is registered with
 * Micrometer's context-propagation library.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle.micrometer {
    requires transitive context.propagation;
    requires transitive dev.raddle;
    requires transitive micrometer.core;
    requires static dev.raddle.redis;
    requires static org.jspecify;

    exports dev.raddle.micrometer;
}
