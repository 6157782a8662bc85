package dev.raddle.processes;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * A new directory for processes, and the log of all that they print. Closing it deletes it.
 *
 * @param path the directory
 */
public record ProcessDirectory(Path path) implements AutoCloseable {

    /** Creates a directory where the system has its temporary ones. */
    public static ProcessDirectory create(String name) {
        return create(Path.of(System.getProperty("java.io.tmpdir")), name);
    }

    public static ProcessDirectory create(Path parent, String name) {
        try {
            return new ProcessDirectory(Files.createTempDirectory(parent, name + "-"));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Starts a program that appends what it prints to the log, in a locale that every machine has. */
    public Process start(ProcessBuilder program) {
        program.environment().put("LC_ALL", "C");
        try {
            return program.redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(logFile().toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Runs a program to its end, which must be a success. */
    public void run(List<String> commandLine) {
        Process program = start(new ProcessBuilder(commandLine));
        Signals.awaitEnd(program);
        if (program.exitValue() != 0) {
            throw new IllegalStateException(commandLine + " has failed:\n" + log());
        }
    }

    public String log() {
        try {
            return Files.readString(logFile());
        } catch (IOException e) {
            return "no log: " + e;
        }
    }

    private Path logFile() {
        return path.resolve("log");
    }

    @Override
    public void close() {
        delete(path);
    }

    /** Deletes a directory with all that it contains. */
    static void delete(Path directory) {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
