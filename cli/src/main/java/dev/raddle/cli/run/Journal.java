package dev.raddle.cli.run;

import dev.raddle.cli.file.data.JsonLine;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Problems;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records events, one per line, so that a run whose process was killed can be resumed. Every line is passed to the
 * operating system before the next event is processed.
 *
 * <p>A crash may leave an incomplete last line; it is not valid JSON, and its task simply runs again.
 */
public final class Journal implements RunListener, Closeable {
    private static final String KIND = "event";
    private static final String STARTED = "started";
    private static final String ENDED = "ended";
    private static final String UNDONE = "undone";
    private static final String AGAIN = "again";
    private static final String OPENED = "opened";
    private static final String KEY = "key";
    private static final String TREE = "tree";
    private static final String STORED = "stored";
    private static final String MASKED = "masked";
    private static final String DEFINITION = "definition";

    private final Path path;
    private final FileChannel file;
    private final FileChannel lock;
    private final String key = ProcessStarter.newKey();
    private Map<String, OutputFiles> outputs = Map.of();
    private Map<String, String> definitions = Map.of();

    private Journal(Path path, FileChannel file, FileChannel lock) {
        this.path = path;
        this.file = file;
        this.lock = lock;
    }

    /** Returns the common prefix of the tokens of all processes that are started while this journal is open. */
    String key() {
        return key;
    }

    /**
     * Begins the record of a plan's run, before the first event. The tasks that run again are recorded now, because a
     * task overwrites its stored output before its start is recorded.
     */
    void begin(Map<String, OutputFiles> files, Map<String, String> checksums, Set<String> again) throws IOException {
        outputs = files;
        definitions = checksums;
        for (String id : again) {
            write(Json.text(line(AGAIN, "id", id)));
        }
    }

    /**
     * Opens a journal for appending; no other process can open it until this process closes it or ends.
     *
     * @throws JournalInUseException if another process has opened it
     */
    public static Journal open(Path path) throws IOException {
        FileChannel lock = locked(path.resolveSibling(path.getFileName() + ".lock"), path);
        try {
            FileChannel file = FileChannel.open(
                    path,
                    StandardOpenOption.CREATE,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE,
                    LinkOption.NOFOLLOW_LINKS);
            return begun(new Journal(path, file, lock));
        } catch (IOException | RuntimeException | Error e) {
            lock.close();
            throw e;
        }
    }

    private static Journal begun(Journal journal) throws IOException {
        try {
            journal.file.position(journal.file.size());
            if (!journal.endsWithLine()) {
                journal.write("");
            }
            // Written before anything starts, so that a process is known even if its start could not be recorded.
            journal.write(Json.text(line(OPENED, KEY, journal.key)));
            return journal;
        } catch (IOException | RuntimeException | Error e) {
            journal.file.close();
            throw e;
        }
    }

