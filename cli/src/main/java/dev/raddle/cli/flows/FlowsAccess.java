package dev.raddle.cli.flows;

import dev.raddle.cli.file.value.Passwords;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.jdbc.DatabaseException;
import dev.raddle.jdbc.FlowService;
import dev.raddle.jdbc.RunFilter;
import dev.raddle.jdbc.RunState;
import dev.raddle.jdbc.StoredEntry;
import dev.raddle.jdbc.StoredRun;
import dev.raddle.jdbc.StoredSchedule;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.NoSuchElementException;
import java.util.Optional;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The runs in a database, for one command. It executes none. No message of its exceptions contains a password, and all
 * texts are printable.
 */
public final class FlowsAccess implements AutoCloseable {
    private static final int PATIENCE_SECONDS = 30;

    /** The driver logs what its exceptions say, too. Loggers to which nothing refers may lose their levels. */
    private static final List<Logger> LOGGERS =
            Stream.of("dev.raddle", "org.postgresql").map(Logger::getLogger).toList();

    private final FlowService service;

    private FlowsAccess(FlowService service) {
        this.service = service;
    }

    /**
     * An answer to a request.
     *
     * @param isDone whether the request was accepted
     * @param text the answer, which ends with a line break
     */
    public record Answer(boolean isDone, String text) {}

    private interface Request<T> {
        T send();
    }

    /**
     * Connects to a database.
     *
     * @param url the URL
     * @param password the password; null for that of the URL, or if there is none, that of {@code ~/.pgpass}
     * @throws IllegalArgumentException if the URL is invalid
     * @throws IOException if the database does not answer, or has no tables for runs
     */
    public static FlowsAccess open(DatabaseUrl url, @Nullable String password) throws IOException {
        LOGGERS.forEach(logger -> logger.setLevel(Level.OFF));
        PGSimpleDataSource source = new PGSimpleDataSource();
        try {
            source.setURL(url.jdbc());
        } catch (IllegalArgumentException e) { // its message contains the URL
            throw DatabaseUrl.wrong();
        }
        source.setApplicationName("raddle flows");
        if (source.getSocketTimeout() == 0) {
            source.setSocketTimeout(PATIENCE_SECONDS);
        }
        String known = password == null ? url.password() : password;
        if (known != null) {
            source.setPassword(known);
        }
        return ask(() -> new FlowsAccess(FlowService.on(source).start()));
    }

    /**
     * Returns runs, the newest first.
     *
     * @param flow the name of a flow; null for all
     * @param states the names of states; empty for all
     * @param limit the greatest number of runs
     * @param asJson whether to return one line of JSON, not a table
     * @throws IllegalArgumentException if a state is unknown, or the limit out of range
     */
    public String list(@Nullable String flow, List<String> states, int limit, boolean asJson) throws IOException {
        RunFilter filter = RunFilter.all().limit(limit);
        if (flow != null) {
            filter = filter.flow(flow);
        }
        if (!states.isEmpty()) {
            RunState[] wanted = states.stream().map(FlowsAccess::state).toArray(RunState[]::new);
            filter = filter.in(wanted[0], wanted);
        }
        RunFilter chosen = filter;
        List<StoredRun> runs = ask(() -> service.list(chosen));
        return asJson ? FlowsJson.list(runs) : FlowsTable.list(runs, limit);
    }

    /**
     * Returns the schedules, the next round first.
     *
     * @param asJson whether to return one line of JSON, not a table
     */
    public String schedules(boolean asJson) throws IOException {
        List<StoredSchedule> schedules = ask(service::schedules);
        return asJson ? FlowsJson.schedules(schedules) : FlowsTable.schedules(schedules);
    }

    /** Pauses a schedule, until it is resumed. */
    public Answer pauseSchedule(String name) throws IOException {
        return ofSchedule(name, () -> {
            service.pauseSchedule(name);
            return "is paused; runs that were submitted go on";
        });
    }

    /** Resumes a schedule that is paused. */
    public Answer resumeSchedule(String name) throws IOException {
        return ofSchedule(name, () -> {
            service.resumeSchedule(name);
            return service.schedules().stream()
                    .filter(schedule -> schedule.name().equals(name))
                    .map(schedule -> "has its next round at " + FlowsTable.time(schedule.nextAt()))
                    .findFirst()
                    .orElseThrow();
        });
    }

