package dev.raddle.cli;

import dev.raddle.cli.file.Printable;
import dev.raddle.cli.file.Row;
import dev.raddle.cli.file.Template;
import dev.raddle.cli.file.UnfitRowException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.regex.PatternSyntaxException;
import org.jspecify.annotations.Nullable;

/** Tells the group of a line. */
@FunctionalInterface
interface GroupBy {

    /** The group of a line of which the row was made. */
    String group(Row row, String line) throws UnfitRowException;

    /**
     * Reads what the user wrote: nothing, a regular expression between slashes, or a text with placeholders.
     *
     * @throws IllegalArgumentException if it is neither
     */
    static GroupBy parse(@Nullable String text) {
        if (text == null) {
            return (row, line) -> "all";
        }
        if (text.length() > 2 && text.startsWith("/") && text.endsWith("/")) {
            return byPattern(text.substring(1, text.length() - 1));
        }
        return CommandLines.named("--group-by", () -> {
            Template template = Template.parse(text, true);
            CommandLines.check(template.names());
            return (row, line) -> template.fill(row);
        });
    }

    private static GroupBy byPattern(String expression) {
        Pattern pattern;
        try {
            pattern = Pattern.compile(expression);
        } catch (PatternSyntaxException e) {
            throw new IllegalArgumentException(
                    "--group-by must be a regular expression between the slashes, \"" + expression + "\" is none: "
                            + e.getDescription() + " near index " + e.getIndex(),
                    e);
        }
        return (row, line) -> {
            Matcher matcher = pattern.matcher(line);
            if (!matcher.find()) {
                throw new UnfitRowException(
                        "--group-by /" + expression + "/ must match, was \"" + Printable.oneLine(line) + "\"");
            }
            String group = matcher.groupCount() > 0 ? matcher.group(1) : matcher.group();
            return group == null ? "" : group;
        };
    }
}
