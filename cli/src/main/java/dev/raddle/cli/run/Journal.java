package dev.raddle.cli.run;

import dev.raddle.cli.file.JsonLine;
import dev.raddle.cli.file.Plan;
import java.io.BufferedReader;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.OverlappingFileLockException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Keeps what happens, line by line, so that a run whose process is killed can be resumed. Every line is handed to the
 * operating system before the next event is heard.
 *
 * <p>A line may be torn by a crash; it is then no JSON, and its task simply runs again.
 */
public final class Journal implements RunListener, Closeable {
    private static final String KIND = "event";
    private static final String STARTED = "started";
    private static final String ENDED = "ended";
    private static final String UNDONE = "undone";
    private static final String OPENED = "opened";
    private static final String KEY = "key";
    private static final String TREE = "tree";

    private final FileChannel file;
    private final FileChannel lock;
    private final String key = Children.newKey();

    private Journal(FileChannel file, FileChannel lock) {
        this.file = file;
        this.lock = lock;
    }

    /** What the tokens of all processes begin with that are started while this journal is open. */
    String key() {
        return key;
    }

    /**
     * Opens a journal for writing at its end; another process cannot until this one has ended.
     *
     * @throws JournalInUseException if another process writes it
     */
    public static Journal open(Path path) throws IOException {
        FileChannel lock = locked(path.resolveSibling(path.getFileName() + ".lock"), path);
        FileChannel file = FileChannel.open(
                path,
                StandardOpenOption.CREATE,
                StandardOpenOption.READ,
                StandardOpenOption.WRITE,
                LinkOption.NOFOLLOW_LINKS);
        file.position(file.size());
        Journal journal = new Journal(file, lock);
        if (!journal.endsWithLine()) {
            journal.write("");
        }
        // Before anything starts, so that also a process is known whose start could not be written down.
        Map<String, @Nullable Object> opened = new LinkedHashMap<>();
        opened.put(KIND, OPENED);
        opened.put(KEY, journal.key);
        journal.write(Json.text(opened));
        return journal;
    }

    /** A lock on a file of its own: one on the journal itself would be lost when the journal is read and closed again. */
    private static FileChannel locked(Path lock, Path journal) throws IOException {
        FileChannel channel =
                FileChannel.open(lock, StandardOpenOption.CREATE, StandardOpenOption.WRITE, LinkOption.NOFOLLOW_LINKS);
        try {
            if (channel.tryLock() != null) {
                return channel;
            }
        } catch (OverlappingFileLockException e) {
            // held by this process itself: in use as well
        }
        channel.close();
        throw new JournalInUseException(journal);
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
        Map<String, @Nullable Object> line = new LinkedHashMap<>();
        switch (event) {
            case RunEvent.AttemptStarted started -> {
                line.put(KIND, STARTED);
                line.put("id", started.id());
                line.put("attempt", started.attempt());
                line.put("pid", started.pid());
                line.put("born", started.born());
                line.put(TREE, started.token());
            }
            case RunEvent.TaskEnded ended -> {
                line.put(KIND, ENDED);
                line.putAll(ended.result().fields());
            }
            case RunEvent.TaskUndone undone -> {
                if (undone.error() != null) {
                    return;
                }
                line.put(KIND, UNDONE);
                line.put("id", undone.id());
            }
            default -> {
                return;
            }
        }
        write(Json.text(line));
    }

    private void write(String line) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            file.write(bytes);
        }
    }

    @Override
    public void close() throws IOException {
        file.close();
        lock.close();
    }

    /**
     * A process that a journal saw begin.
     *
     * @param token the token in its environment, or null
     */
    public record Started(
            String id, long pid, Instant born, @Nullable String token) {

        /** One without a token. */
        public Started(String id, long pid, Instant born) {
            this(id, pid, born, null);
        }
    }

    /**
     * What a journal tells of an earlier run.
     *
     * @param results the last result of every task that ended, by id
     * @param undone the tasks that were taken back after they had succeeded
     * @param open the processes of tasks that began and did not end, by id
     * @param keys the prefixes of the tokens of its processes
     * @param closed the tokens of attempts that ended
     */
    public record Past(
            Map<String, TaskResult> results,
            Map<String, Started> open,
            Set<String> undone,
            Set<String> keys,
            Set<String> closed) {
        /** The past of a run that begins. */
        public static final Past NONE = new Past(Map.of(), Map.of(), Set.of(), Set.of(), Set.of());

        /** The same with what depends on a task that was taken back, near or far: that counts as taken back, too. */
        Past followedBy(Plan plan) {
            if (undone.isEmpty()) {
                return this;
            }
            Map<String, List<String>> consumers = new HashMap<>();
            plan.tasks()
                    .forEach(task -> task.flow()
                            .upstreams()
                            .forEach(id -> consumers
                                    .computeIfAbsent(id, ignored -> new ArrayList<>())
                                    .add(task.id())));
            Set<String> all = new HashSet<>(undone);
            Deque<String> open = new ArrayDeque<>(undone);
            while (!open.isEmpty()) {
                consumers.getOrDefault(open.remove(), List.of()).stream()
                        .filter(all::add)
                        .forEach(open::add);
            }
            return new Past(results, this.open, all, keys, closed);
        }

        /** The result of a task that succeeded and was not taken back; null if there is none. */
        public @Nullable TaskResult done(String id) {
            TaskResult result = results.get(id);
            return result != null && result.succeeded() && !undone.contains(id) ? result : null;
        }
    }

    /** Reads a journal; one that does not exist is empty. */
    public static Past read(Path path) throws IOException {
        Map<String, TaskResult> results = new LinkedHashMap<>();
        Map<String, Started> open = new LinkedHashMap<>();
        Past past = new Past(results, open, new HashSet<>(), new HashSet<>(), new HashSet<>());
        read(path, line -> remember(line, past));
        return past;
    }

    /** Reads a journal and hands over each result in turn, so that there may be more of them than fit into memory. */
    static void readResults(Path path, Consumer<TaskResult> action) throws IOException {
        read(path, line -> {
            if (line.text(KIND).orElse("").equals(ENDED)) {
                TaskResult.of(line).ifPresent(action);
            }
        });
    }

    private static void read(Path path, Consumer<JsonLine> action) throws IOException {
        if (Files.exists(path)) {
            // bytes that are no UTF-8, in a torn line, are replaced and not an error
            try (BufferedReader reader =
                    new BufferedReader(new InputStreamReader(Files.newInputStream(path), StandardCharsets.UTF_8))) {
                for (String text = reader.readLine(); text != null; text = reader.readLine()) {
                    JsonLine.parse(text).ifPresent(action);
                }
            }
        }
    }

    private static void remember(JsonLine line, Past past) {
        switch (line.text(KIND).orElse("")) {
            case OPENED -> line.text(KEY).ifPresent(past.keys::add);
            case STARTED -> started(line).ifPresent(started -> close(past, past.open.put(started.id, started)));
            case ENDED ->
                TaskResult.of(line).ifPresent(result -> {
                    close(past, past.open.remove(result.id()));
                    past.undone.remove(result.id());
                    past.results.put(result.id(), result);
                });
            case UNDONE -> line.text("id").ifPresent(past.undone::add);
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
                        .map(Instant::parse)
                        .map(born -> new Started(
                                id,
                                line.number("pid").orElse(0),
                                born,
                                line.text(TREE).orElse(null))));
    }

    /** Another process writes the journal. */
    public static final class JournalInUseException extends IOException {
        private static final long serialVersionUID = 1L;

        JournalInUseException(Path path) {
            super(path + " is being written by another raddle");
        }
    }
}
