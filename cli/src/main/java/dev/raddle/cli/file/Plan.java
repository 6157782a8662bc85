package dev.raddle.cli.file;

import dev.raddle.cli.file.value.Secrets;
import dev.raddle.cli.file.value.Spelling;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The content of a run file.
 *
 * @param name the name of the run
 * @param timeout how long the run may take, or null
 * @param tasks the tasks in the order of the file
 * @param inputs the data files that were read, by their names in the run file
 * @param results the tasks whose results are requested; empty if the file does not name any
 * @param secrets the values that are neither printed nor kept
 */
public record Plan(
        String name,
        Limits limits,
        @Nullable Duration timeout,
        List<PlannedTask> tasks,
        Map<String, byte[]> inputs,
        List<String> results,
        Secrets secrets) {

    /** Returns whether any task depends on another or has a rule that only a flow supports. */
    public boolean isFlow() {
        return tasks.stream().anyMatch(task -> !task.flow().isNone());
    }

    /** Returns the number of edges: pairs of a task and one that it needs. */
    public int edges() {
        return tasks.stream().mapToInt(task -> task.flow().upstreams().size()).sum();
    }

    /** Returns these tasks and all their direct and indirect upstream tasks. */
    public Set<String> closure(Set<String> targets) {
        Map<String, PlannedTask> byId = byId();
        Set<String> found = new LinkedHashSet<>(targets);
        Deque<String> open = new ArrayDeque<>(targets);
        while (!open.isEmpty()) {
            PlannedTask task = byId.get(open.remove());
            if (task != null) {
                task.flow().upstreams().stream().filter(found::add).forEach(open::add);
            }
        }
        return found;
    }

    /** Returns the tasks by id, in the order of the file. */
    public Map<String, PlannedTask> byId() {
        Map<String, PlannedTask> byId = new LinkedHashMap<>();
        tasks.forEach(task -> byId.put(task.id(), task));
        return byId;
    }

    /** Returns the direct downstream tasks of each task that has any, in the order of the file. */
    public Map<String, List<PlannedTask>> consumers() {
        Map<String, List<PlannedTask>> consumers = new HashMap<>();
        for (PlannedTask task : tasks) {
            for (String upstream : task.flow().upstreams()) {
                consumers.computeIfAbsent(upstream, id -> new ArrayList<>()).add(task);
            }
        }
        return consumers;
    }

    /** Returns the text "; did you mean …?" with the id nearest to an unknown one, or an empty text. */
    public String hint(String unknownId) {
        return Spelling.hint(unknownId, tasks.stream().map(PlannedTask::id).toList());
    }

    /** Returns the groups that have tasks, in the order of their first tasks. */
    public Set<String> groups() {
        Set<String> groups = new LinkedHashSet<>();
        tasks.forEach(task -> groups.add(task.group()));
        return groups;
    }
}
