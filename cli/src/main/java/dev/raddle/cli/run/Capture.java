package dev.raddle.cli.run;

import dev.raddle.cli.file.value.LocaleText;
import java.io.IOException;
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
        OutputFiles.write(file, LocaleText.bytes(masked, ProcessStarter.charset()));
        original = masked.equals(text) ? null : LocaleText.bytes(text, ProcessStarter.charset());
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

    /** Returns what is kept, to be shown. */
    String kept() throws IOException {
        return new String(Files.readAllBytes(file), ProcessStarter.charset());
    }

    /** Returns the original, with every byte, to be passed on. */
    String text() throws IOException {
        byte[] inMemory = original;
        return LocaleText.text(inMemory == null ? Files.readAllBytes(file) : inMemory, ProcessStarter.charset());
    }
}
