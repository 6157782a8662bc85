package dev.raddle.cli;

import dev.raddle.cli.file.template.Syntax;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.run.LineInput;
import dev.raddle.cli.run.ProcessStarter;
import java.io.BufferedInputStream;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;

/**
 * The input of {@code raddle map}: lines of standard input or of files, and arguments after {@code :::}. One source is
 * read while its tasks run; several are read first and then combined. For one thread.
 */
final class MapInput {
    /** The word after which the arguments of a command end and those for its placeholders begin. */
    static final String ARGUMENTS = ":::";

    private static final Entry NOTHING = new Entry(new Location("input", 1, 1), List.of(""));
    private static final Pattern NUMBER = Pattern.compile("[1-9][0-9]{0,8}");

    @Option(
            names = {"-a", "--arg-file"},
            paramLabel = "FILE",
            description = "Read the lines of this file, or of standard input if it is -. If repeated, or together with"
                    + " :::, the command runs for every combination.")
    private List<String> files = new ArrayList<>();

    @Option(
            names = {"-0", "--null"},
            description = "Items of the input end with NUL rather than with a line feed.")
    private boolean nul;

    @Option(
            names = "--link",
            description = "Combine only the first items of all inputs, the second ones, and so on;"
                    + " a shorter input begins again.")
    private boolean link;

    @Option(
            names = "--colsep",
            paramLabel = "RE",
            description = "Split each line at this regular expression into {1}, {2} and so on.")
    private @Nullable String separator;

    @Option(
            names = "--header",
            paramLabel = ":",
            description = "The first line of each input has the names of its columns, for {NAME}.")
    private @Nullable String header;

    @Option(
            names = {"-n", "-N", "--max-args"},
            paramLabel = "N",
            description = "How many lines one command gets, or max: as many as fit into 128 KiB (default: 1).")
    private String perCommand = "1";

    @Option(
            names = {"-X", "-m"},
            description = "The same as -n max.")
    private boolean fills;

    private final List<LineInput> sources = new ArrayList<>();
    private final List<String> names = new ArrayList<>(); // of the columns
    private final List<List<Entry>> lists = new ArrayList<>(); // of several sources, once they are read
    private @Nullable Pattern columns;
    private long position;

    /** A line or a combination, with its values. */
    record Entry(Location at, List<String> values) {}

    /** Returns the arguments of this process with all their bytes: the JVM replaces those that are no text. */
    static String[] exact(String... args) {
        List<String> all = new ArrayList<>();
        try (InputStream stream = new BufferedInputStream(Files.newInputStream(Path.of("/proc/self/cmdline")))) {
            LineInput input = new LineInput(stream, "the command line", '\0');
            for (LineInput.Line word = input.next(); word != null; word = input.next()) {
                all.add(word.text());
            }
        } catch (IOException e) {
            return args; // this system does not show them
        }
        int first = all.size() - args.length; // those before are of the JVM
        return first < 0 ? args : all.subList(first, all.size()).toArray(String[]::new);
    }

    /**
     * Opens the sources and reads the names of the columns.
     *
     * @param arguments the arguments after each {@code :::}
     * @param wrong the list to which invalid options and unreadable files are added
     */
    void open(List<List<String>> arguments, WrongArguments wrong) throws IOException {
        if (!perCommand.equals("max") && !NUMBER.matcher(perCommand).matches()) {
            wrong.add("-n must be a number from 1 or max, was \"" + perCommand
                    + "\"; to see what would run, use --dry-run");
        }
        if (header != null && !header.equals(":")) {
            wrong.add("--header must be followed by a colon, as in --header : CMD, was \"" + header + "\"");
        }
        try {
            columns = separator == null ? null : GroupBy.pattern(separator);
        } catch (IllegalArgumentException e) {
            wrong.add("--colsep " + e.getMessage());
        }
        if (Collections.frequency(files, "-") > 1) {
            wrong.add("-a - must be given once, because standard input can be read only once; was given "
                    + Collections.frequency(files, "-") + " times");
        }
        for (String file : files.isEmpty() && arguments.isEmpty() ? List.of("-") : files) {
            openFile(file, wrong);
        }
        for (List<String> group : arguments) {
            if (group.isEmpty()) {
                wrong.add("::: must be followed by at least one argument, was followed by none; write ::: A B, or"
                        + " leave it out to read standard input");
            }
            sources.add(input(group));
        }
        for (LineInput source : wrong.isEmpty() && header != null ? sources : List.<LineInput>of()) {
            Entry first = entry(source.next());
            names.addAll(first == null ? List.of() : first.values);
        }
    }

