package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Secrets;
import dev.raddle.flow.OnFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The tasks of a run file that have not succeeded yet. */
public final class PlanWork implements Work {
    private final Plan plan;
    private final RunDirectory directory;
    private final Journal journal;
    private final Past past;
    private final @Nullable Path report;
    private final Set<String> only;
    private final Map<String, OutputFiles> files;
    private final Results results = new Results();
    private final OnFailure onFailure;

    /**
     * Creates the work of a plan.
     *
     * @param past the record of earlier runs in the same directory
     * @param report the path of a report besides the one in the run directory, or null
     * @param only the ids of the tasks that run, with their upstream tasks; empty for all
     * @param keepGoing whether tasks that only failed tasks need run as well
     */
    public PlanWork(
            Plan plan,
            RunDirectory directory,
            Journal journal,
            Past past,
            @Nullable Path report,
            Set<String> only,
            boolean keepGoing)
            throws IOException {
        this.plan = plan;
        this.directory = directory;
        this.journal = journal;
        this.past = past;
        this.report = report;
        this.only = Set.copyOf(only);
        this.files = directory.outputs(plan);
        journal.begin(files, Definitions.of(plan), past.unsuccessful());
        this.onFailure = keepGoing ? OnFailure.KEEP_GOING : OnFailure.CONTINUE;
    }

    @Override
    public Limits limits() {
        return plan.limits();
    }

    @Override
    public @Nullable Duration timeout() {
        return plan.timeout();
    }

    @Override
    public Secrets secrets() {
        return plan.secrets();
    }

    /** Returns the logs of the tasks by id. */
    public Map<String, Path> logs() {
        Map<String, Path> logs = new LinkedHashMap<>();
        files.forEach((id, output) -> logs.put(id, output.out()));
        return logs;
    }

    @Override
    public List<RunListener> listeners() {
        return List.of(journal, results);
    }

    @Override
    public String key() {
        return journal.key();
    }

    @Override
    public void prepare(Tally tally, Duration grace) throws InterruptedException {
        Orphans.terminate(past, grace);
        for (PlannedTask task : plan.tasks()) {
            TaskResult result = past.done(task.id());
            if (result != null) {
                tally.add(result);
                results.put(result);
            }
        }
    }

    @Override
    public RunEvent.RunStarted begin(Instant time) {
        long done = plan.tasks().stream()
                .filter(task -> past.done(task.id()) != null)
                .count();
        return new RunEvent.RunStarted(
                time, plan.name(), plan.tasks().size(), plan.groups().size(), directory.path(), done);
    }

    @Override
    public void submit(GroupRunner runner, Stop stop) {
        // A plan without dependencies needs no flow: everything is ready at once, and the executor is sufficient.
        if (plan.isFlow() || !only.isEmpty()) {
            new PlanFlow(plan, files, only, onFailure, past, runner, stop).start();
            return;
        }
        for (PlannedTask task : plan.tasks()) {
            if (past.done(task.id()) == null) {
                runner.submit(task, Objects.requireNonNull(files.get(task.id())));
            }
        }
    }

    @Override
    public List<Path> reports() {
        List<Path> reports = new ArrayList<>(List.of(directory.report()));
        if (report != null) {
            reports.add(report);
        }
        return reports;
    }

    @Override
    public Path directory() {
        return directory.path();
    }

    @Override
    public Map<String, @Nullable String> outputs() throws IOException {
        Map<String, @Nullable String> outputs = new LinkedHashMap<>();
        for (String id : plan.results()) {
            Capture capture = Objects.requireNonNull(files.get(id)).capture();
            outputs.put(id, capture != null && results.succeeded(id) ? capture.kept() : null);
        }
        return outputs;
    }

    @Override
    public Map<String, String> undone() {
        return results.undone();
    }

    @Override
    public Report.Tasks results() {
        List<String> order = plan.tasks().stream().map(PlannedTask::id).toList();
        return action -> results.forEach(order, action);
    }
}
