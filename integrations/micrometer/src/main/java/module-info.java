/**
 * Raddle with Micrometer: meters for {@linkplain dev.raddle.micrometer.TaskMeters groups and scopes} and for
 * {@linkplain dev.raddle.micrometer.PoolMeters pools}, and {@linkplain dev.raddle.micrometer.SnapshotPropagator propagation}
 * of every context that Micrometer's context-propagation library knows.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle.micrometer {
    requires transitive context.propagation;
    requires transitive dev.raddle;
    requires transitive micrometer.core;
    requires static org.jspecify;

    exports dev.raddle.micrometer;
}
