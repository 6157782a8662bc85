package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a session runs. Its methods are called once each, in the order in which they stand here. */
public interface Work {

    Limits limits();

    /** Those who need every event for the work's own sake; if one of them fails the run cannot go on. */
    List<RunListener> listeners();

    /** What the tokens of the processes of this run begin with. */
    default String key() {
        return Children.newKey();
    }

    /** Counts what an earlier run did, and does what must be done before anything starts. */
    default void prepare(Tally tally, Duration grace) throws InterruptedException {}

    /** The first event. */
    RunEvent.RunStarted begin(Instant time);

    /** Submits the tasks; leaves off when the run is stopped. */
    void submit(GroupRunner runner, Stop stop) throws IOException, InterruptedException;

    /** Where the reports go; empty if there is no run directory and none was asked for. */
    List<Path> reports();

    /** The run directory, or null if nothing is kept. */
    @Nullable
    Path directory();

    /** What the tasks whose results are wanted have printed, by id; null for one that has nothing. */
    default Map<String, @Nullable String> outputs() throws IOException {
        return Map.of();
    }

    /** Hands over every result, for a report. */
    Report.Tasks results();
}
