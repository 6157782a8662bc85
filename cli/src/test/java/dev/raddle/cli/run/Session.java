package dev.raddle.cli.run;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlanReader;
import dev.raddle.cli.file.value.InvalidFileException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Runs a file in the directory of a test, in this process. */
final class Session {
    /** The resource lock of tests that run sessions: each session handles the signals of the process. */
    static final String SIGNALS = "the signals of this process";

    static final InstantSource CLOCK = InstantSource.fixed(Instant.parse("2026-01-31T09:30:00Z"));

    private final Path directory;
    private final Recorder recorder = new Recorder();
    private final List<RunListener> listeners = new ArrayList<>(List.of(recorder));
    private boolean failFast;
    private boolean keepGoing;
    private Set<String> only = Set.of();
    private Map<String, String> params = Map.of();
    private Duration grace = Duration.ofSeconds(20);

    Session(Path directory) {
        this.directory = directory;
    }

    Session failFast() {
        failFast = true;
        return this;
    }

    Session keepGoing() {
        keepGoing = true;
        return this;
    }

    Session only(String... targets) {
        only = Set.of(targets);
        return this;
    }

    Session params(Map<String, String> values) {
        params = values;
        return this;
    }

    /** Adds a listener for every event. */
    Session listen(RunListener listener) {
        listeners.add(listener);
        return this;
    }

    Session grace(Duration time) {
        grace = time;
        return this;
    }

    Recorder recorder() {
        return recorder;
    }

    Path out() {
        return directory.resolve("run");
    }

    /** Runs a file from the start. */
    int run(String text) throws IOException, InterruptedException, InvalidFileException {
        RunDirectory created = RunDirectory.create(out());
        return run(kept(text, created), created, new Past());
    }

    private Plan kept(String text, RunDirectory at) throws IOException, InvalidFileException {
        RunDirectory.Origin origin = new RunDirectory.Origin(
                "checks.yaml", directory, text, name -> Files.readAllBytes(directory.resolve(name)), params);
        Plan plan = plan(origin);
        at.keep(origin, plan, CLOCK.instant());
        return plan;
    }

    /** Resumes a run with another file. */
    int resume(String text) throws IOException, InterruptedException, InvalidFileException {
        RunDirectory reopened = RunDirectory.reopen(out());
        Plan plan = kept(text, reopened);
        return run(plan, reopened, reopened.past(plan));
    }

    /** Resumes a run. */
    int resume() throws IOException, InterruptedException, InvalidFileException {
        RunDirectory reopened = RunDirectory.reopen(out());
        Plan plan = plan(reopened.origin().with(params));
        return run(plan, reopened, reopened.past(plan));
    }

    private static Plan plan(RunDirectory.Origin origin) throws InvalidFileException {
        return new PlanReader(origin.file(), origin.directory(), origin.inputs())
                .params(origin.params())
                .read(origin.text());
    }

    private int run(Plan plan, RunDirectory at, Past past) throws IOException, InterruptedException {
        try (Journal journal = Journal.open(at.journal())) {
            PlanWork work = new PlanWork(plan, at, journal, past, null, only, keepGoing);
            RunSession.Settings settings = new RunSession.Settings(grace, failFast ? Halt.failFast() : null);
            return new RunSession(settings, listeners, List.of(), RunScreen.NONE, CLOCK).run(work);
        }
    }

    String output(String file) throws IOException {
        return Files.readString(out().resolve("output").resolve(file));
    }
}
