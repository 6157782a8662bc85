package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.TaskTimeoutException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.ClosedByInterruptException;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Starts the process of one attempt and waits for its end. Thread-safe. */
final class Launcher {
    /** The message of the JDK when a program cannot be started: the error number and its text. */
    private static final Pattern REASON = Pattern.compile("error[:=] ?(\\d+)[ ,(]+([^)]+)");

    /** The attempt number of an undo command. */
    private static final int UNDO = 0;

    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final ProcessStarter starter;
    private final boolean recordsProcesses;

    Launcher(EventLoop events, Stop stop, InstantSource clock, ProcessStarter starter, boolean recordsProcesses) {
        this.starter = starter;
        this.recordsProcesses = recordsProcesses;
        this.events = events;
        this.stop = stop;
        this.clock = clock;
    }

    /** Runs one attempt to its end; an interrupt of this thread ends the process and all its descendants. */
    AttemptEnd attempt(PlannedTask task, int attempt, OutputFiles output) {
        try (MaskedOutputs targets = starter.outputs()) {
            return attempt(task, attempt, output, targets);
        }
    }

    private AttemptEnd attempt(PlannedTask task, int attempt, OutputFiles output, MaskedOutputs targets) {
        ChildProcess child;
        try {
            child = start(task, attempt, output, targets);
        } catch (ClosedByInterruptException e) {
            return new AttemptEnd.Stopped(null);
        } catch (IOException | OutOfMemoryError e) { // the JDK's exception if no thread can be started
            return new AttemptEnd.NotStarted(cannotStart(task, e));
        }
        ProcessTree tree = ProcessTree.of(child);
        stop.register(tree);
        try {
            events.post(new RunEvent.AttemptStarted(
                    clock.instant(),
                    task.id(),
                    task.group(),
                    attempt,
                    task.retry().attempts(),
                    child.pid(),
                    recordsProcesses ? startInstant(child) : null,
                    child.token()));
            AttemptEnd end = await(child, tree, task);
            targets.await();
            addCapture(output);
            return end;
        } catch (IOException e) {
            return new AttemptEnd.NotStarted("its output cannot be kept: " + e.getMessage());
        } catch (OutOfMemoryError e) {
            tree.terminate(stop.grace());
            return new AttemptEnd.NotStarted("it was ended: " + Failure.text(e));
        } finally {
            stop.unregister(tree, child);
        }
    }

    private static @Nullable Instant startInstant(ChildProcess child) {
        return ProcessHandle.of(child.pid())
                .flatMap(handle -> handle.info().startInstant())
                .orElse(null);
    }

    private static void addCapture(OutputFiles output) throws IOException {
        Capture capture = output.capture();
        if (capture != null && Files.size(capture.file()) > 0) {
            try (OutputStream log = Channels.newOutputStream(OutputFiles.open(output.out(), true));
                    InputStream printed = Files.newInputStream(capture.file(), LinkOption.NOFOLLOW_LINKS)) {
                printed.transferTo(log);
            }
        }
    }

    /**
     * Runs a task's undo command. A failure that ends the run does not end this command, because undoing is part of
     * that end; a later stop, or a second signal, does.
     */
    AttemptEnd undo(PlannedTask task, OutputFiles output) {
        try (MaskedOutputs targets = starter.outputs()) {
            return undo(task, output, targets);
        }
    }

    private AttemptEnd undo(PlannedTask task, OutputFiles output, MaskedOutputs targets) {
        ChildProcess child;
        try {
            child = start(task, UNDO, output, targets);
        } catch (IOException | OutOfMemoryError e) {
            return new AttemptEnd.NotStarted(cannotStart(task, e));
        }
        ProcessTree tree = ProcessTree.of(child);
        stop.registerLast(tree);
        try {
            ChildProcess.Exit exit = child.awaitExit();
            targets.await();
            return new AttemptEnd.Exited(exit);
        } catch (InterruptedException e) {
            tree.terminate(stop.grace());
            return new AttemptEnd.Stopped(child.exit().join());
        } catch (IOException e) {
            return new AttemptEnd.NotStarted("its output cannot be kept: " + e.getMessage());
        } finally {
            stop.unregister(tree, child);
        }
    }

