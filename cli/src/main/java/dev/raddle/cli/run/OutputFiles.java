package dev.raddle.cli.run;

import java.io.IOException;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The files for the output of a task's command.
 *
 * @param out the file for standard output
 * @param err the file for standard error, or null if it also goes to {@code out}
 * @param keepsAttempts whether an attempt appends to the output of earlier ones, after a separator line; otherwise only
 *     the output of the last attempt remains
 * @param name the name in results, or null if the file is deleted afterwards
 * @param capture the last attempt's standard output alone, for other tasks; null if none reads it. It is appended to
 *     {@code out} when the attempt has ended
 */
public record OutputFiles(
        Path out,
        @Nullable Path err,
        boolean keepsAttempts,
        @Nullable String name,
        @Nullable Capture capture) {

    private static final Set<OpenOption> CREATE =
            Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS);

    private static final Set<OpenOption> APPEND =
            Set.of(StandardOpenOption.APPEND, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS);

    /** Opens an output for writing, but not if it or its directory is a symbolic link. */
    static SeekableByteChannel open(Path path, boolean append) throws IOException {
        checkNoLink(path);
        checkDirectory(path);
        return Files.newByteChannel(path, append ? APPEND : CREATE);
    }

    /** Replaces the content of an output, under the same rule. */
    static void write(Path path, byte[] bytes) throws IOException {
        checkDirectory(path);
        RunDirectory.write(path, bytes);
    }

    /** Refuses a file whose directory is a symbolic link. */
    static void checkDirectory(Path path) throws IOException {
        Path directory = path.getParent();
        if (directory != null) {
            checkNoLink(directory);
        }
    }

    static void checkNoLink(Path path) throws IOException {
        if (Files.isSymbolicLink(path)) {
            throw new IOException(path + " is a symbolic link, which is not followed; remove it");
        }
    }

    /** Creates the files of a task whose standard output is not read by others. */
    public OutputFiles(Path out, @Nullable Path err, boolean keepsAttempts, @Nullable String name) {
        this(out, err, keepsAttempts, name, null);
    }
}
