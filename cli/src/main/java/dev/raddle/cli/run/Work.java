package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.value.Secrets;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The work of a session. Its methods are called once each, in the order of their declaration. */
public interface Work {

    Limits limits();

    /** Returns how long the run may take, or null. */
    default @Nullable Duration timeout() {
        return null;
    }

    /** Returns what must be neither printed nor kept. */
    default Secrets secrets() {
        return Secrets.NONE;
    }

    /** Returns the listeners that the work itself needs; if one of them fails, the run cannot continue. */
    List<RunListener> listeners();

    /** Returns the common prefix of the tokens of this run's processes. */
    default String key() {
        return ProcessStarter.newKey();
    }

    /** Returns whether a journal records the processes, so that a later run finds those that outlive this one. */
    default boolean recordsProcesses() {
        return true;
    }

    /** Counts the results of an earlier run, and performs the actions that must precede the first start. */
    default void prepare(Tally tally, Duration grace) throws InterruptedException {}

    /** Returns the first event. */
    RunEvent.RunStarted begin(Instant time);

    /** Submits the tasks; ends early if the run is stopped. */
    void submit(GroupRunner runner, Stop stop) throws IOException, InterruptedException;

    /** Returns the paths of the reports; empty if there is no run directory and none was requested. */
    List<Path> reports();

    /** Returns the run directory, or null if nothing is kept. */
    @Nullable
    Path directory();

    /** Returns the outputs of the tasks whose results are requested, by id; null for a task without output. */
    default Map<String, @Nullable String> outputs() throws IOException {
        return Map.of();
    }

    /** Returns the tasks whose undo command ran, with why it failed, or an empty text. */
    default Map<String, String> undone() {
        return Map.of();
    }

    /** Returns all results, for a report. */
    Report.Tasks results();
}