    /** Locks a separate file: a lock on the journal itself would be lost when the journal is read and closed again. */
    private static FileChannel locked(Path lock, Path journal) throws IOException {
        return locked(
                FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS),
                journal);
    }

    /** Locks a channel and returns it; closes it if the lock is taken. */
    static FileChannel locked(FileChannel channel, Path file) throws IOException {
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException e) {
            // this process itself holds the lock: the file is in use as well
        }
        channel.close();
        throw new JournalInUseException(file);
    }

    private boolean endsWithLine() throws IOException {
        if (file.size() == 0) {
            return true;
        }
        ByteBuffer last = ByteBuffer.allocate(1);
        file.read(last, file.size() - 1);
        return last.get(0) == '\n';
    }

    @Override
    public void on(RunEvent event) throws IOException {
        switch (event) {
            case RunEvent.AttemptStarted started -> {
                Map<String, @Nullable Object> line = line(STARTED, "id", started.id());
                line.put("attempt", started.attempt());
                line.put("pid", started.pid());
                line.put("born", started.processStart());
                line.put(TREE, started.token());
                write(Json.text(line));
            }
            case RunEvent.TaskEnded ended -> {
                String id = ended.result().id();
                Map<String, @Nullable Object> line = line(ENDED, "id", id);
                line.putAll(ended.result().fields());
                OutputFiles output = outputs.get(id);
                if (output != null) {
                    line.put(DEFINITION, definitions.get(id));
                }
                if (output != null && output.capture() != null) {
                    line.put(STORED, output.capture().file().toFile().length());
                    if (output.capture().isMasked()) {
                        line.put(MASKED, true);
                    }
                }
                write(Json.text(line));
            }
            case RunEvent.TaskUndone undone
            when undone.error() == null -> write(Json.text(line(UNDONE, "id", undone.id())));
            default -> {}
        }
    }

    private static Map<String, @Nullable Object> line(String kind, String name, String value) {
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        line.put(KIND, kind);
        line.put(name, value);
        return line;
    }

    private void write(String line) throws IOException {
        write(file, path, (line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    /** Writes into a file, and names it if that fails: the system's message does not. */
    static void write(FileChannel file, Path path, byte[] bytes) throws IOException {
        try {
            Channels.newOutputStream(file).write(bytes);
        } catch (IOException e) {
            throw new IOException(path + " cannot be written: " + Failure.text(e), e);
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
        lock.close();
    }

    /**
     * Reads a journal.
     *
     * @throws InvalidFileException if it is damaged
     */
    public static Past read(Path path) throws IOException, InvalidFileException {
        Past past = new Past();
        Problems problems = new Problems();
        read(path, problems, line -> remember(line, past));
        problems.throwIfAny();
        return past;
    }

    /** Reads a journal and passes each result to an action, so that the results need not fit into memory. */
    static void readResults(Path path, Report.Action<TaskResult> action) throws IOException {
        read(path, new Problems(), line -> {
            Optional<TaskResult> result = TaskResult.of(line);
            if (result.isPresent() && line.text(KIND).orElse("").equals(ENDED)) {
                action.accept(result.get());
            }
        });
    }

    /**
     * Passes each line to an action. An incomplete line is a problem, except the last of each process: after it the
     * file ends, or the next process has opened the journal. Invalid UTF-8 in it is replaced and not an error.
     */
    private static void read(Path path, Problems problems, Report.Action<JsonLine> action) throws IOException {
        try (BufferedReader reader =
                new BufferedReader(new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8))) {
            int incomplete = 0; // the number of the previous line if that is incomplete
            int number = 1;
            for (String text = reader.readLine(); text != null; text = reader.readLine(), number++) {
                Optional<JsonLine> line = JsonLine.parse(text);
                boolean opens = line.flatMap(fields -> fields.text(KIND)).equals(Optional.of(OPENED));
                if (line.isEmpty() ? number == 1 : incomplete > 1 && !opens) {
                    Location at = new Location(path.toString(), Math.max(1, incomplete), 1);
                    problems.add(at, "every line must be a JSON object, this one is damaged");
                }
                incomplete = line.isEmpty() ? number : 0;
                if (line.isPresent()) {
                    action.accept(line.get());
                }
            }
        }
    }

    private static void remember(JsonLine line, Past past) {
        switch (line.text(KIND).orElse("")) {
            case OPENED -> line.text(KEY).ifPresent(past::onOpened);
            case STARTED -> {
                line.text("id").ifPresent(past::onAgain);
                started(line).ifPresent(past::onStarted);
            }
            case ENDED ->
                TaskResult.of(line)
                        .ifPresent(result -> past.onEnded(
                                result, stored(line), line.text(DEFINITION).orElse(null)));
            case UNDONE -> line.text("id").ifPresent(past::onUndone);
            case AGAIN -> line.text("id").ifPresent(past::onAgain);
            default -> {}
        }
    }

    private static Past.@Nullable Stored stored(JsonLine line) {
        OptionalLong size = line.number(STORED);
        return size.isEmpty()
                ? null
                : new Past.Stored(size.getAsLong(), line.text(MASKED).equals(Optional.of("true")));
    }

    private static Optional<Past.Started> started(JsonLine line) {
        return line.text("id")
                .flatMap(id -> line.text("born")
                        .flatMap(TaskResult::time)
                        .map(processStart -> new Past.Started(
                                id,
                                line.number("pid").orElse(0),
                                processStart,
                                line.text(TREE).orElse(null))));
    }

    /** Thrown if another run writes to the journal or the job log. */
    public static final class JournalInUseException extends IOException {
        private static final long serialVersionUID = 1L;

        JournalInUseException(Path path) {
            super(path + " is in use by another raddle process");
        }
    }
}
