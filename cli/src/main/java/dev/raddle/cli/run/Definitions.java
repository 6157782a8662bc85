package dev.raddle.cli.run;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.TaskFlow;
import dev.raddle.cli.file.template.DeferredCommand;
import dev.raddle.cli.file.template.DeferredCondition;
import dev.raddle.cli.file.value.Secrets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The checksums of what tasks do. A success counts for another plan if that has the same checksum for the task.
 *
 * <p>A checksum covers the command with its values and its environment, the directory, the needs, the condition, the
 * fallback, and the checksums of all upstream tasks. So it also changes when something upstream changes. Limits, times,
 * priorities, texts for people and secrets are not part of it.
 */
final class Definitions {
    private Definitions() {}

    /** Returns the checksum of each task of a plan by its id. */
    static Map<String, String> of(Plan plan) {
        Map<String, PlannedTask> tasks = plan.byId();
        Map<String, String> found = new HashMap<>();
        Deque<String> open = new ArrayDeque<>(tasks.keySet()); // a stack: a task stays below its upstream tasks
        while (!open.isEmpty()) {
            PlannedTask task = Objects.requireNonNull(tasks.get(open.getFirst()));
            Set<String> upstreams = task.flow().upstreams();
            if (found.keySet().containsAll(upstreams)) {
                open.pop();
                found.computeIfAbsent(task.id(), id -> checksum(task, found, plan.secrets()));
            } else {
                upstreams.stream().filter(id -> !found.containsKey(id)).forEach(open::push);
            }
        }
        return found;
    }

    private static String checksum(PlannedTask task, Map<String, String> found, Secrets secrets) {
        TaskFlow flow = task.flow();
        List<@Nullable Object> parts = new ArrayList<>();
        parts.add(task.command().words().stream().map(secrets::mask).toList());
        parts.add(masked(task.command().values(), secrets));
        parts.add(masked(task.env(), secrets));
        parts.add(task.dir());
        parts.add(flow.deferred() == null ? null : flow.deferred().references());
        flow.needs().forEach(need -> parts.add(List.of(need.label(), need.ids())));
        flow.upstreams().forEach(id -> parts.add(found.get(id)));
        DeferredCondition when = flow.when();
        if (when != null) {
            parts.add(when.condition());
            parts.add(masked(when.row().values(when.condition().names()), secrets));
        }
        if (flow.fallback() instanceof TaskFlow.Fallback.Run(DeferredCommand command)) {
            parts.add(command.template());
            parts.add(masked(command.row().values(command.template().names()), secrets));
        } else {
            parts.add(secrets.mask(String.valueOf(flow.fallback())));
        }
        return OutputNames.checksum(Json.text(parts), 16);
    }

    private static Map<String, String> masked(Map<String, String> values, Secrets secrets) {
        Map<String, String> masked = new TreeMap<>(values);
        masked.replaceAll((name, value) -> secrets.mask(value));
        return masked;
    }
}
