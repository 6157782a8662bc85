package dev.raddle.cli.run;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Reads lines from a stream as they arrive. Only a line feed ends a line, with or without a preceding carriage return.
 * Empty and blank lines are skipped. For one thread.
 */
public final class LineInput {
    private final InputStream input;
    private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    private int line;

    /** Creates a reader of a stream, which should be buffered. */
    public LineInput(InputStream input) {
        this.input = input;
    }

    /**
     * A line.
     *
     * @param number the number of the line in the input, counted from 1
     * @param text the text of the line; bytes that are not UTF-8 are replaced by question marks
     * @param valid whether the line is valid UTF-8
     */
    public record Line(int number, String text, boolean valid) {}

    /** Returns the next line that is not blank, or null at the end. */
    public @Nullable Line next() throws IOException {
        while (true) {
            bytes.reset();
            int b = input.read();
            if (b < 0) {
                return null;
            }
            while (b >= 0 && b != '\n') {
                bytes.write(b);
                b = input.read();
            }
            line++;
            Line next = decoded(bytes.toByteArray());
            if (!next.text.isBlank()) {
                return next;
            }
        }
    }

    private Line decoded(byte[] raw) {
        int length = raw.length > 0 && raw[raw.length - 1] == '\r' ? raw.length - 1 : raw.length;
        try {
            ByteBuffer buffer = ByteBuffer.wrap(raw, 0, length);
            return new Line(
                    line, StandardCharsets.UTF_8.newDecoder().decode(buffer).toString(), true);
        } catch (CharacterCodingException e) {
            return new Line(line, new String(raw, 0, length, StandardCharsets.UTF_8), false);
        }
    }
}
