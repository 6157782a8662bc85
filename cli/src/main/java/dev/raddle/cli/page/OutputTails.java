package dev.raddle.cli.page;

import dev.raddle.cli.run.TaskResult;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The ends of what tasks printed, until so much has been taken that the page would grow too large. For one thread. */
final class OutputTails {
    private static final int ALL_BYTES = 4 << 20;
    private static final int BYTES = 2 << 10;
    private static final int BYTES_OF_A_FAILURE = 16 << 10;
    private static final Pattern ESCAPES =
            Pattern.compile("\u001b(\\[[0-9;?]*[ -/]*[@-~]|\\][^\u0007]*\u0007|[@-Z\\\\^_])");

    private int left = ALL_BYTES;

    /** The text and how many bytes before it were left out; null if there is nothing to show. */
    @Nullable
    List<Object> of(TaskResult result) {
        String file = result.output();
        int most = Math.min(left, result.succeeded() ? BYTES : BYTES_OF_A_FAILURE);
        if (file == null || most <= 0) {
            return null;
        }
        try (FileChannel channel = FileChannel.open(Path.of(file))) {
            long size = channel.size();
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(most, size));
            channel.position(size - bytes.capacity());
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // until the end
            }
            left -= bytes.position();
            String text = StandardCharsets.UTF_8.decode(bytes.flip()).toString();
            return text.isEmpty() ? null : List.of(ESCAPES.matcher(text).replaceAll(""), size - bytes.capacity());
        } catch (IOException e) {
            return null; // the file is only shown for convenience; the result does not depend on it
        }
    }
}
