package dev.raddle.cli.graph;

import dev.raddle.cli.file.Need;
import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/** The tasks of a plan, numbered in the order of the file, and the edges between them. Immutable. */
public final class PlanGraph {
    private final String name;
    private final List<PlannedTask> tasks;
    private final List<Edge> edges;
    private final List<List<Edge>> into;
    private final List<List<Edge>> outOf;

    /**
     * An edge: one task waits for another, or may read its output.
     *
     * @param from the number of the upstream task
     * @param to the number of the task that has the need
     * @param label the label of the need
     */
    public record Edge(int from, int to, String label) {
        private static final String MUST = "must";

        /** Returns whether it is a plain need. */
        public boolean isMust() {
            return label.equals(MUST);
        }
    }

    private PlanGraph(String name, List<PlannedTask> tasks, List<Edge> edges) {
        this.name = name;
        this.tasks = tasks;
        this.edges = List.copyOf(edges);
        this.into = new ArrayList<>(tasks.size());
        this.outOf = new ArrayList<>(tasks.size());
        for (int i = 0; i < tasks.size(); i++) {
            into.add(new ArrayList<>());
            outOf.add(new ArrayList<>());
        }
        for (Edge edge : edges) {
            into.get(edge.to).add(edge);
            outOf.get(edge.from).add(edge);
        }
    }

    /** Returns the graph of a valid plan. */
    public static PlanGraph of(Plan plan) {
        Map<String, Integer> numbers = new HashMap<>();
        for (PlannedTask task : plan.tasks()) {
            numbers.put(task.id(), numbers.size());
        }
        List<Edge> edges = new ArrayList<>();
        for (PlannedTask task : plan.tasks()) {
            int to = Objects.requireNonNull(numbers.get(task.id()));
            for (Need need : task.flow().needs()) {
                for (String id : need.ids()) {
                    edges.add(new Edge(Objects.requireNonNull(numbers.get(id)), to, need.label()));
                }
            }
        }
        return new PlanGraph(plan.name(), plan.tasks(), edges);
    }

    /** Returns the name of the plan. */
    public String name() {
        return name;
    }

    /** Returns the number of tasks. */
    public int size() {
        return tasks.size();
    }

    /** Returns the task with a number. */
    public PlannedTask task(int number) {
        return tasks.get(number);
    }

    /** Returns all edges, in the order of the file. */
    public List<Edge> edges() {
        return edges;
    }

    /** Returns the edges from upstream tasks to this one. */
    public List<Edge> into(int task) {
        return into.get(task);
    }

    /** Returns the edges from this task to those that need it. */
    public List<Edge> outOf(int task) {
        return outOf.get(task);
    }
}
