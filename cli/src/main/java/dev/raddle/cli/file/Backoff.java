package dev.raddle.cli.file;

import java.time.Duration;

/**
 * How long to wait before the next attempt: {@code first} after the first, then twice as long each time, never more
 * than {@code most}.
 */
public record Backoff(Duration first, Duration most) {
    public static final Backoff USUAL = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

    /**
     * Reads {@code 200ms..5s}, or one length of time that stays the same.
     *
     * @throws IllegalArgumentException if it has another form; the message continues a sentence that began with the
     *     name of the value
     */
    public static Backoff parse(String text) {
        int dots = text.indexOf("..");
        if (dots < 0) {
            Duration same = Durations.parse(text);
            return new Backoff(same, same);
        }
        Duration first = Durations.parse(text.substring(0, dots));
        Duration most = Durations.parse(text.substring(dots + 2));
        if (first.compareTo(most) > 0) {
            throw new IllegalArgumentException("must not begin above its end, was \"" + text + "\"");
        }
        return new Backoff(first, most);
    }

    /** The wait after attempt number {@code failed}, counted from 1. */
    public Duration after(int failed) {
        Duration wait = first;
        for (int i = 1; i < failed && wait.compareTo(most) < 0; i++) {
            wait = wait.multipliedBy(2);
            if (wait.isZero()) {
                break;
            }
        }
        return wait.compareTo(most) > 0 ? most : wait;
    }

    @Override
    public String toString() {
        String text = Durations.text(first);
        return first.equals(most) ? text : text + " to " + Durations.text(most);
    }
}
