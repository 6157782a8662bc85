package dev.raddle.bench;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A new directory on a disk, in {@code bench/target}, which is removed when it is closed. */
record BenchDirectory(Path path) implements AutoCloseable {

    static final Path TARGET = Path.of("bench", "target").toAbsolutePath();

    /**
     * Creates a directory.
     *
     * @throws IOException if it cannot be created, or is kept in memory, where forcing to the disk does nothing
     */
    static BenchDirectory create(String name) throws IOException {
        Files.createDirectories(TARGET);
        String type = Files.getFileStore(TARGET).type();
        if (type.equals("tmpfs") || type.equals("ramfs")) {
            throw new IOException(TARGET + " is in memory (" + type + "), and this benchmark needs a disk");
        }
        return new BenchDirectory(Files.createTempDirectory(TARGET, name + "-"));
    }

    @Override
    public void close() {
        try (Stream<Path> files = Files.walk(path)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
