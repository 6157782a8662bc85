package dev.raddle.cli.file.value;

import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/** Reads text that must be UTF-8, with a byte order mark or without. */
public final class Utf8 {
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private Utf8() {}

    /** Returns the text, or null, and adds a problem, if it is not UTF-8. */
    public static @Nullable String decoded(String file, byte[] bytes, Problems problems) {
        ByteBuffer input = ByteBuffer.wrap(bytes);
        try {
            String text = StandardCharsets.UTF_8.newDecoder().decode(input).toString();
            return text.startsWith(BYTE_ORDER_MARK) ? text.substring(1) : text;
        } catch (CharacterCodingException e) {
            int line = 1;
            for (int i = 0; i < input.position(); i++) {
                line += bytes[i] == '\n' ? 1 : 0;
            }
            problems.add(new Location(file, line, 1), "the file must be UTF-8, this line is not");
            return null;
        }
    }
}
