package dev.raddle.cli.file;

import dev.raddle.cli.file.template.Reference;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Spelling;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Checks that the needs of tasks form a valid graph: the ids exist, no task occurs twice in a task's needs, there is no
 * cycle, and no task reads a value of a task that may not have run. Tasks with other problems are added too, so that
 * one mistake is not reported twice. For one thread.
 */
final class GraphCheck {
    /** A value that a task reads from another, with its location. */
    record Use(Reference reference, String what, Location at) {}

    private static final int MAX_IDS = 40;

    private record Declared(String id, List<Need> needs, List<Use> uses) {}

    private final Map<String, Declared> tasks = new LinkedHashMap<>();
    private final Problems problems;
    private boolean incomplete;

    GraphCheck(Problems problems) {
        this.problems = problems;
    }

    /** Adds a task; of several tasks with the same id the first counts. */
    void add(String id, List<Need> needs, List<Use> uses) {
        tasks.putIfAbsent(id, new Declared(id, needs, uses));
    }

    /** Records that there are tasks with unknown ids. */
    void markIncomplete() {
        incomplete = true;
    }

    void check(List<Located<String>> results) {
        results(results);
        tasks.values().forEach(this::needs);
        cycles();
        tasks.values().forEach(this::uses);
    }

    private void results(List<Located<String>> results) {
        Set<String> seen = new HashSet<>();
        for (Located<String> result : results) {
            requireKnown(result.value(), "results", result.at());
            if (!seen.add(result.value())) {
                problems.add(result.at(), "results must name a task once, " + quoted(result.value()) + " occurs twice");
            }
        }
    }

    private boolean requireKnown(String id, String what, Location at) {
        if (!tasks.containsKey(id) && !incomplete) {
            problems.add(
                    at, what + " must name tasks of this file, was " + quoted(id) + Spelling.hint(id, tasks.keySet()));
        }
        return tasks.containsKey(id);
    }

    private static String quoted(String id) {
        return "\"" + Printable.oneLine(id) + "\"";
    }

    private void needs(Declared task) {
        Set<String> seen = new HashSet<>();
        for (Need need : task.needs) {
            for (int i = 0; i < need.ids().size(); i++) {
                String id = need.ids().get(i);
                Location at = need.places().get(i);
                if (id.equals(task.id)) {
                    problems.add(at, "task " + quoted(id) + " must not need itself; remove it from its needs");
                } else if (requireKnown(id, "the needs of task " + quoted(task.id), at) && !seen.add(id)) {
                    problems.add(
                            at,
                            "the needs of task " + quoted(task.id) + " must name a task once, " + quoted(id)
                                    + " occurs twice");
                }
            }
        }
    }

    /** A step of the search: a task and the number of its edges that have been followed. */
    private static final class Step {
        private final String id;
        private final List<Edge> edges;
        private int next;

        Step(String id, List<Edge> edges) {
            this.id = id;
            this.edges = edges;
        }
    }

    private record Edge(String to, Location at) {}

    /** Reports each cycle that shares no task with a cycle reported before. */
    private void cycles() {
        Set<String> done = new HashSet<>();
        Set<String> named = new HashSet<>();
        for (String start : tasks.keySet()) {
            if (!done.contains(start)) {
                search(start, done, named);
            }
        }
    }

    private void search(String start, Set<String> done, Set<String> named) {
        Deque<Step> path = new ArrayDeque<>();
        Map<String, Step> onPath = new HashMap<>();
        enter(start, path, onPath);
        while (!path.isEmpty()) {
            Step step = path.getLast();
            if (step.next == step.edges.size()) {
                path.removeLast();
                onPath.remove(step.id);
                done.add(step.id);
                continue;
            }
            Edge edge = step.edges.get(step.next++);
            if (onPath.containsKey(edge.to)) {
                name(path, edge, named);
            } else if (!done.contains(edge.to)) {
                enter(edge.to, path, onPath);
            }
        }
    }

