package dev.raddle.cli.show;

import dev.raddle.cli.run.RunListener;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Creates the display of a run. */
public final class Displays {
    private Displays() {}

    /** Creates a display of failures; on a terminal live with the progress, unless it is quiet. */
    public static RunListener of(Screen screen, boolean quiet) {
        return screen.console().isTerminal() && !quiet
                ? new LiveDisplay(screen, System::nanoTime, true)
                : new LineDisplay(screen, true);
    }

    /** Creates a display of failures and the progress, which is live on a terminal and elsewhere a line a second. */
    public static List<RunListener> bar(Screen screen) {
        RunListener failures = of(screen, false);
        return screen.console().isTerminal()
                ? List.of(failures)
                : List.of(failures, new TotalDisplay(screen, System::nanoTime));
    }

    /**
     * Creates a display of everything that also prints what tasks print.
     *
     * @param output how much of it is printed; null for none on a terminal, and elsewhere that of each task as a whole
     * @param logs the logs of the tasks by id
     */
    public static RunListener withOutput(
            Screen screen,
            boolean quiet,
            @Nullable OutputMode output,
            Map<String, Path> logs,
            Map<String, String> environment) {
        boolean terminal = screen.console().isTerminal();
        OutputMode mode = output == null ? terminal ? OutputMode.FILES : OutputMode.GROUP : output;
        RunListener display = terminal && !quiet
                ? new LiveDisplay(screen, System::nanoTime, mode == OutputMode.FILES)
                : new LineDisplay(screen, quiet);
        GitHubActions github = new GitHubActions(screen.console(), environment);
        return new OutputDisplay(display, screen, mode, quiet, logs, github);
    }

    /** Creates a display for programs. */
    public static RunListener json(Console console) {
        return new JsonDisplay(console.stream());
    }
}
