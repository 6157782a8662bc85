package dev.raddle.group;

import java.util.Locale;

/** Writes lengths of time for messages. */
final class Durations {

    private Durations() {}

    /** Returns a length with three digits and a unit, such as {@code 24.3 ms}. */
    static String text(long nanos) {
        String[] units = {"ns", "µs", "ms", "s"};
        double value = nanos;
        int unit = 0;
        while (value >= 999.5 && unit < units.length - 1) {
            value /= 1_000;
            unit++;
        }
        int digits = unit == 0 || value >= 99.95 ? 0 : value >= 9.995 ? 1 : 2;
        return String.format(Locale.ROOT, "%." + digits + "f %s", value, units[unit]);
    }
}
