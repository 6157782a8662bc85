package dev.raddle.cli.file.template;

import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Quotes words so that a POSIX shell reads them back unchanged. Only for showing commands: the result is not executed.
 */
final class ShellQuote {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@%+=:,./-]+");

    private ShellQuote() {}

    static String word(String word) {
        return PLAIN.matcher(word).matches() ? word : "'" + insideSingle(word) + "'";
    }

    static String words(List<String> words) {
        return words.stream().map(ShellQuote::word).collect(Collectors.joining(" "));
    }

    static String insideSingle(String text) {
        return text.replace("'", "'\\''");
    }

    static String insideDouble(String text) {
        return text.replaceAll("[\\\\\"$`]", "\\\\$0");
    }
}
