package dev.raddle.cli.file;

import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * An entry of {@code tasks} that becomes a task with the values of a row.
 *
 * @param command null if the file has none that can be read, which is a problem of the file
 */
record TaskTemplate(
        Located<Template> id,
        Located<Template> group,
        @Nullable Located<CommandTemplate> command,
        Map<String, Located<Template>> env,
        Located<Template> dir,
        @Nullable Duration timeout,
        Retry retry,
        int priority,
        int cost,
        Ties ties) {

    /** What ties the task to others. */
    record Ties(
            List<NeedReader.Clause> needs,
            @Nullable Located<Condition> when,
            @Nullable Located<Template> defaultValue,
            @Nullable Located<CommandTemplate> fallback,
            @Nullable Located<Template> fallbackValue,
            @Nullable Located<CommandTemplate> undo,
            boolean essential) {

        List<Need> needs(Row row) throws UnfitRowException {
            List<Need> filled = new ArrayList<>(needs.size());
            for (NeedReader.Clause clause : needs) {
                filled.add(clause.fill(row));
            }
            return filled;
        }
    }

    PlannedTask fill(Row row, Path directory, Map<String, String> usualEnv) throws UnfitRowException {
        Late run = late(Objects.requireNonNull(command), row, usualEnv);
        Late.Filled shown = run.shown();
        return new PlannedTask(
                id.value().fill(row),
                group.value().fill(row),
                shown.command(),
                Map.copyOf(shown.env()),
                directory.resolve(dir.value().fill(row)).normalize(),
                timeout,
                retry,
                priority,
                cost,
                flow(run, row, usualEnv));
    }

    private Late late(Located<CommandTemplate> template, Row row, Map<String, String> usualEnv) {
        Map<String, Template> variables = new LinkedHashMap<>();
        usualEnv.forEach((name, value) -> variables.put(name, Template.literal(value)));
        env.forEach((name, value) -> variables.put(name, value.value()));
        return new Late(template.value(), variables, row);
    }

    private TaskFlow flow(Late run, Row row, Map<String, String> usualEnv) throws UnfitRowException {
        Located<Condition> condition = ties.when;
        return new TaskFlow(
                ties.needs(row),
                condition == null ? null : new When(condition.value(), row),
                run.references().isEmpty() ? null : run,
                ties.defaultValue == null ? null : ties.defaultValue.value().fill(row),
                fallback(row, usualEnv),
                ties.undo == null ? null : late(ties.undo, row, usualEnv),
                ties.essential);
    }

    private TaskFlow.@Nullable Fallback fallback(Row row, Map<String, String> usualEnv) throws UnfitRowException {
        if (ties.fallback != null) {
            return new TaskFlow.Fallback.Run(late(ties.fallback, row, usualEnv));
        }
        return ties.fallbackValue == null
                ? null
                : new TaskFlow.Fallback.Value(ties.fallbackValue.value().fill(row));
    }
}