    private AttemptEnd await(ChildProcess child, ProcessTree tree, PlannedTask task) {
        try {
            ChildProcess.Exit exit = exit(child, task);
            if (exit == null) {
                tree.terminate(stop.grace());
                Usage usage = child.awaitExit().usage();
                return new AttemptEnd.TimedOut(Objects.requireNonNull(task.timeout()), usage);
            }
            // A command that was terminated did not complete its work, even if its exit code reports success.
            boolean stopped = tree.isEnding();
            if (stop.isEnding()) {
                tree.terminate(stop.grace()); // the process itself has ended, but not all its descendants
            }
            return stopped ? new AttemptEnd.Stopped(exit) : new AttemptEnd.Exited(exit);
        } catch (InterruptedException e) {
            tree.terminate(stop.grace());
            return new AttemptEnd.Stopped(child.exit().join());
        }
    }

    /**
     * Waits for the end of the process, and returns null if the attempt's timeout passed first. The timeout of the file
     * applies to an attempt, that of a task to all attempts and the wait for a permit: so each attempt is a task of a
     * scope of its own.
     */
    private static ChildProcess.@Nullable Exit exit(ChildProcess child, PlannedTask task) throws InterruptedException {
        Duration timeout = task.timeout();
        if (timeout == null) {
            return child.awaitExit();
        }
        try (ThreadScope attempt = ThreadScope.open(task.id())) {
            return attempt.submit(task.id(), () -> child.awaitExit(), timeout).await();
        } catch (TaskTimeoutException e) {
            return null;
        }
    }

    private ChildProcess start(PlannedTask task, int attempt, OutputFiles output, MaskedOutputs targets)
            throws IOException {
        List<String> words = task.command().words();
        Map<String, String> variables = new HashMap<>(task.env());
        variables.putAll(task.command().values());
        LocaleText.putIfExpressible(variables, "RADDLE_TASK", task.id());
        LocaleText.putIfExpressible(variables, "RADDLE_GROUP", task.group());
        variables.put("RADDLE_ATTEMPT", Integer.toString(attempt));
        if (output.keepsAttempts()) {
            mark(output, attempt);
        }
        try {
            Posix.Target out;
            Posix.Target err;
            if (output.capture() != null) {
                out = targets.through(output.capture());
                err = targets.through(new Posix.Target(output.out(), true));
            } else {
                out = targets.through(new Posix.Target(output.out(), output.keepsAttempts()));
                err = output.err() == null ? null : targets.through(new Posix.Target(output.err(), false));
            }
            return starter.start(words, variables, task.dir(), out, err);
        } finally {
            targets.opened();
        }
    }

    /** Writes a separator line between the outputs of attempts, if there are any. */
    private void mark(OutputFiles output, int attempt) throws IOException {
        try (SeekableByteChannel log = OutputFiles.open(output.out(), true)) {
            if (log.size() > 0) {
                String what = attempt == UNDO ? "undo" : "attempt " + attempt;
                String line = "=== raddle: " + what + ", " + clock.instant() + " ===\n";
                Channels.newOutputStream(log).write(line.getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private String cannotStart(PlannedTask task, Throwable e) {
        String cannot = "cannot start \"" + shown(task.command().words().getFirst()) + "\": ";
        if (!Files.isDirectory(task.dir())) {
            return cannot + "its directory " + shown(task.dir().toString())
                    + (Files.exists(task.dir()) ? " is a file" : " does not exist");
        }
        Matcher reason = REASON.matcher(String.valueOf(e.getMessage()));
        if (!reason.find()) {
            return cannot + shown(Failure.text(e));
        }
        return cannot
                + switch (reason.group(1)) {
                    case "2" -> shown(Programs.missing(task.command().words().getFirst(), task.dir()));
                    case "11", "35" -> Failure.TOO_MANY; // on Linux, on macOS
                    default -> reason.group(2).toLowerCase(Locale.ROOT);
                };
    }

    /** Returns a text as it may be shown. Secrets are hidden first, because they have no control characters then. */
    private String shown(String text) {
        return Printable.oneLine(starter.masked(text));
    }
}
