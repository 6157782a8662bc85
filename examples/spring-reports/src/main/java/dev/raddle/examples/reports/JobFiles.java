package dev.raddle.examples.reports;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.stereotype.Component;

/** Two files of lines: what is done, and what is left to do. */
@Component
class JobFiles {

    private final Path done;
    private final Path left;

    JobFiles(@Value("${reports.directory}") Path directory) throws IOException {
        Files.createDirectories(directory);
        this.done = directory.resolve("done");
        this.left = directory.resolve("left");
    }

    void done(String report) {
        append(done, report);
    }

    void left(String tenant) {
        append(left, tenant);
    }

    private synchronized void append(Path file, String line) {
        try {
            Files.writeString(file, line + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the jobs that are left, and forgets them: the caller does them. */
    synchronized List<String> takeLeft() {
        try {
            List<String> lines = Files.exists(left) ? Files.readAllLines(left) : List.of();
            Files.deleteIfExists(left);
            return lines;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
