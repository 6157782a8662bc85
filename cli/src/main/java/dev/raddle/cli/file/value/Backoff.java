package dev.raddle.cli.file.value;

import java.time.Duration;

/**
 * The pause before the next attempt: {@code first} after the first attempt, then twice as long each time, at most
 * {@code max}.
 */
public record Backoff(Duration first, Duration max) {
    public static final Backoff DEFAULT = new Backoff(Duration.ofMillis(200), Duration.ofSeconds(5));

    /**
     * Parses {@code 200ms..5s}, or a single duration for a constant pause.
     *
     * @throws IllegalArgumentException if the text has another form; the message continues a sentence that begins with
     *     the name of the value
     */
    public static Backoff parse(String text) {
        int dots = text.indexOf("..");
        if (dots < 0) {
            Duration same = Durations.parse(text);
            return new Backoff(same, same);
        }
        Duration first = Durations.parse(text.substring(0, dots));
        Duration max = Durations.parse(text.substring(dots + 2));
        if (first.compareTo(max) > 0) {
            throw new IllegalArgumentException("must not begin above its end, was \"" + text + "\"");
        }
        return new Backoff(first, max);
    }

    /** Returns the pause after attempt number {@code failed}, counted from 1. */
    public Duration after(int failed) {
        Duration wait = first;
        for (int i = 1; i < failed && wait.compareTo(max) < 0; i++) {
            wait = wait.multipliedBy(2);
            if (wait.isZero()) {
                break;
            }
        }
        return wait.compareTo(max) > 0 ? max : wait;
    }

    @Override
    public String toString() {
        String text = Durations.text(first);
        return first.equals(max) ? text : text + " to " + Durations.text(max);
    }
}