    private void openFile(String file, WrongArguments wrong) {
        try {
            InputStream stream = System.in;
            if (!file.equals("-")) {
                if (Files.isDirectory(Path.of(file))) {
                    throw new FileSystemException(file, null, "this is a directory");
                }
                stream = Files.newInputStream(Path.of(file));
            }
            String name = file.equals("-") ? "standard input" : file;
            sources.add(new LineInput(new BufferedInputStream(stream), name, nul ? '\0' : '\n'));
        } catch (IOException | InvalidPathException e) {
            wrong.add("-a: " + Failure.text(e));
        }
    }

    private static LineInput input(List<String> arguments) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        for (String argument : arguments) {
            bytes.writeBytes(LocaleText.bytes(argument, ProcessStarter.charset()));
            bytes.write(0);
        }
        return new LineInput(new ByteArrayInputStream(bytes.toByteArray()), "argument", '\0');
    }

    /** Returns whether lines are read from standard input, given the arguments after each {@code :::}. */
    boolean readsStandardInput(List<List<String>> arguments) {
        return files.contains("-") || (files.isEmpty() && arguments.isEmpty());
    }

    /** Returns how many entries a command gets, or {@link Integer#MAX_VALUE} if it gets as many as fit. */
    int perCommand() {
        return fills || perCommand.equals("max") ? Integer.MAX_VALUE : Integer.parseInt(perCommand);
    }

    /** Returns the placeholders of commands for this input. */
    Syntax syntax() {
        return Syntax.arguments(this::column);
    }

    private @Nullable String column(String text) {
        long most = columns == null ? (long) perCommand() * sources.size() : Integer.MAX_VALUE;
        String column = names.contains(text) ? Integer.toString(names.indexOf(text) + 1) : text;
        if (!NUMBER.matcher(column).matches() || Integer.parseInt(column) > most) {
            return null;
        }
        if (perCommand() > 1 && (columns != null || sources.size() > 1)) {
            throw new IllegalArgumentException("has {" + text + "}, but each command gets several lines with several"
                    + " values, of which it would be the first only; leave -n out, or use {}");
        }
        return column;
    }

    /** Returns the next entry, or null at the end. */
    @Nullable
    Entry next() throws IOException {
        if (sources.size() == 1) {
            return entry(sources.getFirst().next());
        }
        if (lists.isEmpty()) {
            for (LineInput source : sources) {
                lists.add(all(source));
            }
        }
        double combinations = 1; // may be more than fit into a long
        for (List<Entry> list : lists) {
            combinations = link ? Math.max(combinations, list.size()) : combinations * list.size();
        }
        return position >= combinations ? null : combination(position++);
    }

    /** Returns all entries of one of several sources; one that is empty counts as one empty line. */
    private List<Entry> all(LineInput source) throws IOException {
        List<Entry> entries = new ArrayList<>();
        for (Entry entry = entry(source.next()); entry != null; entry = entry(source.next())) {
            entries.add(entry);
        }
        return entries.isEmpty() ? List.of(NOTHING) : entries;
    }

    private Entry combination(long index) {
        List<String> values = new ArrayList<>();
        long rest = index;
        for (List<Entry> list : lists.reversed()) {
            values.addAll(0, list.get((int) (rest % list.size())).values);
            rest = link ? index : rest / list.size();
        }
        return new Entry(new Location("combination", (int) index + 1, 1), values);
    }

    private @Nullable Entry entry(LineInput.@Nullable Line line) {
        if (line == null) {
            return null;
        }
        return new Entry(line.at(), columns == null ? List.of(line.text()) : List.of(columns.split(line.text(), -1)));
    }
}
