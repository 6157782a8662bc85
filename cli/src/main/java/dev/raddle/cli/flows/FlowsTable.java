package dev.raddle.cli.flows;

import dev.raddle.cli.file.value.Columns;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.flow.RecordedFailure;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
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
        String reason = run.problem() != null
                ? Printable.oneLine(run.problem())
                : run.waitsUntil() != null ? "waits " + wait(run.waitsUntil()) : text(run.failure());
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

    private static String shortened(String text) {
        return text.codePointCount(0, text.length()) <= SHORT
                ? text
                : text.substring(0, text.offsetByCodePoints(0, SHORT)) + "…";
    }

    static String run(StoredRun run, List<StoredEntry> entries) {
        List<List<String>> head = new ArrayList<>();
        head.add(List.of("run", Printable.oneLine(run.id())));
        head.add(List.of("flow", Printable.oneLine(run.flow() + ", version " + run.version())));
        head.add(List.of("state", run.state().name()));
        add(head, "waits", run.waitsUntil() == null ? NONE : wait(run.waitsUntil()));
        add(head, "problem", Printable.oneLine(Objects.requireNonNullElse(run.problem(), NONE)));
        add(head, "failure", text(run.failure()));
        add(head, "worker", worker(run));
        add(head, "created", time(run.createdAt()));
        add(head, "begun", time(run.begunAt()));
        add(head, "ended", time(run.endedAt()));
        return Columns.text(head) + "\n" + journal(entries) + trace(run.failure());
    }

    private static String wait(Instant until) {
        return until.equals(Instant.MAX) ? "for a signal" : "until " + time(until);
    }

    private static void add(List<List<String>> rows, String name, String value) {
        if (!value.isEmpty()) {
            rows.add(List.of(name, value));
        }
    }

    private static String worker(StoredRun run) {
        return run.worker() == null ? NONE : Printable.oneLine(run.worker()) + ", claim " + run.claims();
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
                    Printable.oneLine(words(entry)),
                    text(entry.failure())));
        }
        return Columns.text(rows);
    }

    static String words(StoredEntry entry) {
        return switch (entry.kind()) {
            case "BEGUN" ->
                "begins at " + time(entry.at())
                        + (entry.nodes().isEmpty() ? "" : ", again: " + String.join(", ", entry.nodes()));
            case "NODE" -> entry.state() + source(entry);
            case "ATTEMPT_BEGAN" -> "attempt " + entry.count() + " begins";
            case "ATTEMPT" ->
                "attempt " + entry.count() + " has failed" + (entry.state() == null ? "" : ", the last one");
            case "UNDO_FAILED" ->
                "attempt " + entry.count() + " to compensate has failed"
                        + (entry.state() == null ? "" : ", the last one");
            case "DEADLINE" -> "times out at " + time(entry.at());
            case "SLEEP" -> "sleeps until " + time(entry.at());
            case "SIGNAL" -> "signal received";
            case "ELEMENT" -> "element " + entry.count() + " done";
            case "MAP" -> "all " + entry.count() + " elements done";
            case "COMPENSATING" -> "compensates, then ends as " + entry.state();
            case "COMPENSATED" -> "compensated";
            case "ENDED" -> "ends as " + entry.state();
            default -> entry.kind();
        };
    }

    private static String source(StoredEntry entry) {
        String attempt = entry.count() == null || entry.count() == 0 ? "" : ", attempt " + entry.count();
        return "FALLBACK".equals(entry.via()) ? attempt + ", by the fallback" : attempt;
    }

    private static String trace(@Nullable RecordedFailure failure) {
        if (failure == null || failure.trace().isEmpty()) {
            return "";
        }
        return "\n" + lines(failure);
    }

    /** Returns a failure with the lines of its trace. */
    static String lines(RecordedFailure failure) {
        StringBuilder text = new StringBuilder(text(failure)).append('\n');
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
