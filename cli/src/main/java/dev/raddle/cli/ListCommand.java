package dev.raddle.cli;

import dev.raddle.cli.file.Plan;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Columns;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.run.Json;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Lists the tasks of a run file. */
@Command(
        name = "list",
        description = "Lists the tasks of a run file with their groups and descriptions; runs nothing.",
        footer = {"", "Examples:", "  raddle list", "  raddle list --ids build.yaml"})
final class ListCommand extends Subcommand {
    @Mixin
    private FileArguments arguments = new FileArguments();

    @ArgGroup
    private Form form = new Form();

    /** What to print of each task. */
    static final class Form {
        @Option(names = "--json", description = "Print a line of JSON for each task.")
        private boolean json;

        @Option(names = "--ids", description = "Print only the ids, each on a line.")
        private boolean ids;
    }

    @Override
    public Integer call() {
        return arguments.print(spec, (plan, file) -> text(plan));
    }

    private String text(Plan plan) {
        if (!form.json && !form.ids) {
            return Columns.text(plan.tasks().stream().map(ListCommand::row).toList());
        }
        return plan.tasks().stream()
                .map(task -> (form.json ? Json.text(fields(task)) : Printable.oneLine(task.id())) + "\n")
                .collect(Collectors.joining());
    }

    private static List<String> row(PlannedTask task) {
        String desc = Objects.requireNonNullElse(task.desc(), "");
        return List.of(
                Printable.oneLine(task.id()), "[" + Printable.oneLine(task.group()) + "]", Printable.oneLine(desc));
    }

    private static Map<String, @Nullable Object> fields(PlannedTask task) {
        Map<String, @Nullable Object> fields = new LinkedHashMap<>();
        fields.put("id", task.id());
        fields.put("group", task.group());
        fields.put("desc", task.desc());
        fields.put("needs", List.copyOf(task.flow().upstreams()));
        return fields;
    }
}