    private void enter(String id, Deque<Step> path, Map<String, Step> onPath) {
        Step step = new Step(id, edges(id));
        path.addLast(step);
        onPath.put(id, step);
    }

    private List<Edge> edges(String id) {
        List<Edge> edges = new ArrayList<>();
        Declared task = tasks.get(id);
        for (Need need : task == null ? List.<Need>of() : task.needs) {
            for (int i = 0; i < need.ids().size(); i++) {
                String to = need.ids().get(i);
                if (tasks.containsKey(to) && !to.equals(id)) {
                    edges.add(new Edge(to, need.places().get(i)));
                }
            }
        }
        return edges;
    }

    private void name(Deque<Step> path, Edge closing, Set<String> named) {
        List<String> ids = new ArrayList<>();
        boolean inside = false;
        for (Step step : path) {
            inside |= step.id.equals(closing.to);
            if (inside) {
                ids.add(step.id);
            }
        }
        if (ids.stream().anyMatch(named::contains)) {
            return;
        }
        named.addAll(ids);
        ids.add(closing.to);
        problems.add(
                closing.at,
                "the needs of tasks must not form a cycle, was "
                        + path(ids)
                        + " (each needs the next); remove one of these needs");
    }

    private static String path(List<String> ids) {
        List<String> shown =
                new ArrayList<>(ids.stream().map(Printable::oneLine).toList());
        if (shown.size() > MAX_IDS) {
            List<String> middle = shown.subList(MAX_IDS / 2, shown.size() - MAX_IDS / 2);
            String more = "(" + middle.size() + " more)";
            middle.clear();
            shown.add(MAX_IDS / 2, more);
        }
        return String.join(" -> ", shown);
    }

    private void uses(Declared task) {
        Set<String> ancestors = null;
        Set<String> direct = new LinkedHashSet<>();
        task.needs.forEach(need -> direct.addAll(need.ids()));
        for (Use use : task.uses) {
            String id = subject(use, task, direct);
            if (id == null || direct.contains(id) || (id.equals(task.id) && use.what.equals("undo"))) {
                continue;
            }
            if (!tasks.containsKey(id)) {
                if (!incomplete) {
                    problems.add(
                            use.at,
                            name(use) + " must name a task of this file, was " + quoted(id)
                                    + Spelling.hint(id, tasks.keySet()));
                }
                continue;
            }
            ancestors = ancestors == null ? ancestors(direct) : ancestors;
            if (!ancestors.contains(id)) {
                problems.add(
                        use.at,
                        name(use) + " must name a task that is upstream of " + quoted(task.id) + ", " + quoted(id)
                                + " is not; add it to its needs");
            }
        }
    }

    private static String name(Use use) {
        return "${" + Printable.oneLine(use.reference.name()) + "} in " + use.what;
    }

    /** Returns the task that a reference stands for, or null if it is invalid, which is reported elsewhere. */
    private @Nullable String subject(Use use, Declared task, Set<String> direct) {
        String id = use.reference.subject();
        if (!id.equals(Reference.ONLY_UPSTREAM) || tasks.containsKey(id)) {
            return id;
        }
        boolean choice = task.needs.size() == 1 && task.needs.getFirst().kind() == Need.Kind.ANY;
        if (direct.size() == 1 || choice) {
            return direct.iterator().next();
        }
        problems.add(
                use.at,
                name(use) + " stands for the only upstream task, or the winner of the only any, and there are "
                        + direct.size() + " upstream tasks; write the id of the one that is meant");
        return null;
    }

    private Set<String> ancestors(Set<String> direct) {
        Set<String> found = new HashSet<>(direct);
        Deque<String> open = new ArrayDeque<>(direct);
        while (!open.isEmpty()) {
            Declared task = tasks.get(open.removeLast());
            for (Need need : task == null ? List.<Need>of() : task.needs) {
                need.ids().stream().filter(found::add).forEach(open::add);
            }
        }
        return found;
    }
}
