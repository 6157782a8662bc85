package dev.raddle.cli.file;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A task of which everything is known before it runs. */
public record PlannedTask(
        String id,
        String group,
        Command command,
        Map<String, String> env,
        Path dir,
        @Nullable Duration timeout,
        Retry retry,
        int priority,
        int cost) {}
