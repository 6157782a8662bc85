package dev.raddle.cli.show;

import dev.raddle.cli.run.RunListener;

/** Chooses how a run is shown. */
public final class Displays {
    private Displays() {}

    /** How much to say. */
    public enum Loudness {
        /** Every event: live on a terminal, a line each elsewhere. */
        NORMAL,
        /** Live on a terminal, only what went wrong elsewhere. */
        RESERVED,
        /** Only what went wrong. */
        QUIET
    }

    /** For people. */
    public static RunListener of(Screen screen, Loudness loudness) {
        if (loudness != Loudness.QUIET && screen.console().isTerminal()) {
            return new LiveDisplay(screen, System::nanoTime);
        }
        return new LineDisplay(screen, loudness != Loudness.NORMAL);
    }

    /** For programs. */
    public static RunListener json(Console console) {
        return new JsonDisplay(console.stream());
    }
}
