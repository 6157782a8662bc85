package dev.raddle.cli.run;

import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Location;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines from a stream as they arrive, or items that end with NUL. All other bytes are data. Empty lines are
 * skipped; an empty item is an item. For one thread.
 */
public final class LineInput {
    private final InputStream input;
    private final String name;
    private final char end;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int number;

    /**
     * Creates a reader of a stream, which should be buffered.
     *
     * @param name the name of the stream in messages
     * @param end the end of each item, a line feed or NUL
     */
    public LineInput(InputStream input, String name, char end) {
        this.input = input;
        this.name = name;
        this.end = end;
    }

    /** A line or an item, with its bytes as {@linkplain LocaleText#text text}. */
    public record Line(Location at, String text) {}

    /**
     * Returns the next line that is not empty, or the next item; null at the end.
     *
     * @throws IOException if the stream cannot be read; the message names it
     */
    public @Nullable Line next() throws IOException {
        while (true) {
            bytes.reset();
            int b = read();
            if (b < 0) {
                return null;
            }
            while (b >= 0 && b != end) {
                bytes.write(b);
                b = read();
            }
            number++;
            String text = LocaleText.text(bytes.toByteArray(), ProcessStarter.charset());
            if (end == '\0' || !text.isEmpty()) {
                return new Line(new Location(name, number, 1), text);
            }
        }
    }

    private int read() throws IOException {
        try {
            return input.read();
        } catch (IOException e) {
            throw new IOException(name + " cannot be read: " + Failure.text(e), e);
        }
    }
}
