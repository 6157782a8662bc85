package dev.raddle.cli.file;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Everything that a run file asks for.
 *
 * @param name the name of the run
 * @param tasks in the order of the file
 * @param inputs the data files that were read, by the name that the run file gives them
 * @param outputs the tasks whose results are wanted; empty if the file says nothing of that
 * @param params the values of the params by name
 */
public record Plan(
        String name,
        Limits limits,
        List<PlannedTask> tasks,
        Map<String, byte[]> inputs,
        List<String> outputs,
        Map<String, String> params) {

    /** Whether any task depends on another or has a rule that only a flow knows. */
    public boolean isFlow() {
        return tasks.stream().anyMatch(task -> !task.flow().isNone());
    }

    /** How many edges there are: pairs of a task and one that it needs. */
    public int edges() {
        return tasks.stream().mapToInt(task -> task.flow().upstreams().size()).sum();
    }

    /** These tasks and all that they need, near or far. */
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

    /** The tasks by id, in the order of the file. */
    public Map<String, PlannedTask> byId() {
        Map<String, PlannedTask> byId = new LinkedHashMap<>();
        tasks.forEach(task -> byId.put(task.id(), task));
        return byId;
    }

    /** The text "; did you mean …?" with the id nearest to one that there is not, or nothing. */
    public String hint(String unknownId) {
        return Spelling.hint(unknownId, tasks.stream().map(PlannedTask::id).toList());
    }

    /** The groups that have tasks, in the order of their first. */
    public Set<String> groups() {
        Set<String> groups = new LinkedHashSet<>();
        tasks.forEach(task -> groups.add(task.group()));
        return groups;
    }
}
