package dev.raddle.cli;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.Printable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Determines the group of a line. */
@FunctionalInterface
interface GroupBy {

    /** Returns the group of a line, given also its row. */
    String group(Row row, String line) throws InvalidRowException;

    /**
     * Parses the value of {@code --group-by}: null, a regular expression between slashes, or a text with placeholders.
     *
     * @throws IllegalArgumentException if it is none of these
     */
    static GroupBy parse(@Nullable String text, Syntax syntax) {
        if (text == null) {
            return (row, line) -> "all";
        }
        if (text.length() > 2 && text.startsWith("/") && text.endsWith("/")) {
            return byPattern(text.substring(1, text.length() - 1));
        }
        Template template = Template.parse(text, syntax);
        return (row, line) -> template.fill(row);
    }

    private static GroupBy byPattern(String expression) {
        Pattern pattern = pattern(expression);
        return (row, line) -> {
            Matcher matcher = pattern.matcher(line);
            if (!matcher.find()) {
                throw new InvalidRowException(
                        "--group-by /" + expression + "/ must match, was \"" + Printable.oneLine(line) + "\"");
            }
            String group = matcher.groupCount() > 0 ? matcher.group(1) : matcher.group();
            return group == null ? "" : group;
        };
    }

    /**
     * Returns the pattern of a regular expression.
     *
     * @throws IllegalArgumentException if it is invalid
     */
    static Pattern pattern(String expression) {
        try {
            return Pattern.compile(expression);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "must be a regular expression, \"" + expression + "\" is not valid: " + e.getDescription()
                            + " near index " + e.getIndex(),
                    e);
        }
    }
}
