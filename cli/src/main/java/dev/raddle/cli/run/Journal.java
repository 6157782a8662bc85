package dev.raddle.cli.run;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.data.JsonLine;
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
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
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
    private static final String DEFINITION = "definition";

    private final FileChannel file;
    private final FileChannel lock;
    private final String key = ProcessStarter.newKey();
    private Map<String, OutputFiles> outputs = Map.of();
    private Map<String, String> definitions = Map.of();

    private Journal(FileChannel file, FileChannel lock) {
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
            return begun(new Journal(file, lock));
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
                    long size = output.capture().file().toFile().length();
                    line.put(STORED, output.capture().isMasked() ? ~size : size);
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
        Channels.newOutputStream(file).write((line + "\n").getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() throws IOException {
        file.close();
        lock.close();
    }

    /**
     * A process whose start is recorded in a journal.
     *
     * @param token the token in its environment, or null
     */
    public record Started(
            String id,
            long pid,
            Instant processStart,
            @Nullable String token) {}

    /**
     * The record of an earlier run.
     *
     * @param results the last result of every task that ended, by id
     * @param undone the tasks that were undone after they had succeeded
     * @param open the processes of tasks that started and did not end, by id
     * @param keys the prefixes of the tokens of its processes
     * @param closed the tokens of attempts that ended
     * @param unsuccessful the tasks that were to run again, were started or failed, and have not succeeded since
     * @param stored the sizes of stored outputs, by the id of the task; {@code ~size}, which is negative, of one that
     *     lacks its secrets
     * @param definitions the checksums of the definitions of the tasks that ended, by id
     */
    public record Past(
            Map<String, TaskResult> results,
            Map<String, Started> open,
            Set<String> undone,
            Set<String> keys,
            Set<String> closed,
            Set<String> unsuccessful,
            Map<String, Long> stored,
            Map<String, String> definitions) {
        /** The record for a new run. */
        public static final Past NONE =
                new Past(Map.of(), Map.of(), Set.of(), Set.of(), Set.of(), Set.of(), Map.of(), Map.of());

        /**
         * Returns this record with more tasks counted as undone: each that the plan defines otherwise; each whose
         * stored output is a result and lost, or is read by a task that may run and is lost or masked; and the direct
         * and indirect downstream tasks of every undone task. Those of them that succeeded are unsuccessful as well.
         */
        Past followedBy(Plan plan, Map<String, OutputFiles> outputs) {
            Map<String, PlannedTask> tasks = plan.byId();
            Map<String, List<PlannedTask>> consumers = plan.consumers();
            Set<String> all = new HashSet<>(undone);
            Set<String> again = new HashSet<>(unsuccessful);
            Past past = new Past(results, open, all, keys, closed, again, stored, definitions);
            Definitions.of(plan).forEach((id, definition) -> {
                if (!definitions.getOrDefault(id, definition).equals(definition)) {
                    all.add(id);
                }
            });
            Predicate<String> lost = id ->
                    past.isLost(id, Objects.requireNonNull(outputs.get(id)).capture());
            plan.results().stream().filter(lost).forEach(all::add);
            Deque<String> running = new ArrayDeque<>(tasks.keySet());
            running.removeIf(id -> past.done(id) != null);
            while (!running.isEmpty()) {
                PlannedTask task = Objects.requireNonNull(tasks.get(running.remove()));
                PlanFlow.read(task, tasks.keySet()).stream()
                        .filter(lost.or(past::isMasked))
                        .filter(all::add)
                        .forEach(running::add);
                if (all.contains(task.id())) {
                    consumers.getOrDefault(task.id(), List.of()).stream()
                            .map(PlannedTask::id)
                            .filter(all::add)
                            .forEach(running::add);
                }
            }
            results.values().stream()
                    .filter(TaskResult::succeeded)
                    .map(TaskResult::id)
                    .filter(all::contains)
                    .forEach(again::add);
            return past;
        }

        /** Returns whether the output that a task has stored is missing or incomplete. It may have grown. */
        boolean isLost(String id, @Nullable Capture capture) {
            return done(id) != null
                    && capture != null
                    && (!Files.exists(capture.file())
                            || capture.file().toFile().length() < Math.max(stored(id), ~stored(id)));
        }

        /** Returns whether the output that a task has stored lacks its secrets. */
        boolean isMasked(String id) {
            return done(id) != null && stored(id) < 0;
        }

        private long stored(String id) {
            return stored.getOrDefault(id, 0L);
        }

        /** Returns the result of a task whose success counts: it was not undone, and the task was not started since. */
        public @Nullable TaskResult done(String id) {
            TaskResult result = results.get(id);
            boolean counts = result != null && result.succeeded();
            return counts && !undone.contains(id) && !unsuccessful.contains(id) ? result : null;
        }
    }

    /**
     * Reads a journal.
     *
     * @throws InvalidFileException if it is damaged
     */
    public static Past read(Path path) throws IOException, InvalidFileException {
        Map<String, TaskResult> results = new LinkedHashMap<>();
        Map<String, Started> open = new LinkedHashMap<>();
        Past past = new Past(
                results,
                open,
                new HashSet<>(),
                new HashSet<>(),
                new HashSet<>(),
                new HashSet<>(),
                new HashMap<>(),
                new HashMap<>());
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
            case OPENED -> line.text(KEY).ifPresent(past.keys::add);
            case STARTED -> {
                line.text("id").ifPresent(past.unsuccessful::add);
                started(line).ifPresent(started -> close(past, past.open.put(started.id, started)));
            }
            case ENDED ->
                TaskResult.of(line).ifPresent(result -> {
                    close(past, past.open.remove(result.id()));
                    past.undone.remove(result.id());
                    past.results.put(result.id(), result);
                    past.stored.put(result.id(), line.number(STORED).orElse(0));
                    line.text(DEFINITION).ifPresent(definition -> past.definitions.put(result.id(), definition));
                    switch (result.state()) {
                        case SUCCEEDED -> past.unsuccessful.remove(result.id());
                        case FAILED, TIMED_OUT, REJECTED -> past.unsuccessful.add(result.id());
                        case CANCELLED, SKIPPED -> {}
                    }
                });
            case UNDONE -> line.text("id").ifPresent(past.undone::add);
            case AGAIN -> line.text("id").ifPresent(past.unsuccessful::add);
            default -> {}
        }
    }

    private static void close(Past past, @Nullable Started started) {
        if (started != null && started.token != null) {
            past.closed.add(started.token);
        }
    }

    private static Optional<Started> started(JsonLine line) {
        return line.text("id")
                .flatMap(id -> line.text("born")
                        .flatMap(TaskResult::time)
                        .map(processStart -> new Started(
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
