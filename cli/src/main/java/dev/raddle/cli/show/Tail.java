package dev.raddle.cli.show;

import dev.raddle.cli.file.Printable;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import org.jline.utils.AttributedString;
import org.jspecify.annotations.Nullable;

/** The last lines of what a command printed, printable and not too long. */
final class Tail {
    private static final int BYTES = 8192;
    private static final int LONGEST_LINE = 200;

    private Tail() {}

    /** At most so many lines, each cut after 200 characters, the last of the file last; none if there is no such file. */
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
            return List.of(); // the file is only shown for convenience; the result does not depend on it
        }
    }

    private static List<String> last(String text, int lines) {
        List<String> all = AttributedString.stripAnsi(text)
                .lines()
                .map(line -> Words.shortened(Printable.oneLine(line.stripTrailing()), LONGEST_LINE))
                .filter(line -> !line.isEmpty())
                .toList();
        return all.subList(Math.max(0, all.size() - lines), all.size());
    }
}
