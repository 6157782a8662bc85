package dev.raddle.cli.page;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.graph.PlanGraph;
import dev.raddle.cli.run.Json;
import dev.raddle.cli.run.Report;
import dev.raddle.cli.run.ReportForm;
import dev.raddle.cli.run.RunEvent;
import dev.raddle.cli.run.RunListener;
import dev.raddle.cli.run.Stop;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.WholeFile;
import dev.raddle.console.RunPage;
import dev.raddle.console.RunView;
import dev.raddle.flow.PlanEdge;
import dev.raddle.group.Explanation;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupExecutorStats;
import dev.raddle.task.WaitReason;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A run of a plan as it is shown, from its first event on; when it has ended, also as a page. */
public final class PlanRun implements RunView, RunListener, ReportForm {

    /*
     * Overview.
     *
     * One thread passes the events, and at the end the report; others may read at any time. What is known of a task is
     * one immutable value, which that thread replaces. The results of the report are the last word: of a task that has
     * succeeded in an earlier run, and of one that was never submitted, there is no event.
     */
    private final PlanGraph graph;
    private final Map<String, TaskNode> nodes = new LinkedHashMap<>(); // not changed after the constructor
    private final List<PlanEdge> edges;
    private final Path file;
    private final OutputTails tailsOfFailed = new OutputTails();
    private volatile Instant startedAt;
    private volatile Map<String, String> live = Map.of(); // what is known of the run before its end
    private volatile @Nullable GroupExecutor executor; // null unless the run is shown while it goes on
    private volatile @Nullable Ended ended; // null until the report

    private record Ended(String state, Instant at, Map<String, String> facts, List<String> criticalPath) {}

    /**
     * Creates a view of a run that begins now.
     *
     * @param file the file to write as a page
     */
    public PlanRun(Plan plan, Path file, Instant now) {
        this.graph = PlanGraph.of(plan);
        this.file = file;
        this.startedAt = now;
        for (int task = 0; task < graph.size(); task++) {
            List<String> upstreams =
                    graph.into(task).stream().map(edge -> id(edge.from())).toList();
            PlannedTask planned = graph.task(task);
            nodes.put(planned.id(), new TaskNode(planned, () -> open(upstreams), () -> reasonOf(planned)));
        }
        this.edges = graph.edges().stream()
                .map(edge -> new PlanEdge(id(edge.from()), id(edge.to()), edge.label()))
                .toList();
    }

    /** Shows the tasks that have succeeded in an earlier run, and the directory of this one. */
    public void begin(Path directory, Function<String, @Nullable TaskResult> past) {
        live = Map.of("results", directory.toString());
        nodes.forEach((id, node) -> {
            TaskResult result = past.apply(id);
            if (result != null) {
                node.endedEarlier(result);
            }
        });
    }

    /** Makes the view explain waits by an executor, and show the output of failed tasks while the run goes on. */
    public void watch(GroupExecutor running) {
        executor = running;
    }

    /** Returns why a task waits, in the words of a run file. */
    private String reasonOf(PlannedTask task) {
        String group = task.group();
        GroupExecutor known = executor;
        Explanation next = known == null ? null : known.explainNext(group).orElse(null);
        return switch (next == null ? WaitReason.GROUP_LIMIT : next.waitingFor()) {
            case GLOBAL_CAP -> "waits for its turn among the jobs of the run" + needed(task, freeJobs(known));
            case GROUP_RATE -> "waits for the rate of group \"" + group + "\"";
            case GLOBAL_RATE -> "waits for the rate of the run";
            default -> "waits for a slot of group \"" + group + "\"" + needed(task, freeSlots(known, group));
        };
    }

    /** Says why a task waits although there are free slots, if it costs more of them. */
    private static String needed(PlannedTask task, int free) {
        return task.cost() > 1 ? ", needs " + task.cost() + ", " + Math.max(0, free) + " free" : "";
    }

    private static int freeJobs(@Nullable GroupExecutor known) {
        if (known == null) {
            return 0;
        }
        GroupExecutorStats stats = known.stats();
        return stats.globalInFlightMax() - stats.globalInFlightUsed();
    }

