package dev.raddle.cli;

import dev.raddle.cli.file.Command;
import dev.raddle.cli.file.CommandTemplate;
import dev.raddle.cli.file.Location;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Printable;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.Row;
import dev.raddle.cli.file.ShellTemplate;
import dev.raddle.cli.file.Template;
import dev.raddle.cli.file.UnfitRowException;
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

/** Makes the tasks of {@code raddle map}. */
record CommandLines(
        CommandTemplate command,
        GroupBy groupBy,
        Path directory,
        @Nullable Duration timeout,
        Retry retry) implements LineTasks {
    private static final Set<String> KNOWN = Set.of("line", "n", "host", "line.host");
    private static final String NO_GROUP = "(none)";

    /**
     * A command that is started without a shell.
     *
     * @throws IllegalArgumentException if a placeholder is broken or unknown
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
     * A command for a shell.
     *
     * @throws IllegalArgumentException if a placeholder is broken, unknown or where it cannot be quoted
     */
    static CommandTemplate script(String script) {
        return named("the command", () -> {
            ShellTemplate template = ShellTemplate.parse(script, true);
            check(template.names());
            return new CommandTemplate.Script(
                    template.names().isEmpty() ? ShellTemplate.parse(script + " {}", true) : template);
        });
    }

    /** Puts the name of the value in front of what is wrong with it. */
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
    public Made of(LineInput.Line line, long number) {
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
            return new Made(task(number, group, command.fill(row)), "");
        } catch (UnfitRowException e) {
            return unfit(line, number, at + ": " + e.getMessage());
        }
    }

    private Made unfit(LineInput.Line line, long number, String error) {
        Command none = new Command(List.of(), Map.of(), line.text());
        return new Made(task(number, NO_GROUP, none), error);
    }

    private PlannedTask task(long number, String group, Command filled) {
        return new PlannedTask(Long.toString(number), group, filled, Map.of(), directory, timeout, retry, 0, 1);
    }
}
