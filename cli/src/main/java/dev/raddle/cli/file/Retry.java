package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Backoff;

/** The maximum number of attempts of a task, and the pauses between them. */
public record Retry(int attempts, Backoff backoff) {
    public static final Retry NONE = new Retry(1, Backoff.DEFAULT);
}
