package dev.raddle.cli.flows;

import dev.raddle.cli.file.value.Columns;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.console.DurableConsole;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import dev.raddle.jdbc.StoredSchedule;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Formats runs as tables. All texts come from other processes, so their control characters are made visible. */
final class FlowsTable {
    private static final int SHORT = 80;
    private static final String NONE = "";

    private FlowsTable() {}

    static String list(List<StoredRun> runs, int limit) {
        if (runs.isEmpty()) {
            return "no runs\n";
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("RUN", "FLOW", "VERSION", "STATE", "CLAIMS", "CREATED", "ENDED", "REASON"));
        runs.forEach(run -> rows.add(row(run)));
        String more = runs.size() < limit ? "" : "the newest " + limit + "; --limit shows more\n";
        return Columns.text(rows) + more;
    }

    private static List<String> row(StoredRun run) {
        String reason = Printable.oneLine(Objects.requireNonNullElse(run.reason(), NONE));
        return List.of(
                Printable.oneLine(run.id()),
                Printable.oneLine(run.flow()),
                Printable.oneLine(run.version()),
                run.state().name(),
                Long.toString(run.claims()),
                time(run.createdAt()),
                time(run.endedAt()),
                shortened(reason));
    }

    static String schedules(List<StoredSchedule> schedules) {
        if (schedules.isEmpty()) {
            return "no schedules\n";
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("SCHEDULE", "FLOW", "CRON", "ZONE", "NEXT", "LATEST RUN", "PROBLEM"));
        for (StoredSchedule each : schedules) {
            rows.add(List.of(
                    Printable.oneLine(each.name()),
                    Printable.oneLine(each.flow()),
                    Printable.oneLine(each.schedule().cron()),
                    each.schedule().zone().getId(),
                    each.isPaused() ? "paused" : time(each.nextAt()),
                    Printable.oneLine(Objects.requireNonNullElse(each.lastRun(), NONE)),
                    Printable.oneLine(Objects.requireNonNullElse(each.problem(), NONE))));
        }
        return Columns.text(rows);
    }

    private static String shortened(String text) {
        return text.codePointCount(0, text.length()) <= SHORT
                ? text
                : text.substring(0, text.offsetByCodePoints(0, SHORT)) + "…";
    }

    static String run(StoredRun run, List<StoredEntry> entries) {
        List<List<String>> head = new ArrayList<>();
        head.add(List.of("run", Printable.oneLine(run.id())));
        head.add(List.of("state", run.state().name()));
        DurableConsole.view(run, entries)
                .facts()
                .forEach((name, value) -> head.add(List.of(name, Printable.oneLine(value))));
        add(head, "begun", time(run.begunAt()));
        add(head, "ended", time(run.endedAt()));
        return Columns.text(head) + "\n" + journal(entries) + trace(run.failure());
    }

    private static void add(List<List<String>> rows, String name, String value) {
        if (!value.isEmpty()) {
            rows.add(List.of(name, value));
        }
    }

    private static String journal(List<StoredEntry> entries) {
        if (entries.isEmpty()) {
            return "nothing recorded yet\n";
        }
        List<List<String>> rows = new ArrayList<>();
        rows.add(List.of("CLAIM", "NODE", "ENTRY", "FAILURE"));
        for (StoredEntry entry : entries) {
            rows.add(List.of(
                    Long.toString(entry.claim()),
                    Printable.oneLine(Objects.requireNonNullElse(entry.node(), NONE)),
                    Printable.oneLine(entry.words()),
                    text(entry.failure())));
        }
        return Columns.text(rows);
    }

    private static String trace(@Nullable RecordedFailure failure) {
        if (failure == null || failure.trace().isEmpty()) {
            return "";
        }
        StringBuilder text = new StringBuilder("\n").append(text(failure)).append('\n');
        failure.trace()
                .lines()
                .forEach(line ->
                        text.append("    ").append(Printable.oneLine(line)).append('\n'));
        return text.toString();
    }

    static String text(@Nullable RecordedFailure failure) {
        return failure == null ? NONE : Printable.oneLine(failure.toString());
    }

    static String time(@Nullable Instant time) {
        return time == null ? NONE : time.truncatedTo(ChronoUnit.SECONDS).toString();
    }
}
