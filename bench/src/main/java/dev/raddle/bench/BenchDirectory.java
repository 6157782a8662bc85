package dev.raddle.bench;

import dev.raddle.processes.ProcessDirectory;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The directory of benchmarks that need a disk, {@code bench/target}. */
final class BenchDirectory {

    static final Path TARGET = Path.of("bench", "target").toAbsolutePath();

    private BenchDirectory() {}

    /**
     * Creates a directory in it.
     *
     * @throws IOException if it is kept in memory, where forcing to the disk does nothing
     */
    static ProcessDirectory create(String name) throws IOException {
        Files.createDirectories(TARGET);
        String type = Files.getFileStore(TARGET).type();
        if (type.equals("tmpfs") || type.equals("ramfs")) {
            throw new IOException(TARGET + " is in memory (" + type + "), and this benchmark needs a disk");
        }
        return ProcessDirectory.create(TARGET, name);
    }
}
