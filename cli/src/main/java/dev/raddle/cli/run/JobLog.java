package dev.raddle.cli.run;

import dev.raddle.cli.file.template.Command;
import dev.raddle.cli.file.value.LocaleText;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;

/**
 * Writes a line for each command that has ended by itself, in the columns of GNU parallel's {@code --joblog}, once its
 * output has been printed: what a kill leaves without a line may be repeated, and is not lost.
 */
public final class JobLog implements RunListener, AutoCloseable {
    private static final String HEADER = "Seq\tHost\tStarttime\tJobRuntime\tSend\tReceive\tExitval\tSignal\tCommand";
    private static final int EXIT_VALUE = 6;
    private static final int SIGNAL = 7;
    private static final int COMMAND = 8;

    private final Path path;
    private final FileChannel file;
    private final Function<String, Path> output;
    private final Map<String, String> lines = new HashMap<>(); // of tasks whose output has not been printed

    /** A command that a log has. */
    public record Entry(String command, boolean succeeded) {}

    /**
     * Opens a log.
     *
     * @param append whether to keep its lines
     * @param output the function from the id of a task to the file with its standard output
     * @throws Journal.JournalInUseException if another run writes to the log
     */
    public JobLog(Path path, boolean append, Function<String, Path> output) throws IOException {
        this.path = path;
        this.file = Journal.locked(FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.APPEND), path);
        this.output = output;
        try {
            if (!append && file.size() > 0) {
                file.truncate(0);
            }
            if (file.size() == 0) {
                write(HEADER);
            }
        } catch (IOException | RuntimeException | Error e) {
            file.close();
            throw e;
        }
    }

    /**
     * Returns the commands that a log has, by number; none if it does not exist. Removes the start of a line that a
     * kill left at its end.
     *
     * @throws IllegalArgumentException if the file has other lines; the message continues a sentence that begins with
     *     its name
     */
    public static NavigableMap<Long, Entry> read(Path path) throws IOException {
        NavigableMap<Long, Entry> entries = new TreeMap<>();
        byte[] bytes = Files.exists(path) ? Files.readAllBytes(path) : new byte[0];
        int end = bytes.length;
        while (end > 0 && bytes[end - 1] != '\n') {
            end--;
        }
        String text = LocaleText.text(Arrays.copyOf(bytes, Math.max(0, end - 1)), ProcessStarter.charset());
        int number = 0;
        for (String line : bytes.length == 0 ? new String[0] : text.split("\n", -1)) {
            String[] columns = line.split("\t", COMMAND + 1);
            if (++number > 1 && columns.length > COMMAND && columns[0].matches("[0-9]{1,18}")) {
                boolean succeeded = columns[EXIT_VALUE].equals("0") && columns[SIGNAL].equals("0");
                entries.put(Long.parseLong(columns[0]), new Entry(columns[COMMAND], succeeded));
            } else if (number > 1 || !line.equals(HEADER)) {
                throw new IllegalArgumentException("must name a job log, line " + number + " of " + path
                        + " is not one of a job log; name another file, or remove it");
            }
        }
        if (end < bytes.length) {
            try (FileChannel log = FileChannel.open(path, StandardOpenOption.WRITE)) {
                log.truncate(end);
            }
        }
        return entries;
    }

    /** Returns a command as a log has it, on one line. */
    public static String line(Command command) {
        return line(command.shown());
    }

    private static String line(String command) {
        return command.replace('\n', '\0');
    }

    @Override
    public void on(RunEvent event) {
        if (event instanceof RunEvent.TaskEnded ended) {
            switch (ended.result().state()) {
                case SUCCEEDED, FAILED, TIMED_OUT -> lines.put(ended.result().id(), line(ended.result(), ended.time()));
                case REJECTED, CANCELLED, SKIPPED -> {}
            }
        }
    }

    /** Writes the line of a task whose output has been printed. */
    public void printed(String id) {
        String line = lines.remove(id);
        if (line != null) {
            write(line);
        }
    }

    private String line(TaskResult result, Instant end) {
        int exit = Objects.requireNonNullElse(result.exitCode(), -1);
        int signal = AttemptEnd.signal(exit);
        return String.format(
                Locale.ROOT,
                "%s\t:\t%.3f\t%10.3f\t0\t%d\t%d\t%d\t%s",
                result.id(),
                (end.toEpochMilli() - result.runMillis()) / 1000.0,
                result.runMillis() / 1000.0,
                output.apply(result.id()).toFile().length(),
                signal == 0 ? exit : 0,
                signal,
                line(result.command()));
    }

    private void write(String line) {
        try {
            Journal.write(file, path, LocaleText.bytes(line + "\n", ProcessStarter.charset()));
        } catch (IOException e) {
            throw new UncheckedIOException(e); // the file is not the output of the run, which a reader may close
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
    }
}
