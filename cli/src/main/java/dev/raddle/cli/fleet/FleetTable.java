package dev.raddle.cli.fleet;

import dev.raddle.cli.file.value.Columns;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Rates;
import dev.raddle.redis.FleetStatus;
import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Formats the state of a fleet as tables. Keys and names of instances come from other processes, so their control
 * characters are made visible.
 */
final class FleetTable {
    private final String namespace;
    private final FleetStatus status;

    FleetTable(String namespace, FleetStatus status) {
        this.namespace = namespace;
        this.status = status;
    }

    String text() {
        StringBuilder text = new StringBuilder();
        text.append("fleet ").append(namespace).append(": ").append(status.permits());
        text.append(status.permits() == 1 ? " permit" : " permits").append(" held, cap ");
        text.append(limit(status.cap())).append(", default limit ").append(limit(status.limit()));
        if (status.quarantine().isPositive()) {
            text.append("\nThe server lost its data: nothing is granted for ").append(time(status.quarantine()));
        }
        text.append('\n');
        List<List<String>> instances = new ArrayList<>();
        instances.add(List.of("INSTANCE", "LEASE", "AGE"));
        status.instances().forEach(instance -> instances.add(row(instance)));
        append(text, instances, "no instances");
        List<List<String>> keys = new ArrayList<>();
        keys.add(List.of("KEY", "LIMIT", "RATE", "HELD", "WAITING", "HELD BY"));
        status.keys().forEach(key -> keys.add(row(key)));
        append(text, keys, "no keys in use");
        return text.toString();
    }

    private static List<String> row(FleetStatus.Instance instance) {
        String lease = instance.left().isNegative()
                ? "ended " + time(instance.left().negated()) + " ago"
                : time(instance.left()) + " left";
        return List.of(Printable.oneLine(instance.name()), lease, time(instance.age()));
    }

    private static List<String> row(FleetStatus.Key key) {
        String holders = key.holders().stream()
                .map(holding -> Printable.oneLine(holding.instance()) + " " + holding.permits() + " for "
                        + time(holding.held()))
                .collect(Collectors.joining(", "));
        return List.of(
                Printable.oneLine(key.key()),
                limit(key.limit()),
                rate(key.rate()),
                Integer.toString(key.permits()),
                Integer.toString(key.waiting()),
                holders);
    }

    private static String limit(int limit) {
        return limit == 0 ? "none" : Integer.toString(limit);
    }

    private static String rate(@Nullable Rate rate) {
        return rate == null ? "none" : Rates.text(rate);
    }

    /** Formats a duration: 0.21 s, 12 s, 3 min 5 s, 2 h 3 min. */
    private static String time(Duration duration) {
        if (duration.toSeconds() < 10) {
            return String.format(Locale.ROOT, "%.2f s", duration.toMillis() / 1000.0);
        }
        if (duration.toMinutes() < 1) {
            return duration.toSeconds() + " s";
        }
        return duration.toHours() < 1
                ? duration.toMinutes() + " min " + duration.toSecondsPart() + " s"
                : duration.toHours() + " h " + duration.toMinutesPart() + " min";
    }

    /** Appends a table below a blank line; the first row is the head. */
    private static void append(StringBuilder text, List<List<String>> rows, String none) {
        text.append('\n').append(rows.size() == 1 ? none + "\n" : Columns.text(rows));
    }
}
