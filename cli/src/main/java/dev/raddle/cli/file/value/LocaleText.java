package dev.raddle.cli.file.value;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

/**
 * Checks text that is passed to processes. Java encodes arguments and variables in the character set of the locale, and
 * silently replaces a character that it lacks by a question mark; a command must not run with such an argument.
 */
public final class LocaleText {
    /** The character set in which Java passes text. */
    public static final Charset CHARSET =
            Charset.forName(System.getProperty("sun.jnu.encoding", ""), Charset.defaultCharset());

    private LocaleText() {}

    /** Returns whether an argument of this process has bytes that Java could not decode, and so has lost. */
    public static boolean isDamaged(String argument) {
        return !CHARSET.equals(StandardCharsets.UTF_8) && argument.indexOf('\uFFFD') >= 0;
    }

    /**
     * Checks texts that are passed to a process.
     *
     * @throws IOException if one cannot be encoded
     */
    public static void check(List<String> texts, Charset charset) throws IOException {
        CharsetEncoder encoder = charset.newEncoder();
        for (String text : texts) {
            if (!charset.equals(StandardCharsets.UTF_8) && !encoder.canEncode(text)) {
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
