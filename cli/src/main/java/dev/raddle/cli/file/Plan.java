package dev.raddle.cli.file;

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
 */
public record Plan(String name, Limits limits, List<PlannedTask> tasks, Map<String, byte[]> inputs) {

    /** The groups that have tasks, in the order of their first. */
    public Set<String> groups() {
        Set<String> groups = new LinkedHashSet<>();
        tasks.forEach(task -> groups.add(task.group()));
        return groups;
    }
}
