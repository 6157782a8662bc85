package dev.raddle.cli.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The files of tasks that are made of lines: standard output and standard error apart.
 *
 * @param kept whether they stay when the run has ended
 */
public record WorkFiles(RunDirectory directory, boolean kept) implements AutoCloseable {

    /** Files that are gone when the run has ended. */
    public static WorkFiles temporary() throws IOException {
        return new WorkFiles(RunDirectory.create(Files.createTempDirectory("raddle-map-")), false);
    }

    public OutputFiles of(String id) {
        Path out = out(id);
        return new OutputFiles(out, err(id), false, kept ? RunDirectory.shown(out) : null);
    }

    public Path out(String id) {
        return directory.output(id + ".out");
    }

    public Path err(String id) {
        return directory.output(id + ".err");
    }

    @Override
    public void close() throws IOException {
        if (!kept) {
            try (Stream<Path> files = Files.walk(directory.path())) {
                List<Path> deepestFirst =
                        files.sorted(Comparator.reverseOrder()).toList();
                for (Path file : deepestFirst) {
                    Files.deleteIfExists(file);
                }
            } catch (UncheckedIOException e) {
                throw e.getCause();
            }
        }
    }
}
