package dev.raddle.cli.run;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * The standard output of a task's last attempt, for other tasks. It is kept in a file, in which {@code ***} replaces
 * secrets; the original is then kept only in memory.
 */
final class Capture {
    private final Path file;
    private volatile byte @Nullable [] original; // null if the file has it

    Capture(Path file) {
        this.file = file;
    }

    Path file() {
        return file;
    }

    /** Sets the original, or null if it is in the file. */
    void setOriginal(byte @Nullable [] bytes) {
        original = bytes;
    }

    /** Replaces the output by a text. */
    void write(String text, String masked) throws IOException {
        OutputFiles.write(file, masked);
        original = masked.equals(text) ? null : text.getBytes(StandardCharsets.UTF_8);
    }

    /** Returns whether the file differs from the original. */
    boolean isMasked() {
        return original != null;
    }

    /** Returns the length of the original. */
    long size() throws IOException {
        byte[] inMemory = original;
        return inMemory == null ? Files.size(file) : inMemory.length;
    }

    /** Returns what is kept. */
    String kept() throws IOException {
        return new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
    }

    /** Returns the original. */
    String text() throws IOException {
        byte[] inMemory = original;
        return inMemory == null ? kept() : new String(inMemory, StandardCharsets.UTF_8);
    }
}
