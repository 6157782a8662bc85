/**
 * Raddle with OpenTelemetry: a {@linkplain dev.raddle.opentelemetry.TaskTracing span for every task}, and the
 * submitter's context in every task.
 */
@org.jspecify.annotations.NullMarked
module dev.raddle.opentelemetry {
    requires transitive dev.raddle;
    requires transitive io.opentelemetry.api;
    requires io.opentelemetry.context;
    requires static org.jspecify;

    exports dev.raddle.opentelemetry;
}
