package dev.raddle.cli;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.Command;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.ShellTemplate;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.LineInput;
import dev.raddle.cli.run.LineTasks;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Creates the tasks of {@code raddle map}. */
record CommandLines(
        CommandTemplate command,
        GroupBy groupBy,
        Path directory,
        @Nullable Duration timeout,
        Retry retry) implements LineTasks {
    private static final Set<String> KNOWN = Set.of("line", "n", "host", "line.host");
    private static final String NO_GROUP = "(none)";

    /**
     * Returns a command that is started without a shell.
     *
     * @throws IllegalArgumentException if a placeholder is invalid or unknown
     */
    static CommandTemplate words(List<String> words) {
        return named("the command", () -> {
            CommandTemplate template = template(words);
            if (!template.names().isEmpty()) {
                return template;
            }
            List<String> withLine = new ArrayList<>(words);
            withLine.add("{}");
            return template(withLine);
        });
    }

    private static CommandTemplate template(List<String> words) {
        CommandTemplate template = new CommandTemplate.Words(
                words.stream().map(word -> Template.parse(word, true)).toList());
        check(template.names());
        return template;
    }

    /**
     * Returns a command for a shell.
     *
     * @throws IllegalArgumentException if a placeholder is invalid, unknown, or at a location where it cannot be quoted
     */
    static CommandTemplate script(String script) {
        return named("the command", () -> {
            ShellTemplate template = ShellTemplate.parse(script, true);
            check(template.names());
            return new CommandTemplate.Script(
                    template.names().isEmpty() ? ShellTemplate.parse(script + " {}", true) : template);
        });
    }

    /** Prefixes an error message with the name of the value. */
    static <T> T named(String name, Supplier<T> reading) {
        try {
            return reading.get();
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(name + " " + e.getMessage(), e);
        }
    }

    static void check(Set<String> names) {
        for (String name : names) {
            if (!KNOWN.contains(name)) {
                throw new IllegalArgumentException("has the unknown placeholder ${" + Printable.oneLine(name)
                        + "} (known: ${line}, ${n}, ${host}; write $${" + Printable.oneLine(name)
                        + "} for the characters themselves)");
            }
        }
    }

    @Override
    public LineTask of(LineInput.Line line, long number) {
        Location at = new Location("standard input", line.number(), 1);
        Row row = Row.ofLine(at, number, line.text());
        try {
            if (!line.valid()) {
                return unfit(
                        line, number, at + ": a line must be UTF-8, was \"" + Printable.oneLine(line.text()) + "\"");
            }
            String group = groupBy.group(row, line.text());
            if (group.isEmpty()) {
                return unfit(
                        line,
                        number,
                        at + ": the group must not be empty, the line was \"" + Printable.oneLine(line.text()) + "\"");
            }
            return new LineTask(task(number, group, command.fill(row)), "");
        } catch (InvalidRowException e) {
            return unfit(line, number, at + ": " + e.getMessage());
        }
    }

    private LineTask unfit(LineInput.Line line, long number, String error) {
        Command none = new Command(List.of(), Map.of(), line.text());
        return new LineTask(task(number, NO_GROUP, none), error);
    }

    private PlannedTask task(long number, String group, Command filled) {
        return new PlannedTask(Long.toString(number), group, filled, Map.of(), directory, timeout, retry, 0, 1);
    }
}
