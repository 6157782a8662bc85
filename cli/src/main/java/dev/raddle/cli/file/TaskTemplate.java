package dev.raddle.cli.file;

import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.Condition;
import dev.raddle.cli.file.template.DeferredCommand;
import dev.raddle.cli.file.template.DeferredCondition;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.Secrets;
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
 * @param command the command, or null if the file has no valid one, which is a problem of the file
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
        Relations relations,
        Secrets secrets,
        @Nullable Located<Template> desc) {

    /** The relations of the task to other tasks. */
    record Relations(
            List<NeedReader.Clause> needs,
            @Nullable Located<Condition> when,
            @Nullable Located<CommandTemplate> fallback,
            @Nullable Located<Template> fallbackValue,
            @Nullable Located<CommandTemplate> undo,
            boolean essential) {

        List<Need> needs(Row row) throws InvalidRowException {
            List<Need> filled = new ArrayList<>(needs.size());
            for (NeedReader.Clause clause : needs) {
                filled.add(clause.fill(row));
            }
            return filled;
        }
    }

    PlannedTask fill(Row row, Path directory, Map<String, String> defaultEnv) throws InvalidRowException {
        DeferredCommand run = deferred(Objects.requireNonNull(command), row, defaultEnv);
        DeferredCommand.Filled shown = run.shown();
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
                flow(run, row, defaultEnv),
                desc == null ? null : desc.value().fill(row));
    }

    private DeferredCommand deferred(Located<CommandTemplate> template, Row row, Map<String, String> defaultEnv) {
        Map<String, Template> variables = new LinkedHashMap<>();
        defaultEnv.forEach((name, value) -> variables.put(name, Template.literal(value)));
        env.forEach((name, value) -> variables.put(name, value.value()));
        return new DeferredCommand(template.value(), variables, row, secrets);
    }

    private TaskFlow flow(DeferredCommand run, Row row, Map<String, String> defaultEnv) throws InvalidRowException {
        Located<Condition> condition = relations.when;
        return new TaskFlow(
                relations.needs(row),
                condition == null ? null : new DeferredCondition(condition.value(), row),
                run.references().isEmpty() ? null : run,
                fallback(row, defaultEnv),
                relations.undo == null ? null : deferred(relations.undo, row, defaultEnv),
                relations.essential);
    }

    private TaskFlow.@Nullable Fallback fallback(Row row, Map<String, String> defaultEnv) throws InvalidRowException {
        if (relations.fallback != null) {
            return new TaskFlow.Fallback.Run(deferred(relations.fallback, row, defaultEnv));
        }
        return relations.fallbackValue == null
                ? null
                : new TaskFlow.Fallback.Value(relations.fallbackValue.value().fill(row));
    }
}
