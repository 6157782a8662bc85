package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.value.Failure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Semaphore;
import org.jspecify.annotations.Nullable;

/**
 * Runs a task for each line of a stream, and submits tasks while the stream is still open. Reading pauses while too
 * many tasks are unfinished, so that memory use does not depend on the number of lines.
 */
public final class LineWork implements Work {
    /*
     * A read cannot be interrupted, so lines are read by a separate thread, which is abandoned when the run is stopped.
     * It must not submit after that: tasks are submitted only under the monitor that guards `closed`.
     */
    private boolean closed; // guarded by this

    private final LineTasks tasks;
    private final Limits limits;
    private final WorkFiles files;
    private final @Nullable Journal journal;
    private final List<Path> reports;
    private final Semaphore unfinishedPermits;

    /**
     * Creates the work of a stream.
     *
     * @param journal the journal that keeps the results for reports, or null if there are none
     * @param readAhead the maximum number of unfinished tasks
     */
    public LineWork(
            LineTasks tasks,
            Limits limits,
            WorkFiles files,
            @Nullable Journal journal,
            List<Path> reports,
            int readAhead) {
        this.tasks = tasks;
        this.limits = limits;
        this.files = files;
        this.journal = journal;
        this.reports = List.copyOf(reports);
        this.unfinishedPermits = new Semaphore(readAhead);
    }

    /** Called when a task is finished and its output has been processed. */
    public void finished() {
        unfinishedPermits.release();
    }

    @Override
    public Limits limits() {
        return limits;
    }

    @Override
    public List<RunListener> listeners() {
        return journal == null ? List.of() : List.of(journal);
    }

    @Override
    public boolean recordsProcesses() {
        return journal != null;
    }

    @Override
    public RunEvent.RunStarted begin(Instant time) {
        return new RunEvent.RunStarted(time, "map", -1, -1, directory(), 0);
    }

    @Override
    public void submit(GroupRunner runner, Stop stop) throws IOException, InterruptedException {
        CompletableFuture<Void> end = new CompletableFuture<>();
        Thread.ofPlatform().name("raddle-input").daemon().start(() -> read(runner, end));
        try {
            stop.awaitOr(end);
        } catch (ExecutionException e) {
            throw new IOException(Failure.text(e.getCause()), e);
        } finally {
            close();
        }
    }

    private synchronized void close() {
        closed = true;
    }

    private void read(GroupRunner runner, CompletableFuture<Void> end) {
        try {
            LineTasks.LineTask next = tasks.next();
            while (next != null) {
                unfinishedPermits.acquire();
                next = submit(runner, next) ? tasks.next() : null;
            }
            end.complete(null);
        } catch (IOException | InterruptedException | RuntimeException | Error e) {
            end.completeExceptionally(e);
        }
    }

    private synchronized boolean submit(GroupRunner runner, LineTasks.LineTask lineTask) {
        if (closed) {
            return false;
        }
        if (lineTask.error().isEmpty()) {
            runner.submit(lineTask.task(), files.of(lineTask.task().id()));
        } else {
            runner.refuse(lineTask.task(), lineTask.error());
        }
        return true;
    }

    @Override
    public List<Path> reports() {
        return new ArrayList<>(reports);
    }

    @Override
    public @Nullable Path directory() {
        return files.kept() ? files.directory().path() : null;
    }

    @Override
    public Report.Tasks results() {
        return action -> {
            if (journal != null) {
                Journal.readResults(files.directory().journal(), action);
            }
        };
    }
}
