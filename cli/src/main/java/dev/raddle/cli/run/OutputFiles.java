package dev.raddle.cli.run;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Where a task's command prints.
 *
 * @param out the standard output
 * @param err the standard error, or null if it goes to {@code out} too
 * @param keepsAttempts whether an attempt adds to what earlier ones printed, below a line that says so; otherwise only the
 *     last attempt's output remains
 * @param name what results say of it, or null if it is gone afterwards
 * @param capture where the last attempt's standard output is kept alone, for other tasks; null if none reads it. It is then
 *     added to {@code out} when the attempt has ended
 */
public record OutputFiles(
        Path out,
        @Nullable Path err,
        boolean keepsAttempts,
        @Nullable String name,
        @Nullable Path capture) {

    private static final Set<OpenOption> CREATE =
            Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS);

    private static final Set<OpenOption> APPEND =
            Set.of(StandardOpenOption.APPEND, StandardOpenOption.CREATE, LinkOption.NOFOLLOW_LINKS);

    /** Opens an output for writing, but never through a symbolic link in its place or in that of its directory. */
    static SeekableByteChannel open(Path path, boolean append) throws IOException {
        checkNoLink(path);
        Path directory = path.getParent();
        if (directory != null) {
            checkNoLink(directory);
        }
        return Files.newByteChannel(path, append ? APPEND : CREATE);
    }

    /** Replaces what an output contains, under the same rule. */
    static void write(Path path, String text) throws IOException {
        try (SeekableByteChannel file = open(path, false)) {
            file.truncate(0);
            ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
            while (bytes.hasRemaining()) {
                file.write(bytes);
            }
        }
    }

    private static void checkNoLink(Path path) throws IOException {
        if (Files.isSymbolicLink(path)) {
            throw new IOException(path + " is a symbolic link, through which nothing is written; remove it");
        }
    }

    /** Files of a task of whose standard output nobody makes further use. */
    public OutputFiles(Path out, @Nullable Path err, boolean keepsAttempts, @Nullable String name) {
        this(out, err, keepsAttempts, name, null);
    }
}