    private static int freeSlots(@Nullable GroupExecutor known, String group) {
        return known == null
                ? 0
                : known.groupStats(group)
                        .map(stats -> stats.maxConcurrency() - stats.activeCount())
                        .orElse(0);
    }

    private String id(int task) {
        return graph.task(task).id();
    }

    private List<String> open(List<String> upstreams) {
        return upstreams.stream().filter(id -> node(id).result() == null).toList();
    }

    private TaskNode node(String id) {
        return Objects.requireNonNull(nodes.get(id), id);
    }

    // Events.

    @Override
    public void on(RunEvent event) {
        switch (event) {
            case RunEvent.RunStarted begin -> startedAt = begin.time();
            case RunEvent.TaskQueued queued -> node(queued.id()).queued(queued.time());
            case RunEvent.AttemptStarted started -> node(started.id()).started(started.time(), started.pid());
            case RunEvent.AttemptFailed failed ->
                node(failed.id()).failed(failed.time(), failed.error(), failed.pause());
            case RunEvent.TaskEnded end -> ended(end.result());
            case RunEvent.TaskUndone undone -> node(undone.id()).undone(undone.error());
            case RunEvent.RunStopping stopping -> stopping(stopping.reason());
            default -> {} // changes no node
        }
    }

    private void ended(TaskResult result) {
        boolean isShown = executor != null && !result.succeeded();
        node(result.id()).ended(result, isShown ? tailsOfFailed.of(result) : null);
    }

    private void stopping(Stop.Reason reason) {
        Map<String, String> facts = new LinkedHashMap<>(live);
        facts.put("stopping", reason.name().toLowerCase(Locale.ROOT).replace('_', '-'));
        live = facts;
    }

    /** Ends the view, and writes the page. */
    @Override
    public void write(Report report) throws IOException {
        startedAt = report.startedAt();
        List<TaskResult> results = new ArrayList<>();
        report.tasks().forEach(results::add);
        OutputTails tails = new OutputTails();
        for (boolean good : List.of(false, true)) { // those that failed first, because the total size is limited
            for (TaskResult result : results) {
                if (result.succeeded() == good) {
                    node(result.id()).ended(result, tails.of(result));
                }
            }
        }
        Map<String, String> facts = new LinkedHashMap<>();
        facts.put("exit code", String.valueOf(report.exitCode()));
        if (report.succeededBefore() > 0) {
            facts.put("succeeded in an earlier run", String.valueOf(report.succeededBefore()));
        }
        ended = new Ended(stateOf(report.exitCode()), report.endedAt(), facts, longest());
        WholeFile.write(file, writer -> RunPage.write(this, Json::text, writer));
    }

    private static String stateOf(int exitCode) {
        return switch (exitCode) {
            case 0 -> "succeeded";
            case 4 -> "degraded";
            case 124 -> "timed-out";
            case 1, 2, 3, 70, 141 -> "failed";
            default -> "cancelled"; // by a signal
        };
    }

    private List<String> longest() {
        long[] starts = new long[graph.size()];
        long[] ends = new long[graph.size()];
        for (int task = 0; task < graph.size(); task++) {
            TaskNode node = node(id(task));
            starts[task] = millis(node.startedAt());
            ends[task] = millis(node.endedAt());
        }
        return CriticalPath.of(graph, starts, ends).stream().map(this::id).toList();
    }

    private long millis(@Nullable Instant moment) {
        return moment == null ? -1 : Duration.between(startedAt, moment).toMillis();
    }

    // The view.

    @Override
    public String name() {
        return graph.name();
    }

    @Override
    public String state() {
        Ended end = ended;
        return end == null ? "running" : end.state;
    }

    @Override
    public Instant startedAt() {
        return startedAt;
    }

    @Override
    public @Nullable Instant endedAt() {
        Ended end = ended;
        return end == null ? null : end.at;
    }

    @Override
    public Map<String, ? extends Node> nodes() {
        return Collections.unmodifiableMap(nodes);
    }

    @Override
    public List<PlanEdge> edges() {
        return edges;
    }

    @Override
    public List<String> criticalPath() {
        Ended end = ended;
        return end == null ? List.of() : end.criticalPath;
    }

    @Override
    public Map<String, String> facts() {
        Ended end = ended;
        return end == null ? live : end.facts;
    }
}
