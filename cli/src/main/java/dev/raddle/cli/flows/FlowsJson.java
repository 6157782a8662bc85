package dev.raddle.cli.flows;

import dev.raddle.cli.run.Json;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import dev.raddle.jdbc.StoredSchedule;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Formats runs as JSON. */
final class FlowsJson {
    private FlowsJson() {}

    static String list(List<StoredRun> runs) {
        return Json.text(Map.of("runs", runs.stream().map(FlowsJson::run).toList())) + "\n";
    }

    static String run(StoredRun run, List<StoredEntry> entries) {
        Map<String, @Nullable Object> fields = run(run);
        fields.put("entries", entries.stream().map(FlowsJson::entry).toList());
        return Json.text(fields) + "\n";
    }

    private static Map<String, @Nullable Object> run(StoredRun run) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", run.id());
        fields.put("flow", run.flow());
        fields.put("version", run.version());
        fields.put("state", run.state());
        fields.put("claims", run.claims());
        fields.put("worker", run.worker());
        fields.put("createdAt", run.createdAt());
        fields.put("begunAt", run.begunAt());
        fields.put("endedAt", run.endedAt());
        fields.put("failure", failure(run.failure()));
        fields.put("problem", run.problem());
        Instant until = run.waitsUntil();
        fields.put("waitsUntil", Instant.MAX.equals(until) ? "signal" : until);
        return fields;
    }

    static String schedules(List<StoredSchedule> schedules) {
        return Json.text(Map.of(
                        "schedules", schedules.stream().map(FlowsJson::schedule).toList()))
                + "\n";
    }

    private static Map<String, @Nullable Object> schedule(StoredSchedule schedule) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("name", schedule.name());
        fields.put("flow", schedule.flow());
        fields.put("cron", schedule.schedule().cron());
        fields.put("zone", schedule.schedule().zone().getId());
        fields.put("overlap", schedule.schedule().overlap());
        fields.put("nextAt", schedule.nextAt());
        fields.put("lastRun", schedule.lastRun());
        fields.put("problem", schedule.problem());
        return fields;
    }

    private static Map<String, @Nullable Object> entry(StoredEntry entry) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("claim", entry.claim());
        fields.put("number", entry.number());
        fields.put("kind", entry.kind());
        fields.put("node", entry.node());
        fields.put("state", entry.state());
        fields.put("via", entry.via());
        fields.put("count", entry.count());
        fields.put("at", entry.at());
        fields.put("failure", failure(entry.failure()));
        fields.put("nodes", entry.nodes());
        fields.put("place", entry.place());
        return fields;
    }

    private static @Nullable Map<String, @Nullable Object> failure(@Nullable RecordedFailure failure) {
        if (failure == null) {
            return null;
        }
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("type", failure.type());
        fields.put("message", failure.message());
        fields.put("trace", failure.trace());
        return fields;
    }
}
