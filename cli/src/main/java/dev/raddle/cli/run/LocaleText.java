package dev.raddle.cli.run;

import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.charset.CharsetEncoder;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Guards what is handed to processes. Java writes arguments and variables in the character set of the locale, and where
 * that lacks a character it writes a question mark without a word; a command must not be run with such an argument.
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

    /** Adds a variable that a command can do without. */
    static void putIfExpressible(Map<String, String> variables, String name, String value) {
        if (CHARSET.newEncoder().canEncode(value)) {
            variables.put(name, value);
        }
    }

    private static void check(String text, CharsetEncoder encoder) throws IOException {
        if (!encoder.canEncode(text)) {
            throw new IOException("the locale's character set, " + encoder.charset() + ", cannot express \"" + text
                    + "\"; set LC_ALL=C.UTF-8");
        }
    }
}
