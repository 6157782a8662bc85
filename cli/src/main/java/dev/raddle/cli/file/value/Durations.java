package dev.raddle.cli.file.value;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses and formats durations: 200ms, 5s, 1.5m, 1h. */
public final class Durations {
    private static final Pattern FORM = Pattern.compile("(\\d{1,15}(?:\\.\\d{1,9})?)(ms|s|m|h)");
    private static final Map<String, Duration> UNITS = Map.of(
            "ms",
            Duration.ofMillis(1),
            "s",
            Duration.ofSeconds(1),
            "m",
            Duration.ofMinutes(1),
            "h",
            Duration.ofHours(1));
    private static final Duration MAX = Duration.ofDays(365);

    private Durations() {}

    /**
     * Parses a duration.
     *
     * @throws IllegalArgumentException if it has another form or is longer than a year; the message continues a
     *     sentence that begins with the name of the value
     */
    public static Duration parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw new IllegalArgumentException(
                    "must be a number with a unit (ms, s, m or h), such as 200ms or 5s, was \""
                            + Printable.oneLine(text) + "\"");
        }
        BigDecimal unit = BigDecimal.valueOf(
                UNITS.getOrDefault(matcher.group(2), Duration.ZERO).toNanos());
        BigDecimal nanos = new BigDecimal(matcher.group(1)).multiply(unit);
        if (nanos.compareTo(BigDecimal.valueOf(MAX.toNanos())) > 0) {
            throw new IllegalArgumentException("must be at most 8760h, was \"" + text + "\"");
        }
        return Duration.ofNanos(nanos.longValue());
    }

    /** Formats a duration for a message: 200 ms, 1.25 s, 3 min, 2 h. */
    public static String text(Duration duration) {
        long millis = duration.toMillis();
        if (millis < 1000) {
            return millis + " ms";
        }
        if (millis % 3_600_000 == 0) {
            return millis / 3_600_000 + " h";
        }
        if (millis % 60_000 == 0) {
            return millis / 60_000 + " min";
        }
        return BigDecimal.valueOf(millis, 3).stripTrailingZeros().toPlainString() + " s";
    }
}
