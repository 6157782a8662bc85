package dev.raddle.cli.fleet;

import dev.raddle.cli.run.Json;
import dev.raddle.redis.FleetStatus;
import dev.raddle.task.Rate;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Formats the state of a fleet as JSON. */
final class FleetJson {
    private FleetJson() {}

    static String text(String namespace, FleetStatus status) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("namespace", namespace);
        fields.put("permits", status.permits());
        fields.put("cap", orNull(status.cap()));
        fields.put("defaultLimit", orNull(status.limit()));
        fields.put("quarantineMillis", status.quarantine().toMillis());
        fields.put(
                "instances",
                status.instances().stream().map(FleetJson::instance).toList());
        fields.put("keys", status.keys().stream().map(FleetJson::key).toList());
        return Json.text(fields);
    }

    private static Map<String, Object> instance(FleetStatus.Instance instance) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("name", instance.name());
        fields.put("id", instance.id());
        fields.put("ageMillis", instance.age().toMillis());
        fields.put("leaseLeftMillis", instance.left().toMillis());
        return fields;
    }

    private static Map<String, @Nullable Object> key(FleetStatus.Key key) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("key", key.key());
        fields.put("limit", orNull(key.limit()));
        fields.put("rate", rate(key.rate()));
        fields.put("permits", key.permits());
        fields.put("waiting", key.waiting());
        fields.put("holders", key.holders().stream().map(FleetJson::holding).toList());
        return fields;
    }

    private static @Nullable Map<String, Object> rate(@Nullable Rate rate) {
        if (rate == null) {
            return null;
        }
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("count", rate.count());
        fields.put("periodMillis", rate.period().toMillis());
        fields.put("burst", rate.burst());
        return fields;
    }

    private static Map<String, Object> holding(FleetStatus.Holding holding) {
        Map<String, Object> fields = new LinkedHashMap<>();
        fields.put("instance", holding.instance());
        fields.put("permits", holding.permits());
        fields.put("heldMillis", holding.held().toMillis());
        return fields;
    }

    /** Returns null for the limit 0, which means that there is none. */
    private static @Nullable Integer orNull(int limit) {
        return limit == 0 ? null : limit;
    }
}
