package dev.raddle.cli.file;

import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** An entry of {@code tasks} that becomes a task with the values of a row. */
record TaskTemplate(
        Located<Template> id,
        Located<Template> group,
        Located<CommandTemplate> command,
        Map<String, Located<Template>> env,
        Located<Template> dir,
        @Nullable Duration timeout,
        Retry retry,
        int priority,
        int cost) {

    PlannedTask fill(Row row, Path directory, Map<String, String> usualEnv) throws UnfitRowException {
        Map<String, String> variables = new LinkedHashMap<>(usualEnv);
        for (Map.Entry<String, Located<Template>> variable : env.entrySet()) {
            variables.put(variable.getKey(), variable.getValue().value().fill(row));
        }
        return new PlannedTask(
                id.value().fill(row),
                group.value().fill(row),
                command.value().fill(row),
                Map.copyOf(variables),
                directory.resolve(dir.value().fill(row)).normalize(),
                timeout,
                retry,
                priority,
                cost);
    }
}
