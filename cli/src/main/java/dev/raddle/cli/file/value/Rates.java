package dev.raddle.cli.file.value;

import dev.raddle.task.Rate;
import java.math.BigDecimal;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses and formats rates: 5/s, 300/m, 10/30s. */
public final class Rates {
    private static final int NANOS_PER_MILLI = 1_000_000;
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})/(\\S+)");

    private Rates() {}

    /**
     * Parses a rate, whose burst is its number.
     *
     * @throws IllegalArgumentException if it has another form or is out of range; the message continues a sentence that
     *     begins with the name of the value
     */
    public static Rate parse(String text) {
        Matcher matcher = FORM.matcher(text);
        if (!matcher.matches() || Integer.parseInt(matcher.group(1)) < 1) {
            throw wrong(text);
        }
        String period = matcher.group(2);
        try {
            Duration length = Durations.parse(Character.isDigit(period.charAt(0)) ? period : "1" + period);
            return Rate.of(Integer.parseInt(matcher.group(1)), length);
        } catch (IllegalArgumentException e) {
            throw wrong(text);
        }
    }

    private static IllegalArgumentException wrong(String text) {
        return new IllegalArgumentException(
                "must be a number of at least 1, a slash and a time (ms, s, m or h), such as 5/s, 300/m or 10/30s, was"
                        + " \"" + Printable.oneLine(text) + "\"");
    }

    /** Formats a rate for a message: 5 per 1 s, 10 per 30 s with a burst of 1. */
    public static String text(Rate rate) {
        String burst = rate.burst() == rate.count() ? "" : " with a burst of " + rate.burst();
        return rate.count() + " per " + text(rate.period()) + burst;
    }

    private static String text(Duration period) {
        return period.toNanosPart() % NANOS_PER_MILLI == 0
                ? Durations.text(period)
                : BigDecimal.valueOf(period.toNanos(), 6).stripTrailingZeros().toPlainString() + " ms";
    }
}
