package dev.raddle.cli.show;

import dev.raddle.cli.file.value.Printable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jspecify.annotations.Nullable;

/** Reads the last lines of a command's output, printable and limited in length. */
final class Tail {
    private static final int BYTES = 8192;
    private static final int MAX_LINE = 200;

    private Tail() {}

    /**
     * Returns at most {@code lines} lines in the order of the file, each cut after 200 characters; none if there is no
     * file.
     */
    static List<String> of(@Nullable String file, int lines) {
        if (file == null) {
            return List.of();
        }
        try (FileChannel channel = FileChannel.open(Path.of(file))) {
            ByteBuffer bytes = ByteBuffer.allocate((int) Math.min(BYTES, channel.size()));
            channel.position(Math.max(0, channel.size() - BYTES));
            while (bytes.hasRemaining() && channel.read(bytes) >= 0) {
                // until the end
            }
            return last(StandardCharsets.UTF_8.decode(bytes.flip()).toString(), lines);
        } catch (IOException e) {
            return List.of(); // the output is optional here; the result does not depend on it
        }
    }

    private static List<String> last(String text, int lines) {
        List<String> all = AttributedString.stripAnsi(text)
                .lines()
                .map(line -> TextFormat.shortened(Printable.oneLine(line.stripTrailing()), MAX_LINE))
                .filter(line -> !line.isEmpty())
                .toList();
        return all.subList(Math.max(0, all.size() - lines), all.size());
    }
}
