package dev.raddle.cli.run;

import dev.raddle.time.UserCode;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;

/**
 * Writes a file atomically: a reader sees the old or the new content, never a part of it, and a failure leaves no
 * temporary file behind.
 */
public final class WholeFile {
    private WholeFile() {}

    /** The content of a file. */
    @FunctionalInterface
    public interface Content {
        void writeTo(BufferedWriter writer) throws IOException;
    }

    /**
     * Writes or replaces a file that the user named. What is there and is no regular file, such as a pipe, a device or
     * a link, stays, and is written into: {@code /dev/stdout} must not become a file.
     */
    public static void writeNamed(Path file, Content content) throws IOException {
        if (!Files.exists(file, LinkOption.NOFOLLOW_LINKS) || Files.isRegularFile(file, LinkOption.NOFOLLOW_LINKS)) {
            write(file, content);
            return;
        }
        try (BufferedWriter writer = Files.newBufferedWriter(file)) {
            content.writeTo(writer);
        }
    }

    /**
     * Writes or replaces a file.
     *
     * @throws IOException if it cannot be written; an existing file is then unchanged
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
                UserCode.addSuppressed(e, again);
            }
            throw e;
        }
    }
}
