package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Printable;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.TaskTimeoutException;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.ClosedByInterruptException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Starts the process of one attempt and waits for its end. Safe for many threads. */
final class Launcher {
    private static final File NOTHING = new File("/dev/null");
    /** What the JDK says when a program cannot be started: the number of the error, and its text. */
    private static final Pattern REASON = Pattern.compile("error[:=] ?(\\d+)[ ,(]+([^)]+)");

    /** The number of an attempt that takes a task back. */
    private static final int UNDO = 0;

    private static final String NO_SUCH_FILE = "2";

    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;

    Launcher(EventLoop events, Stop stop, InstantSource clock) {
        this.events = events;
        this.stop = stop;
        this.clock = clock;
    }

    /** Runs one attempt to its end; an interrupt of this thread ends the process with all that it started. */
    AttemptEnd attempt(PlannedTask task, int attempt, OutputFiles output) {
        Process process;
        try {
            process = start(task, attempt, output);
        } catch (ClosedByInterruptException e) {
            return new AttemptEnd.Stopped(null);
        } catch (IOException e) {
            return new AttemptEnd.NotStarted(cannotStart(task, e));
        }
        ProcessTree tree = new ProcessTree(process.toHandle());
        stop.enter(tree);
        try {
            events.post(new RunEvent.AttemptStarted(
                    clock.instant(),
                    task.id(),
                    task.group(),
                    attempt,
                    task.retry().attempts(),
                    process.pid(),
                    process.info().startInstant().orElse(null)));
            AttemptEnd end = await(process, tree, task);
            addCapture(output);
            return end;
        } catch (IOException e) {
            return new AttemptEnd.NotStarted("what it printed cannot be kept: " + e.getMessage());
        } finally {
            stop.leave(tree);
        }
    }

    private static void addCapture(OutputFiles output) throws IOException {
        Path capture = output.capture();
        if (capture != null && Files.size(capture) > 0) {
            try (OutputStream log =
                    Files.newOutputStream(output.out(), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
                Files.copy(capture, log);
            }
        }
    }

    /**
     * Runs a command that takes a task back. It is not ended with a run that a failure ends, because it belongs to that end; a
     * later stop, or a second signal, does end it.
     */
    AttemptEnd undo(PlannedTask task, OutputFiles output) {
        Process process;
        try {
            process = start(task, UNDO, output);
        } catch (IOException e) {
            return new AttemptEnd.NotStarted(cannotStart(task, e));
        }
        ProcessTree tree = new ProcessTree(process.toHandle());
        stop.enterLast(tree);
        try {
            return new AttemptEnd.Exited(process.waitFor());
        } catch (InterruptedException e) {
            tree.terminate(stop.grace());
            return new AttemptEnd.Stopped(process.onExit().join().exitValue());
        } finally {
            stop.leave(tree);
        }
    }

    private AttemptEnd await(Process process, ProcessTree tree, PlannedTask task) {
        try {
            Integer exitCode = exitCode(process, task);
            if (exitCode == null) {
                tree.terminate(stop.grace());
                process.waitFor();
                return new AttemptEnd.TimedOut(Objects.requireNonNull(task.timeout()));
            }
            // A command that was told to end did not do its work, even if it calls that a success.
            boolean stopped = tree.isEnding();
            if (stop.isEnding()) {
                tree.terminate(stop.grace()); // the process itself has ended, but not all that it started
            }
            return stopped ? new AttemptEnd.Stopped(exitCode) : new AttemptEnd.Exited(exitCode);
        } catch (InterruptedException e) {
            tree.terminate(stop.grace());
            return new AttemptEnd.Stopped(process.onExit().join().exitValue());
        }
    }

    /**
     * Waits for the end, and returns null if the attempt's time was over first. The file's timeout is that of an attempt, a
     * task's is that of all attempts and of waiting for a permit: so each attempt is a task of a scope of its own.
     */
    private static @Nullable Integer exitCode(Process process, PlannedTask task) throws InterruptedException {
        Duration timeout = task.timeout();
        if (timeout == null) {
            return process.waitFor();
        }
        try (ThreadScope attempt = ThreadScope.open(task.id())) {
            return attempt.submit(task.id(), () -> process.waitFor(), timeout).await();
        } catch (TaskTimeoutException late) {
            return null;
        }
    }

    private Process start(PlannedTask task, int attempt, OutputFiles output) throws IOException {
        List<String> words = new ArrayList<>(task.command().words());
        ProcessBuilder builder = new ProcessBuilder(words).directory(task.dir().toFile());
        Map<String, String> variables = new HashMap<>(task.env());
        variables.putAll(task.command().values());
        LocaleText.check(words, variables);
        LocaleText.putIfExpressible(variables, "RADDLE_TASK", task.id());
        LocaleText.putIfExpressible(variables, "RADDLE_GROUP", task.group());
        variables.put("RADDLE_ATTEMPT", Integer.toString(attempt));
        builder.environment().putAll(variables);
        builder.redirectInput(NOTHING);
        if (output.capture() != null) {
            mark(output, attempt);
            builder.redirectOutput(output.capture().toFile());
            builder.redirectError(ProcessBuilder.Redirect.appendTo(output.out().toFile()));
            return builder.start();
        }
        if (output.keepsAttempts()) {
            mark(output, attempt);
            builder.redirectOutput(ProcessBuilder.Redirect.appendTo(output.out().toFile()));
        } else {
            builder.redirectOutput(output.out().toFile());
        }
        if (output.err() == null) {
            builder.redirectErrorStream(true);
        } else {
            builder.redirectError(output.err().toFile());
        }
        return builder.start();
    }

    /** Writes a line between what attempts print, if there is anything to part. */
    private void mark(OutputFiles output, int attempt) throws IOException {
        if (Files.exists(output.out()) && Files.size(output.out()) > 0) {
            String what = attempt == UNDO ? "undo" : "attempt " + attempt;
            String line = "=== raddle: " + what + ", " + clock.instant() + " ===\n";
            Files.writeString(output.out(), line, StandardCharsets.UTF_8, StandardOpenOption.APPEND);
        }
    }

    private static String cannotStart(PlannedTask task, IOException e) {
        String program = Printable.oneLine(task.command().words().getFirst());
        if (!Files.isDirectory(task.dir())) {
            return "cannot start \"" + program + "\": its directory "
                    + Printable.oneLine(task.dir().toString()) + " does not exist";
        }
        Matcher reason = REASON.matcher(String.valueOf(e.getMessage()));
        if (!reason.find()) {
            return "cannot start \"" + program + "\": " + Printable.oneLine(String.valueOf(e.getMessage()));
        }
        boolean missing = reason.group(1).equals(NO_SUCH_FILE);
        return "cannot start \"" + program + "\": "
                + (missing ? "there is no such program" : reason.group(2).toLowerCase(Locale.ROOT));
    }
}
