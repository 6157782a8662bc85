package dev.raddle.cli.file.value;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.Charset;
import java.nio.charset.CharsetDecoder;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Text that is passed to processes. Java encodes arguments and variables in the character set of the locale, and
 * silently replaces a character that it lacks by a question mark; a command must not run with such an argument. A byte
 * that is no text in the character set is an unpaired surrogate, U+DC00 plus the byte, as in PEP 383, so that every
 * sequence of bytes can be passed unchanged.
 *
 * @see <a href="https://peps.python.org/pep-0383/">PEP 383</a>
 */
public final class LocaleText {
    /** The character set in which Java passes text. */
    public static final Charset CHARSET =
            Charset.forName(System.getProperty("sun.jnu.encoding", ""), Charset.defaultCharset());

    private static final char ESCAPE = 0xDC00;

    private LocaleText() {}

    /** Returns whether an argument of this process has bytes that Java could not decode, and so has lost. */
    public static boolean isDamaged(String argument) {
        return !CHARSET.equals(StandardCharsets.UTF_8) && argument.indexOf('\uFFFD') >= 0;
    }

    /** Returns the text of these bytes, from which {@link #bytes} returns them again. */
    public static String text(byte[] bytes, Charset charset) {
        CharsetDecoder decoder = charset.newDecoder();
        ByteBuffer input = ByteBuffer.wrap(bytes);
        CharBuffer text = CharBuffer.allocate((int) (bytes.length * (double) decoder.maxCharsPerByte()) + 1);
        while (decoder.decode(input, text, true).isError()) {
            text.put((char) (ESCAPE + Byte.toUnsignedInt(input.get())));
        }
        return text.flip().toString();
    }

    /** Returns the bytes of a text. */
    public static byte[] bytes(String text, Charset charset) {
        if (!hasBytes(text)) {
            return text.getBytes(charset);
        }
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        text.codePoints().forEach(c -> {
            if (isEscape(c)) {
                bytes.write(c - ESCAPE);
            } else {
                bytes.writeBytes(Character.toString(c).getBytes(charset));
            }
        });
        return bytes.toByteArray();
    }

    /** Returns whether a text has bytes that are no text, which Java does not pass. */
    public static boolean hasBytes(String text) {
        return text.codePoints().anyMatch(LocaleText::isEscape);
    }

    private static boolean isEscape(int c) {
        return c > ESCAPE + 0x7F && c <= ESCAPE + 0xFF;
    }

    /**
     * Checks texts that are passed to a process.
     *
     * @throws IOException if one cannot be encoded
     */
    public static void check(List<String> texts, Charset charset) throws IOException {
        CharsetEncoder encoder = charset.newEncoder();
        for (String text : texts) {
            if (!charset.equals(StandardCharsets.UTF_8)
                    && !text.codePoints().allMatch(c -> isEscape(c) || encoder.canEncode(Character.toString(c)))) {
                throw new IOException("the locale's character set, " + charset + ", cannot encode \"" + text
                        + "\"; set LC_ALL=C.UTF-8");
            }
        }
    }

    /** Adds an optional variable if it can be encoded. */
    public static void putIfExpressible(Map<String, String> variables, String name, String value) {
        if (CHARSET.newEncoder().canEncode(value)) {
            variables.put(name, value);
        }
    }
}
