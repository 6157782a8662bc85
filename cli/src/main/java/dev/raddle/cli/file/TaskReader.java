package dev.raddle.cli.file;

import dev.raddle.cli.file.data.DataReader;
import dev.raddle.cli.file.data.InvalidRowException;
import dev.raddle.cli.file.data.Row;
import dev.raddle.cli.file.data.Rows;
import dev.raddle.cli.file.template.CommandTemplate;
import dev.raddle.cli.file.template.Condition;
import dev.raddle.cli.file.template.Reference;
import dev.raddle.cli.file.template.Template;
import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Spelling;
import java.io.IOException;
import java.nio.charset.Charset;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.MappingNode;
import org.snakeyaml.engine.v2.nodes.Node;
import org.snakeyaml.engine.v2.nodes.ScalarNode;

/** Reads the entries of {@code tasks}: one task each, or one per row with {@code forEach}. For one thread. */
final class TaskReader {
    private static final String DEFAULT_GROUP = "default";

    private final Path directory;
    private final DataReader data;
    private final Defaults defaults;
    private final Limits limits;
    private final Params params;
    private final GraphCheck graph;
    private final Charset charset;
    private final Problems problems;
    private final Map<String, Location> takenIds = new HashMap<>();

    TaskReader(
            Path directory,
            DataReader data,
            Defaults defaults,
            Limits limits,
            Params params,
            GraphCheck graph,
            Charset charset,
            Problems problems) {
        this.directory = directory;
        this.data = data;
        this.defaults = defaults;
        this.limits = limits;
        this.params = params;
        this.graph = graph;
        this.charset = charset;
        this.problems = problems;
    }

    List<PlannedTask> read(Node node) {
        int before = problems.count();
        Section section = new Section(node, "task", Keys.TASK, problems);
        Node forEach = section.get("forEach");
        Rows rows = forEach == null ? null : data.rows(forEach);
        TemplateReader reader =
                new TemplateReader(problems, rows == null ? null : Row.placeholders(rows.names()), params);
        TaskTemplate template = template(section, reader);
        if (template != null && rows != null) {
            check(template, rows);
        }
        Row only = new Row(section.at(), 1, Map.of());
        List<Row> filled = withParams(rows == null ? List.of(only) : rows.rows());
        if (template == null) {
            if (isText(section.get("id"))) { // otherwise no other task can name it
                graph.markIncomplete();
            }
            return List.of();
        }
        if (problems.count() > before) {
            filled.forEach(row -> declare(template, row));
            return List.of();
        }
        return tasks(template, filled);
    }

    private static boolean isText(@Nullable Node id) {
        return id instanceof ScalarNode scalar && !scalar.getValue().isBlank();
    }

    private List<Row> withParams(List<Row> rows) {
        Map<String, String> values = params.values();
        return values.isEmpty()
                ? rows
                : rows.stream().map(row -> row.with(values)).toList();
    }

    /** Adds a task with a problem to the graph check. */
    private void declare(TaskTemplate template, Row row) {
        try {
            graph.add(template.id().value().fill(row), template.relations().needs(row), List.of());
        } catch (InvalidRowException e) {
            graph.markIncomplete();
        }
    }

    private static List<GraphCheck.Use> uses(TaskTemplate template, TaskFlow flow) {
        TaskTemplate.Relations relations = template.relations();
        List<GraphCheck.Use> uses = new ArrayList<>();
        if (flow.deferred() != null && template.command() != null) {
            add(flow.deferred().references(), template.command(), uses);
        }
        if (flow.when() != null && relations.when() != null) {
            add(flow.when().references(), relations.when(), uses);
        }
        if (flow.fallback() instanceof TaskFlow.Fallback.Run run && relations.fallback() != null) {
            add(run.command().references(), relations.fallback(), uses);
        }
        if (flow.undo() != null && relations.undo() != null) {
            add(flow.undo().references(), relations.undo(), uses);
        }
        return uses;
    }

    private static void add(Set<Reference> references, Located<?> where, List<GraphCheck.Use> uses) {
        references.forEach(reference -> uses.add(new GraphCheck.Use(reference, where.what(), where.at())));
    }

    private @Nullable TaskTemplate template(Section section, TemplateReader reader) {
        Located<Template> id = reader.nonEmpty(section.required("id"), "id");
        Located<CommandTemplate> command = reader.command(section.required("run"), "run");
        Located<Template> group = reader.nonEmpty(section.get("group"), "group");
        Located<Template> dir = reader.nonEmpty(section.get("dir"), "dir");
        Map<String, Located<Template>> env = env(section, reader);
        Duration timeout = section.duration("timeout");
        Retry retry = new RetryReader(problems).read(section.get("retry"));
        Integer priority = section.wholeNumber("priority", -1_000_000, 1_000_000);
        Integer cost = section.wholeNumber("cost", 1);
        TaskTemplate.Relations relations = relations(section, reader);
        Located<Template> desc = reader.nonEmpty(section.get("desc"), "desc");
        if (id == null) {
            return null;
        }
        Retry defaultRetry = defaults.retry() == null ? Retry.NONE : defaults.retry();
        return new TaskTemplate(
                id,
                group == null ? fixed(DEFAULT_GROUP, "group", section) : group,
                command,
                env,
                dir == null ? fixed(defaults.dir() == null ? "" : defaults.dir(), "dir", section) : dir,
                timeout == null ? defaults.timeout() : timeout,
                retry == null ? defaultRetry : retry,
                priority == null ? 0 : priority,
                cost == null ? 1 : cost,
                relations,
                params.secrets(),
                desc);
    }

