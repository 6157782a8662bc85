package dev.raddle.cli.page;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.graph.Layers;
import dev.raddle.cli.graph.Placement;
import dev.raddle.cli.graph.PlanGraph;
import dev.raddle.cli.graph.PlanGraph.Edge;
import dev.raddle.cli.run.Report;
import dev.raddle.cli.run.ReportForm;
import dev.raddle.cli.run.TaskResult;
import dev.raddle.cli.run.TaskState;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes a run as a page: its graph, its timeline, its tasks and their output. */
public final class RunPage implements ReportForm {
    private static final int MAX_DRAWN = 500;
    private static final int SLOWEST = 20;
    /** Every state, and last the word for a task whose state is unknown. */
    private static final List<String> STATES = Stream.concat(
                    Arrays.stream(TaskState.values()).map(TaskState::text), Stream.of("none"))
            .toList();

    private final Plan plan;
    private final Path file;

    /**
     * Creates a page of a plan's run.
     *
     * @param file the file to write
     */
    public RunPage(Plan plan, Path file) {
        this.plan = plan;
        this.file = file;
    }

    @Override
    public void write(Report report) throws IOException {
        PageFile.write(file, data(report));
    }

    private Map<String, @Nullable Object> data(Report report) throws IOException {
        PlanGraph graph = PlanGraph.of(plan);
        Map<String, TaskResult> results = new HashMap<>();
        report.tasks().forEach(result -> results.put(result.id(), result));
        Timing timing = new Timing(graph, results, report.startedAt());
        Map<String, @Nullable Object> data = new LinkedHashMap<>();
        data.put("name", report.name());
        data.put("verdict", verdict(report.exitCode()));
        data.put("startedAt", report.startedAt());
        data.put("endedAt", report.endedAt());
        data.put("wall", report.summary().wall().toMillis());
        data.put("exitCode", report.exitCode());
        data.put("before", report.succeededBefore());
        data.put("states", STATES);
        List<String> groups = List.copyOf(plan.groups());
        data.put(
                "groups",
                groups.stream()
                        .map(group ->
                                Map.of("name", group, "limit", plan.limits().limit(group)))
                        .toList());
        putTasks(graph, results, timing, groups, data);
        putEdges(graph, data);
        putGraph(graph, results, data);
        data.put("critical", CriticalPath.of(graph, timing.starts, timing.ends));
        data.put("slowest", slowest(graph, timing));
        return data;
    }

    private static String verdict(int exitCode) {
        return switch (exitCode) {
            case 0 -> "succeeded";
            case 4 -> "degraded";
            case 130 -> "interrupted";
            default -> "did not succeed";
        };
    }

    /** The moments of a run in milliseconds since it began; -1 for one that is unknown or belongs to an earlier run. */
    private static final class Timing {
        private final long[] readies;
        private final long[] starts;
        private final long[] ends;

        Timing(PlanGraph graph, Map<String, TaskResult> results, Instant begin) {
            readies = new long[graph.size()];
            starts = new long[graph.size()];
            ends = new long[graph.size()];
            for (int task = 0; task < graph.size(); task++) {
                TaskResult result = results.get(graph.task(task).id());
                Instant endedAt = result == null ? null : result.endedAt();
                long end =
                        endedAt == null ? -1 : Duration.between(begin, endedAt).toMillis();
                ends[task] = Math.max(-1, end);
                if (result == null || end < 0) {
                    starts[task] = -1;
                    readies[task] = -1;
                    continue;
                }
                starts[task] = result.attempts() > 0 ? Math.max(0, end - result.runMillis()) : -1;
                readies[task] = Math.max(0, end - result.runMillis() - result.waitMillis());
            }
        }
    }

