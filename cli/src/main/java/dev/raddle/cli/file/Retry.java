package dev.raddle.cli.file;

/** How often a task is tried in all, and how long it waits in between. */
public record Retry(int attempts, Backoff backoff) {
    public static final Retry NONE = new Retry(1, Backoff.USUAL);
}
