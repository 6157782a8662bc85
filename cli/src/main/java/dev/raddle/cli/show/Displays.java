package dev.raddle.cli.show;

import dev.raddle.cli.run.RunListener;
import java.util.List;

/** Creates the display of a run. */
public final class Displays {
    private Displays() {}

    /** How much is shown. */
    public enum Verbosity {
        /** Every event: live on a terminal, as lines elsewhere. */
        NORMAL,
        /** Live on a terminal, only failures elsewhere. */
        RESERVED,
        /** Only failures. */
        QUIET
    }

    /** Creates a display for people. */
    public static RunListener of(Screen screen, Verbosity verbosity) {
        if (verbosity != Verbosity.QUIET && screen.console().isTerminal()) {
            return new LiveDisplay(screen, System::nanoTime);
        }
        return new LineDisplay(screen, verbosity != Verbosity.NORMAL);
    }

    /** Creates a display of failures and the progress, which is live on a terminal and elsewhere a line a second. */
    public static List<RunListener> bar(Screen screen) {
        return screen.console().isTerminal()
                ? List.of(of(screen, Verbosity.NORMAL))
                : List.of(of(screen, Verbosity.QUIET), new TotalDisplay(screen, System::nanoTime));
    }

    /** Creates a display for programs. */
    public static RunListener json(Console console) {
        return new JsonDisplay(console.stream());
    }
}
