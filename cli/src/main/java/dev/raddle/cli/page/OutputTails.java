package dev.raddle.cli.page;

import dev.raddle.cli.run.TaskResult;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Reads the ends of task outputs until a total size is reached that keeps the page small. For one thread. */
final class OutputTails {
    private static final int TOTAL_BYTES = 4 << 20;
    private static final int BYTES = 2 << 10;
    private static final int FAILURE_BYTES = 16 << 10;
    private static final Pattern ESCAPES =
            Pattern.compile("\u001b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\u0007]*\u0007|[@-Z\\\\^_])");

    private int remaining = TOTAL_BYTES;

    /** Returns the text, after a line about what is left out before it; null if there is nothing to show. */
    @Nullable
    String of(TaskResult result) {
        String file = result.output();
        int limit = Math.min(remaining, result.succeeded() ? BYTES : FAILURE_BYTES);
        if (file == null || limit <= 0) {
            return null;
        }
        try (FileChannel channel = FileChannel.open(Path.of(file))) {
            long size = channel.size();
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(limit, size));
            channel.position(size - bytes.capacity());
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // until the end
            }
            remaining -= bytes.position();
            String text = StandardCharsets.UTF_8.decode(bytes.flip()).toString();
            long before = size - bytes.capacity();
            String cut = before == 0 ? "" : "(" + before + " bytes before this are in the run directory)\n";
            return text.isEmpty() ? null : cut + ESCAPES.matcher(text).replaceAll("");
        } catch (IOException e) {
            return null; // the output is optional here; the result does not depend on it
        }
    }
}
