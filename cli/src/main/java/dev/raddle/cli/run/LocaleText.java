package dev.raddle.cli.run;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Checks text that is passed to processes. Java encodes arguments and variables in the character set of the locale, and
 * silently replaces a character that it lacks by a question mark; a command must not run with such an argument.
 */
final class LocaleText {
    static final Charset CHARSET = charset(System.getProperty("sun.jnu.encoding"));

    private LocaleText() {}

    private static Charset charset(@Nullable String name) {
        return name != null && Charset.isSupported(name) ? Charset.forName(name) : Charset.defaultCharset();
    }

    static void check(List<String> words, Map<String, String> variables) throws IOException {
        check(words, variables, CHARSET);
    }

    static void check(List<String> words, Map<String, String> variables, Charset charset) throws IOException {
        if (charset.equals(StandardCharsets.UTF_8)) {
            return;
        }
        CharsetEncoder encoder = charset.newEncoder();
        for (String word : words) {
            check(word, encoder);
        }
        for (String value : variables.values()) {
            check(value, encoder);
        }
    }

    /** Adds an optional variable if it can be encoded. */
    static void putIfExpressible(Map<String, String> variables, String name, String value) {
        if (CHARSET.newEncoder().canEncode(value)) {
            variables.put(name, value);
        }
    }

    private static void check(String text, CharsetEncoder encoder) throws IOException {
        if (!encoder.canEncode(text)) {
            throw new IOException("the locale's character set, " + encoder.charset() + ", cannot encode \"" + text
                    + "\"; set LC_ALL=C.UTF-8");
        }
    }
}
