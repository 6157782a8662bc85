package dev.raddle.cli.run;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * The output files of tasks that are created from lines, with separate files for standard output and standard error.
 *
 * @param kept whether the files are kept when the run has ended
 */
public record WorkFiles(RunDirectory directory, boolean kept) implements AutoCloseable {

    /** Creates files that are deleted when the run has ended. */
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