    /** Removes a schedule. */
    public Answer removeSchedule(String name) throws IOException {
        return ofSchedule(name, () -> {
            if (!service.removeSchedule(name)) {
                throw new NoSuchElementException(name);
            }
            return "is removed; runs that were submitted go on";
        });
    }

    private static Answer ofSchedule(String name, Request<String> request) throws IOException {
        String schedule = "schedule \"" + Printable.oneLine(name) + "\"";
        try {
            return new Answer(true, schedule + " " + ask(request) + "\n");
        } catch (NoSuchElementException missing) {
            return new Answer(false, "there is no " + schedule + "; raddle flows schedules lists those that exist\n");
        }
    }

    private static RunState state(String name) {
        String wanted = name.strip().toUpperCase(Locale.ROOT).replace('-', '_');
        return Arrays.stream(RunState.values())
                .filter(state -> state.name().equals(wanted))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("there is no state \"" + Printable.oneLine(name)
                        + "\"; the states are " + Arrays.asList(RunState.values())));
    }

    /**
     * Returns a run with its journal.
     *
     * @param id the id of the run
     * @param asJson whether to return one line of JSON
     * @param page the file to write as a page, or null
     */
    public Answer show(String id, boolean asJson, @Nullable Path page) throws IOException {
        Optional<StoredRun> found = ask(() -> service.status(id));
        if (found.isEmpty()) {
            return missing(id);
        }
        StoredRun run = found.get();
        List<StoredEntry> entries = ask(() -> service.entries(id));
        if (page != null) {
            FlowsPage.write(run, entries, page);
        }
        return new Answer(true, asJson ? FlowsJson.run(run, entries) : FlowsTable.run(run, entries));
    }

    /** Requests that a run is cancelled. */
    public Answer cancel(String id, String reason) throws IOException {
        boolean isRequested = ask(() -> service.cancel(id, reason));
        Optional<StoredRun> found = ask(() -> service.status(id));
        if (found.isEmpty()) {
            return missing(id);
        }
        RunState state = found.get().state();
        if (!isRequested) {
            return new Answer(false, name(id) + " has ended before: " + state + "\n");
        }
        return new Answer(
                true,
                name(id) + (state.isEnd() ? " has ended: " + state : " is " + state + "; its worker will cancel it")
                        + "\n");
    }

    /**
     * Requests that nodes of a run that has ended run again.
     *
     * @param nodes the ids of the nodes; none for those without success
     * @throws IllegalArgumentException if the run has no such nodes
     */
    public Answer rerun(String id, List<String> nodes) throws IOException {
        Optional<StoredRun> found = ask(() -> service.status(id));
        if (found.isEmpty()) {
            return missing(id);
        }
        RunState state = found.get().state();
        if (nodes.isEmpty() && state == RunState.SUCCESS) {
            throw new IllegalArgumentException(name(id) + " was successful; name the nodes to run again");
        }
        try {
            return ask(() -> service.rerun(id, nodes.toArray(String[]::new)))
                    ? new Answer(true, name(id) + " will be run again by the next free worker\n")
                    : new Answer(false, name(id) + " has not ended: " + state + "\n");
        } catch (NoSuchElementException removedMeanwhile) {
            return missing(id);
        }
    }

    private static Answer missing(String id) {
        return new Answer(false, "there is no " + name(id) + "; it may have been removed after its end\n");
    }

    private static String name(String id) {
        return "run \"" + Printable.oneLine(id) + "\"";
    }

    private static <T> T ask(Request<T> request) throws IOException {
        try {
            return request.send();
        } catch (DatabaseException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            throw new IOException("the database cannot be used: " + printable(String.valueOf(cause.getMessage())), e);
        } catch (IllegalStateException e) { // it has no tables, or those of another version
            throw new IOException(printable(String.valueOf(e.getMessage())), e);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(printable(String.valueOf(e.getMessage())), e);
        }
    }

    private static String printable(String message) {
        return Printable.oneLine(Passwords.hidden(message));
    }

    @Override
    public void close() {
        service.close();
    }
}
