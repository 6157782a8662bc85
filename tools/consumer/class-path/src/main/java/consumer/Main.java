package consumer;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.micrometer.TaskMeters;
import dev.raddle.opentelemetry.TaskTracing;
import dev.raddle.redis.RedisFleet;
import dev.raddle.slf4j.LoggingSink;
import dev.raddle.slf4j.MdcPropagator;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.opentelemetry.api.OpenTelemetry;

/** Uses the core and its integrations from the class path. */
public class Main {
    public static void main(String[] args) {
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        TaskTracing tracing = TaskTracing.of(OpenTelemetry.noop());
        GroupPolicy policy = GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(2)
                .addListener(TaskMeters.forGroups(registry))
                .addListener(tracing)
                .addPropagator(tracing)
                .addPropagator(new MdcPropagator())
                .exceptionSink(LoggingSink.create())
                .build();
        try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
            String value =
                    executor.submit("tenant-a", "greet", () -> "hello").join().value();
            System.out.println(value + " from the class path, " + RedisFleet.class.getSimpleName() + " with "
                    + registry.getMeters().size() + " meters");
        }
    }
}
