package dev.raddle.cli;

import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.Retry;
import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.Command;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.ShellTemplate;
import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.JobLog;
import dev.raddle.cli.run.LineTasks;
import dev.raddle.cli.run.ProcessStarter;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Creates the tasks of {@code raddle map}. */
final class CommandLines implements LineTasks {
    /** The limit of a command that gets as many values as fit, in bytes. */
    private static final int MAX_BYTES = 128 * 1024;

    private static final String NO_GROUP = "(none)";

    private final MapInput input;
    private final @Nullable CommandTemplate command; // null if each line is a script
    private final GroupBy groupBy;
    private final Path directory;
    private final @Nullable Duration timeout;
    private final Retry retry;
    private final boolean tagged;
    private final Map<String, String> tags = new ConcurrentHashMap<>(); // of tasks that have not been printed
    private final Queue<LineTask> again = new ArrayDeque<>(); // read already, of a run that is resumed
    private MapInput.@Nullable Entry held; // read, but too long for the last command
    private long number;

    CommandLines(
            MapInput input,
            @Nullable CommandTemplate command,
            GroupBy groupBy,
            Path directory,
            @Nullable Duration timeout,
            Retry retry,
            boolean tagged) {
        this.input = input;
        this.command = command;
        this.groupBy = groupBy;
        this.directory = directory;
        this.timeout = timeout;
        this.retry = retry;
        this.tagged = tagged;
    }

    /**
     * Returns a command that is started without a shell.
     *
     * @throws IllegalArgumentException if a placeholder is invalid or unknown
     */
    static CommandTemplate words(List<String> words, Syntax syntax) {
        List<Template> templates = new ArrayList<>();
        words.forEach(word -> templates.add(Template.parse(word, syntax)));
        if (templates.stream().allMatch(word -> word.names().isEmpty())) {
            templates.add(Template.parse("{}", syntax));
        }
        return new CommandTemplate.Words(templates);
    }

    /**
     * Returns a command for a shell.
     *
     * @throws IllegalArgumentException if a placeholder is invalid, unknown, or at a location where it cannot be quoted
     */
    static CommandTemplate script(String script, Syntax syntax) {
        ShellTemplate template = ShellTemplate.parse(script, syntax);
        return template.names().isEmpty() ? ShellTemplate.parse(script + " {}", syntax) : template;
    }

    /**
     * Reads the tasks that a job log has, leaves out those that need not run again, and returns this.
     *
     * @param failedToo whether those that failed run again
     * @throws IllegalArgumentException if a command is another than in the log, or missing; the message continues a
     *     sentence that begins with the name of the log
     */
    CommandLines resume(NavigableMap<Long, JobLog.Entry> log, boolean failedToo) throws IOException {
        while (!log.isEmpty() && number < log.lastKey()) {
            LineTask task = read();
            JobLog.Entry before = log.get(number);
            if (task == null) {
                throw new IllegalArgumentException("must be of the same input, but it has command " + log.lastKey()
                        + ", and there are only " + number + " now; name another file, or leave --resume out");
            }
            String command = JobLog.line(task.task().command());
            if (before != null && !before.command().equals(command)) {
                throw new IllegalArgumentException("must be of the same commands, but it has command " + number + " as "
                        + Printable.oneLine(before.command()) + ", which is " + Printable.oneLine(command)
                        + " now; name another file, or leave --resume out");
            }
            if (before == null || (failedToo && !before.succeeded())) {
                again.add(task);
            } else {
                takeTag(task.task().id());
            }
        }
        return this;
    }

    @Override
    public @Nullable LineTask next() throws IOException {
        return again.isEmpty() ? read() : again.remove();
    }

    private @Nullable LineTask read() throws IOException {
        MapInput.Entry first = held == null ? input.next() : held;
        held = null;
        if (first == null) {
            return null;
        }
        number++;
        List<String> values = new ArrayList<>(first.values());
        int most = input.perCommand();
        long room = most == Integer.MAX_VALUE ? MAX_BYTES - size(values) : 0;
        for (int entries = 1; entries < most; entries++) {
            MapInput.Entry next = input.next();
            if (next != null && most == Integer.MAX_VALUE) {
                room -= growth(next.values());
            }
            if (next == null || room < 0) {
                held = next;
                break;
            }
            values.addAll(next.values());
        }
        return task(first.at(), values);
    }

    private long growth(List<String> values) {
        List<String> twice = new ArrayList<>(values);
        twice.addAll(values);
        return size(twice) - size(values);
    }

    /** Returns the bytes of a command with its variables, each with an end and a pointer, as the system counts them. */
    private long size(List<String> values) {
        try {
            Command filled = filled(Row.ofArguments(new Location("", 0, 0), number, values, 0));
            List<String> texts = new ArrayList<>(filled.words());
            filled.values().forEach((name, value) -> texts.add(name + "=" + value));
            return texts.stream()
                    .mapToLong(text -> LocaleText.bytes(text, ProcessStarter.charset()).length + 1 + Long.BYTES)
                    .sum();
        } catch (InvalidRowException e) {
            return 0; // the task will fail with this message
        }
    }

    private Command filled(Row row) throws InvalidRowException {
        if (command == null) {
            String script = row.value(Row.LINE);
            return new Command(List.of("sh", "-c", script), Map.of(), script);
        }
        return command.fill(row);
    }

    /** Returns and removes what precedes each line of output of a task: its arguments, or nothing. */
    String takeTag(String id) {
        return Objects.requireNonNullElse(tags.remove(id), "");
    }

    private LineTask task(Location at, List<String> values) {
        int most = input.perCommand(); // the last command may have fewer
        Row row = Row.ofArguments(at, number, values, most == Integer.MAX_VALUE ? 0 : most);
        String line = String.join(" ", values);
        if (tagged) {
            tags.put(Long.toString(number), line + "\t");
        }
        try {
            String group = groupBy.group(row, line);
            if (group.isEmpty()) {
                throw new InvalidRowException(
                        "the group must not be empty, the line was \"" + Printable.oneLine(line) + "\"");
            }
            return new LineTask(task(group, filled(row)), "");
        } catch (InvalidRowException e) {
            return new LineTask(task(NO_GROUP, new Command(List.of(), Map.of(), line)), at + ": " + e.getMessage());
        }
    }

    private PlannedTask task(String group, Command filled) {
        return new PlannedTask(Long.toString(number), group, filled, Map.of(), directory, timeout, retry, 0, 1);
    }
}