    private void putTasks(
            PlanGraph graph,
            Map<String, TaskResult> results,
            Timing timing,
            List<String> groups,
            Map<String, @Nullable Object> data) {
        Map<String, Integer> groupNumbers = new HashMap<>();
        groups.forEach(group -> groupNumbers.put(group, groupNumbers.size()));
        List<List<@Nullable Object>> tasks = new ArrayList<>(graph.size());
        List<List<Object>> outputs = new ArrayList<>();
        Map<Integer, Integer> outputOf = outputs(graph, results, outputs);
        for (int task = 0; task < graph.size(); task++) {
            TaskResult result = results.get(graph.task(task).id());
            tasks.add(Arrays.asList(
                    graph.task(task).id(),
                    groupNumbers.get(graph.task(task).group()),
                    state(result),
                    result == null ? null : result.exitCode(),
                    result == null ? 0 : result.attempts(),
                    timing.readies[task],
                    timing.starts[task],
                    timing.ends[task],
                    graph.task(task).command().shown(),
                    result == null ? null : result.error(),
                    outputOf.getOrDefault(task, -1),
                    result == null ? null : result.via()));
        }
        data.put("tasks", tasks);
        data.put("outputs", outputs);
    }

    private static int state(@Nullable TaskResult result) {
        return result == null
                ? STATES.size() - 1
                : STATES.indexOf(result.state().text());
    }

    /** Collects outputs of unsuccessful tasks first, because the total size is limited. */
    private static Map<Integer, Integer> outputs(
            PlanGraph graph, Map<String, TaskResult> results, List<List<Object>> outputs) {
        OutputTails tails = new OutputTails();
        Map<Integer, Integer> outputOf = new HashMap<>();
        for (boolean good : List.of(false, true)) {
            for (int task = 0; task < graph.size(); task++) {
                TaskResult result = results.get(graph.task(task).id());
                List<Object> tail = result == null || result.succeeded() != good ? null : tails.of(result);
                if (tail != null) {
                    outputOf.put(task, outputs.size());
                    outputs.add(tail);
                }
            }
        }
        return outputOf;
    }

    private static void putEdges(PlanGraph graph, Map<String, @Nullable Object> data) {
        List<Integer> edges = new ArrayList<>();
        Map<String, Integer> kinds = new LinkedHashMap<>();
        for (Edge edge : graph.edges()) {
            Integer kind = kinds.computeIfAbsent(edge.label(), label -> kinds.size());
            edges.addAll(List.of(edge.from(), edge.to(), kind));
        }
        data.put("edges", edges);
        Set<String> names = kinds.keySet();
        data.put("kinds", names);
    }

    private static void putGraph(PlanGraph graph, Map<String, TaskResult> results, Map<String, @Nullable Object> data) {
        Layers layers = Layers.of(graph);
        if (graph.size() > MAX_DRAWN) {
            data.put(
                    "layers",
                    LayerBoxes.of(
                            graph,
                            layers,
                            STATES.size(),
                            task -> state(results.get(graph.task(task).id()))));
            List<Integer> layerOf = new ArrayList<>(graph.size());
            for (int task = 0; task < graph.size(); task++) {
                layerOf.add(layers.layerOf(task));
            }
            data.put("layerOf", layerOf);
            return;
        }
        Placement places = Placement.of(graph, layers);
        List<Long> left = new ArrayList<>();
        List<Long> middle = new ArrayList<>();
        List<Long> width = new ArrayList<>();
        List<String> labels = new ArrayList<>();
        for (int task = 0; task < graph.size(); task++) {
            left.add(Math.round(places.left(task)));
            middle.add(Math.round(places.middle(task)));
            width.add(Math.round(places.width(task)));
            labels.add(places.label(task));
        }
        data.put(
                "graph",
                Map.of(
                        "width", Math.round(places.width()),
                        "height", Math.round(places.height()),
                        "x", left,
                        "y", middle,
                        "w", width,
                        "labels", labels));
    }

    private static List<Integer> slowest(PlanGraph graph, Timing timing) {
        List<Integer> ran = new ArrayList<>();
        for (int task = 0; task < graph.size(); task++) {
            if (timing.starts[task] >= 0) {
                ran.add(task);
            }
        }
        ran.sort(Comparator.comparingLong((Integer task) -> timing.ends[task] - timing.starts[task])
                .reversed());
        return ran.subList(0, Math.min(SLOWEST, ran.size()));
    }
}
