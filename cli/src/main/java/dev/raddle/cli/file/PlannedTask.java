package dev.raddle.cli.file;

import dev.raddle.cli.file.template.Command;
import dev.raddle.cli.file.template.DeferredCommand;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A task of which everything is known before it runs, except the values it reads from other tasks.
 *
 * @param command the command as far as it is known: a reference stands for itself
 */
public record PlannedTask(
        String id,
        String group,
        Command command,
        Map<String, String> env,
        Path dir,
        @Nullable Duration timeout,
        Retry retry,
        int priority,
        int cost,
        TaskFlow flow,
        @Nullable String desc) {

    /** Creates a task without dependencies and description. */
    public PlannedTask(
            String id,
            String group,
            Command command,
            Map<String, String> env,
            Path dir,
            @Nullable Duration timeout,
            Retry retry,
            int priority,
            int cost) {
        this(id, group, command, env, dir, timeout, retry, priority, cost, TaskFlow.NONE, null);
    }

    /** Returns the same task with another command. */
    public PlannedTask running(DeferredCommand.Filled filled) {
        return new PlannedTask(
                id, group, filled.command(), filled.env(), dir, timeout, retry, priority, cost, TaskFlow.NONE, desc);
    }
}
