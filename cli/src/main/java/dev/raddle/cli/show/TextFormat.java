package dev.raddle.cli.show;

import dev.raddle.cli.run.Counts;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Formats numbers as text. */
final class TextFormat {
    private TextFormat() {}

    /** Formats a duration: 0.21 s, 12.3 s, 3 min 5 s, 2 h 3 min. */
    static String time(long millis) {
        if (millis < 10_000) {
            return String.format(Locale.ROOT, "%.2f s", millis / 1000.0);
        }
        if (millis < 60_000) {
            return String.format(Locale.ROOT, "%.1f s", millis / 1000.0);
        }
        return toSecond(millis);
    }

    /** Formats a duration to the second: 8 s, 3 min 5 s, 2 h 3 min. */
    static String toSecond(long millis) {
        long seconds = (millis + 500) / 1000;
        if (seconds < 60) {
            return seconds + " s";
        }
        long minutes = seconds / 60;
        return minutes < 60 ? minutes + " min " + seconds % 60 + " s" : minutes / 60 + " h " + minutes % 60 + " min";
    }

    /** Returns a text of at most {@code max} characters: a longer one is cut and ends with three dots. */
    static String shortened(String text, int max) {
        if (text.codePointCount(0, text.length()) <= max) {
            return text;
        }
        return text.substring(0, text.offsetByCodePoints(0, max - 3)) + "...";
    }

    static String count(long number, String one, String many) {
        return number == 1 ? "1 " + one : number + " " + many;
    }

    /** Formats counts: 10 succeeded, 1 failed, 1 timed out. */
    static String outcomes(Counts counts) {
        List<String> parts = new ArrayList<>();
        parts.add(counts.succeeded() + " succeeded");
        add(parts, counts.failed(), "failed");
        add(parts, counts.timedOut(), "timed out");
        add(parts, counts.rejected(), "rejected");
        add(parts, counts.cancelled(), "cancelled");
        add(parts, counts.skipped(), "skipped");
        return String.join(", ", parts);
    }

    private static void add(List<String> parts, long number, String what) {
        if (number > 0) {
            parts.add(number + " " + what);
        }
    }
}
