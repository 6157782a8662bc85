package dev.raddle.cli.show;

import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.TaskResult;
import java.io.BufferedOutputStream;
import java.io.File;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Adds the output of tasks to another display: that of a task as a whole after its end, and at the end of the run that
 * of the first failure once more; or each line as it comes, after the id of the task. Reads it from the logs of the
 * tasks.
 */
final class OutputDisplay implements RunListener {
    private static final int CHUNK = 1 << 16;

    private final RunListener display;
    private final Screen screen;
    private final OutputMode mode;
    private final boolean onlyFailures;
    private final GitHubActions github;
    private final Map<String, Log> logs = new HashMap<>();
    private final Set<Log> followed = new LinkedHashSet<>(); // of running tasks, whose lines are printed as they come
    private @Nullable TaskResult firstFailure; // of tasks whose output is printed as a whole
    private boolean repeats; // whether something was printed since

    /** The log of a task. What an earlier run has written into it is not printed. */
    private static final class Log {
        private final File file;
        private final byte[] tag;
        private final long start;
        private long printed; // up to this position

        Log(Path path, byte[] tag) {
            this.file = path.toFile();
            this.tag = tag;
            this.start = file.length(); // 0 if it does not exist
            this.printed = start;
        }

        boolean hasMore() {
            return file.length() > printed;
        }
    }

    /**
     * Creates a display before the run begins.
     *
     * @param display the display of everything else
     * @param files the logs of the tasks by id
     */
    OutputDisplay(
            RunListener display,
            Screen screen,
            OutputMode mode,
            boolean onlyFailures,
            Map<String, Path> files,
            GitHubActions github) {
        this.display = display;
        this.screen = screen;
        this.mode = mode;
        this.onlyFailures = onlyFailures;
        this.github = github;
        files.forEach((id, file) -> {
            String tag = mode == OutputMode.PREFIX ? Printable.oneLine(id) + " | " : "";
            logs.put(id, new Log(file, screen.console().encoded(tag)));
        });
    }

    private Log log(String id) {
        return Objects.requireNonNull(logs.get(id), id);
    }

    @Override
    public void on(RunEvent event) throws IOException {
        switch (event) {
            case RunEvent.RunStarted started -> github.begin(started.name());
            case RunEvent.AttemptStarted started
            when mode == OutputMode.PREFIX && !onlyFailures -> followed.add(log(started.id()));
            case RunEvent.TaskEnded ended
            when mode == OutputMode.PREFIX && isShown(ended) -> {
                print(log(ended.result().id()), true);
                followed.remove(log(ended.result().id()));
            }
            case RunEvent.RunEnded ended -> repeatFirstFailure();
            default -> {}
        }
        display.on(event);
        switch (event) {
            case RunEvent.TaskEnded ended -> ended(ended);
            case RunEvent.TaskUndone undone when mode != OutputMode.FILES -> print(log(undone.id()), true);
            case RunEvent.RunEnded ended -> github.end(ended);
            default -> {}
        }
    }

    private boolean isShown(RunEvent.TaskEnded event) {
        return !onlyFailures || EventText.isFailure(event);
    }

    private void ended(RunEvent.TaskEnded event) throws IOException {
        TaskResult result = event.result();
        boolean failed = EventText.isFailure(event);
        if (mode == OutputMode.GROUP && isShown(event)) {
            if (log(result.id()).hasMore()) {
                github.beginGroup(result.id());
                print(log(result.id()), true);
                github.endGroup();
            }
            repeats = firstFailure != null;
            firstFailure = failed && firstFailure == null ? result : firstFailure;
        }
        if (failed) {
            github.failed(result);
        }
    }

    private void repeatFirstFailure() throws IOException {
        TaskResult result = firstFailure;
        if (result != null && repeats) {
            screen.print(List.of(EventText.ended(result)));
            Log log = log(result.id());
            log.printed = log.start;
            print(log, true);
        }
    }

    @Override
    public void tick() throws IOException {
        for (Log log : followed) {
            print(log, false);
        }
        display.tick();
    }

    /**
     * Prints what has been written since.
     *
     * @param all whether to print the last line although it may be incomplete
     */
    private void print(Log log, boolean all) throws IOException {
        if (!log.hasMore()) {
            return;
        }
        try (RandomAccessFile input = new RandomAccessFile(log.file, "r")) {
            screen.writeAside(() -> {
                Lines out = new Lines(new BufferedOutputStream(screen.console().stream()), log.tag);
                byte[] chunk = new byte[CHUNK];
                for (int n = next(input, log, all, chunk); n > 0; n = next(input, log, all, chunk)) {
                    out.write(chunk, 0, n);
                    log.printed += n;
                }
                out.end();
                out.flush();
            });
        } catch (FileNotFoundException e) {
            // a command has removed it
        }
    }

    /** Reads up to the end of a line; less than a line only if that is very long, or the last. */
    private static int next(RandomAccessFile input, Log log, boolean all, byte[] chunk) throws IOException {
        input.seek(log.printed);
        int read = input.read(chunk);
        int complete = read;
        while (!all && complete > 0 && chunk[complete - 1] != '\n') {
            complete--;
        }
        return complete == 0 && read == CHUNK ? read : complete;
    }
}
