package dev.raddle.cli.file;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A task of which everything is known before it runs, but what it reads of others.
 *
 * @param command as far as it is known: a reference stands for itself
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
        TaskFlow flow) {

    /** A task that stands alone. */
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
        this(id, group, command, env, dir, timeout, retry, priority, cost, TaskFlow.NONE);
    }

    /** The same task with another command in its place. */
    public PlannedTask running(Late.Filled filled) {
        return new PlannedTask(
                id, group, filled.command(), filled.env(), dir, timeout, retry, priority, cost, TaskFlow.NONE);
    }
}
