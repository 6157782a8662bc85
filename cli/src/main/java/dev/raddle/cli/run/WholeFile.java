package dev.raddle.cli.run;

import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/** Writes a file as a whole: a reader sees the old one or the new one, never half of it, and a failure leaves nothing behind. */
public final class WholeFile {
    private WholeFile() {}

    /** What is written. */
    @FunctionalInterface
    public interface Content {
        void writeTo(BufferedWriter writer) throws IOException;
    }

    /**
     * Writes a file, or replaces it.
     *
     * @throws IOException if it cannot be written; then the old one, if there was one, is as it was
     */
    public static void write(Path file, Content content) throws IOException {
        Path absolute = file.toAbsolutePath();
        Path draft = absolute.resolveSibling(absolute.getFileName() + ".new");
        Files.deleteIfExists(draft);
        try {
            try (BufferedWriter writer =
                    Files.newBufferedWriter(draft, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                content.writeTo(writer);
            }
            Files.move(draft, absolute, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
        } catch (IOException | RuntimeException | Error e) {
            try {
                Files.deleteIfExists(draft);
            } catch (IOException again) {
                e.addSuppressed(again);
            }
            throw e;
        }
    }
}
