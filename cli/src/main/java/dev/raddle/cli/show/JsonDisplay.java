package dev.raddle.cli.show;

import dev.raddle.cli.run.Account;
import dev.raddle.cli.run.Json;
import dev.raddle.cli.run.RunDirectory;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Prints every event as a line of JSON. The names of events and fields are documented and must not change. */
final class JsonDisplay implements RunListener {
    private final OutputStream out;

    JsonDisplay(OutputStream out) {
        this.out = out;
    }

    @Override
    public void on(RunEvent event) throws IOException {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        switch (event) {
            case RunEvent.TaskQueued queued -> {
                return;
            }
            case RunEvent.RunStarted started -> {
                fields.put("event", "run-started");
                fields.put("time", event.time());
                fields.put("name", started.name());
                fields.put("tasks", started.tasks() < 0 ? null : started.tasks());
                fields.put("groups", started.groups() < 0 ? null : started.groups());
                fields.put("directory", started.directory() == null ? null : RunDirectory.shown(started.directory()));
                fields.put("succeededBefore", started.succeededBefore());
            }
            case RunEvent.AttemptStarted started -> {
                attempt(fields, "task-started", event, started.id(), started.group());
                fields.put("attempt", started.attempt());
                fields.put("attempts", started.attempts());
                fields.put("pid", started.pid());
            }
            case RunEvent.AttemptFailed failed -> {
                attempt(fields, "task-retrying", event, failed.id(), failed.group());
                fields.put("attempt", failed.attempt());
                fields.put("attempts", failed.attempts());
                fields.put("exitCode", failed.exitCode());
                fields.put("error", failed.error());
                fields.put("pauseMillis", failed.pause().toMillis());
            }
            case RunEvent.TaskEnded ended -> {
                fields.put("event", "task-ended");
                fields.put("time", event.time());
                fields.putAll(ended.result().fields());
            }
            case RunEvent.TaskUndone undone -> {
                fields.put("event", "task-undone");
                fields.put("time", event.time());
                fields.put("id", undone.id());
                fields.put("group", undone.group());
                fields.put("error", undone.error());
            }
            case RunEvent.RunStopping stopping -> {
                fields.put("event", "run-stopping");
                fields.put("time", event.time());
                fields.put(
                        "reason",
                        stopping.reason().name().toLowerCase(Locale.ROOT).replace('_', '-'));
            }
            case RunEvent.RunEnded ended -> {
                fields.put("event", "run-ended");
                fields.put("time", event.time());
                fields.put("exitCode", ended.exitCode());
                fields.put("wallMillis", ended.summary().wall().toMillis());
                fields.put("totals", ended.summary().totals().fields());
                Account account = ended.summary().account();
                if (account != null) {
                    fields.put("account", account.fields());
                }
            }
        }
        out.write((Json.text(fields) + "\n").getBytes(StandardCharsets.UTF_8));
        out.flush();
    }

    private static void attempt(
            Map<String, @Nullable Object> fields, String name, RunEvent event, String id, String group) {
        fields.put("event", name);
        fields.put("time", event.time());
        fields.put("id", id);
        fields.put("group", group);
    }
}