    private TaskTemplate.Relations relations(Section section, TemplateReader reader) {
        Node fallback = section.get("fallback");
        Located<Template> fallbackValue = null;
        if (fallback instanceof MappingNode) {
            Section value = new Section(fallback, "fallback", Keys.FALLBACK, problems);
            fallbackValue = reader.early(value.required("value"), "the value of fallback");
        }
        return new TaskTemplate.Relations(
                new NeedReader(problems, reader).read(section.get("needs")),
                reader.condition(section.get("when")),
                fallback instanceof MappingNode ? null : reader.command(fallback, "fallback"),
                fallbackValue,
                reader.command(section.get("undo"), "undo"),
                section.bool("essential"));
    }

    private Map<String, Located<Template>> env(Section section, TemplateReader reader) {
        Map<String, Located<Template>> env = new LinkedHashMap<>();
        Node node = section.get("env");
        if (node != null) {
            new EnvReader(problems).read(node).forEach((name, value) -> {
                Located<Template> text = reader.text(value, "env " + Printable.oneLine(name));
                if (text != null) {
                    env.put(name, text);
                }
            });
        }
        return env;
    }

    /** Returns a text without placeholders. */
    private static Located<Template> fixed(String text, String what, Section section) {
        return new Located<>(Template.literal(text), what, section.at());
    }

    private void check(TaskTemplate template, Rows rows) {
        if (rows.rows().size() > 1 && template.id().value().names().isEmpty()) {
            problems.add(
                    template.id().at(),
                    "the id of a task with forEach must contain a placeholder, such as ${n}, so that every task has its"
                            + " own");
        }
        if (rows.rows().isEmpty()) {
            return;
        }
        Set<String> known = Row.placeholders(rows.names());
        check(template.id(), Template::names, known, rows);
        check(template.group(), Template::names, known, rows);
        check(template.command(), CommandTemplate::names, known, rows);
        check(template.dir(), Template::names, known, rows);
        check(template.desc(), Template::names, known, rows);
        template.env().values().forEach(text -> check(text, Template::names, known, rows));
        TaskTemplate.Relations relations = template.relations();
        relations.needs().forEach(clause -> clause.ids().forEach(id -> check(id, Template::names, known, rows)));
        check(relations.when(), Condition::names, known, rows);
        check(relations.fallback(), CommandTemplate::names, known, rows);
        check(relations.fallbackValue(), Template::names, known, rows);
        check(relations.undo(), CommandTemplate::names, known, rows);
    }

    private <T> void check(@Nullable Located<T> where, Function<T, Set<String>> names, Set<String> known, Rows rows) {
        if (where == null) {
            return;
        }
        for (String name : names.apply(where.value())) {
            if (!known.contains(name) && Reference.of(name).isEmpty()) {
                problems.add(
                        where.at(),
                        "unknown placeholder ${" + Printable.oneLine(name) + "} in " + where.what()
                                + Spelling.hint(name, known) + " (known here: " + String.join(", ", rows.names())
                                + (rows.names().contains(Row.LINE) ? ", host" : "") + ", n; write $${"
                                + Printable.oneLine(name)
                                + "} for the shell's own variable)");
            }
        }
    }

    private List<PlannedTask> tasks(TaskTemplate template, List<Row> rows) {
        List<PlannedTask> tasks = new ArrayList<>(rows.size());
        for (Row row : rows) {
            try {
                PlannedTask task = template.fill(row, directory, defaults.env());
                graph.add(task.id(), task.flow().needs(), uses(template, task.flow()));
                if (checkTask(task, template, row.at())) {
                    tasks.add(task);
                }
            } catch (InvalidRowException e) {
                problems.add(row.at(), String.valueOf(e.getMessage()));
                declare(template, row);
            } catch (InvalidPathException e) {
                problems.add(
                        row.at(),
                        "dir must be a path that this system and its locale support, was \""
                                + Printable.oneLine(e.getInput()) + "\": " + e.getReason() + "; set LC_ALL=C.UTF-8");
            }
        }
        return tasks;
    }

    private boolean checkTask(PlannedTask task, TaskTemplate template, Location at) {
        int before = problems.count();
        String name = "task \"" + Printable.oneLine(task.id()) + "\"";
        if (task.id().isBlank()) {
            problems.add(at, "the id of a task must not be empty");
        }
        if (task.group().isBlank()) {
            problems.add(at, "the group of " + name + " must not be empty");
        }
        Location taken = takenIds.putIfAbsent(task.id(), at);
        if (taken != null) {
            problems.add(
                    at,
                    "the id of a task must be unique, \"" + Printable.oneLine(task.id()) + "\" is already used at "
                            + taken);
        }
        int maxPermits = Math.min(limits.total(), limits.limit(task.group()));
        if (task.cost() > maxPermits) {
            problems.add(
                    template.id().at(),
                    "the cost of " + name + " must be at most what group \"" + Printable.oneLine(task.group())
                            + "\" may run at once, " + maxPermits + ", was " + task.cost());
        }
        try {
            List<String> texts = new ArrayList<>(task.command().words());
            texts.addAll(task.command().values().values());
            texts.addAll(task.env().values());
            LocaleText.check(texts, charset);
        } catch (IOException e) {
            problems.add(at, name + " cannot be started: " + Printable.oneLine(String.valueOf(e.getMessage())));
        }
        return problems.count() == before;
    }
}
