package dev.raddle.cli.file;

import dev.raddle.cli.file.data.DataReader;
import dev.raddle.cli.file.data.InputFiles;
import dev.raddle.cli.file.value.Documents;
import dev.raddle.cli.file.value.FileSize;
import dev.raddle.cli.file.value.InvalidFileException;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Secrets;
import dev.raddle.cli.file.value.Utf8;
import dev.raddle.cli.file.value.Values;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Reads a run file and its data files and creates the plan. For one thread and one file.
 *
 * {@snippet :
 * Plan plan = new PlanReader("checks.yaml", Path.of(""), name -> Files.readAllBytes(Path.of(name))).read(text);
 * }
 */
public final class PlanReader {
    private final String file;
    private final Path directory;
    private final InputFiles inputs;
    private final Problems problems = new Problems();
    private final Values values = new Values(problems);
    private final Params params = new Params(problems);
    private Map<String, String> given = Map.of();
    private boolean requireValues = true;
    private Charset charset = StandardCharsets.UTF_8;
    private Map<String, String> environment = Map.of();
    private @Nullable Integer jobs;
    private @Nullable Duration timeout;

    /**
     * Creates a reader of one file.
     *
     * @param file the name of the file, for messages
     * @param directory the directory of the file, in which commands run and to which paths in the file are relative
     * @param inputs the data files
     */
    public PlanReader(String file, Path directory, InputFiles inputs) {
        this.file = file;
        this.directory = directory;
        this.inputs = inputs;
    }

    /** Sets values of params, which override those of the file. */
    public PlanReader params(Map<String, String> values) {
        given = Map.copyOf(values);
        return this;
    }

    /** Allows params without a value, for a plan that is shown and not run. */
    public PlanReader allowMissingValues() {
        requireValues = false;
        return this;
    }

    /** Sets the character set in which commands are started: a command with another character is a problem. */
    public PlanReader charset(Charset commands) {
        charset = commands;
        return this;
    }

    /** Sets the variables of the environment, of which some may be secrets. */
    public PlanReader environment(Map<String, String> variables) {
        environment = variables;
        return this;
    }

    /**
     * Overrides what the file says.
     *
     * @param number how many tasks run at once in all, and in each group without its own limit; null for the file's
     * @param length how long the run may take; null for the file's
     */
    public PlanReader overridden(@Nullable Integer number, @Nullable Duration length) {
        jobs = number;
        timeout = length;
        return this;
    }

    /**
     * Creates the plan.
     *
     * @throws InvalidFileException if anything in the run file or a data file is invalid; contains every problem
     */
    public Plan read(String text) throws InvalidFileException {
        Node root = Documents.parse(text, file, problems);
        problems.throwIfAny();
        Section section = new Section(Objects.requireNonNull(root), "the file", Keys.FILE, problems);
        String name = section.text("name");
        Defaults defaults = defaults(section.get("defaults"));
        Limits limits = limits(section, defaults);
        Duration ofFile = section.duration("timeout");
        DataReader data = new DataReader(file, inputs, problems);
        params.read(section.get("params"), given, Location.of(root), requireValues);
        Node hidden = section.get("secrets");
        SecretsReader reader = new SecretsReader(params, environment, problems);
        Secrets secrets = reader.read(hidden, requireValues, charset);
        params.hide(secrets);
        problems.hide(secrets);
        reader.check(file, text.getBytes(StandardCharsets.UTF_8), secrets);
        Location at = Location.of(hidden == null ? root : hidden);
        reader.check(Objects.requireNonNullElse(name, "") + "\n" + file, at, secrets);
        reader.check(given, at, secrets);
        GraphCheck graph = new GraphCheck(problems);
        TaskReader tasks = new TaskReader(directory, data, defaults, limits, params, graph, charset, problems);
        Node list = section.required("tasks");
        List<Node> nodes = list == null ? null : values.list(list, "tasks");
        if (nodes != null && nodes.isEmpty()) {
            problems.add(Location.of(Objects.requireNonNull(list)), "tasks must have at least one task");
        }
        List<PlannedTask> planned = new ArrayList<>();
        for (Node node : nodes == null ? List.<Node>of() : nodes) {
            planned.addAll(tasks.read(node));
        }
        List<Located<String>> results = results(section.get("results"));
        graph.check(results);
        params.checkUse();
        data.filesRead().forEach((input, content) -> reader.check(input, content, secrets));
        reader.check(planned, at, secrets);
        problems.throwIfAny();
        return new Plan(
                name == null ? stem(file) : name,
                limits,
                timeout == null ? ofFile : timeout,
                List.copyOf(planned),
                data.filesRead(),
                results.stream().map(Located::value).toList(),
                secrets);
    }

    /**
     * Returns the text of a run file.
     *
     * @throws InvalidFileException if it is too large or not UTF-8
     */
    public static String decoded(String file, byte[] bytes) throws InvalidFileException {
        Problems problems = new Problems();
        String text = FileSize.PARSED.allows(bytes, file, problems) ? Utf8.decoded(file, bytes, problems) : null;
        problems.throwIfAny();
        return Objects.requireNonNull(text);
    }

    private static String stem(String file) {
        String name = Objects.requireNonNullElse(Path.of(file).getFileName(), Path.of("run"))
                .toString();
        int dot = name.lastIndexOf('.');
        return dot > 0 ? name.substring(0, dot) : name;
    }

    private List<Located<String>> results(@Nullable Node node) {
        List<Located<String>> results = new ArrayList<>();
        List<Node> items = node == null ? null : values.list(node, "results");
        for (Node item : items == null ? List.<Node>of() : items) {
            String id = values.nonEmptyText(item, "a result");
            if (id != null) {
                results.add(new Located<>(id, "results", Location.of(item)));
            }
        }
        return results;
    }

    private Defaults defaults(@Nullable Node node) {
        if (node == null) {
            return Defaults.NONE;
        }
        Section section = new Section(node, "defaults", Keys.DEFAULTS, problems);
        Node env = section.get("env");
        Map<String, String> variables = new LinkedHashMap<>();
        if (env != null) {
            new EnvReader(problems).read(env).forEach((name, value) -> {
                String text = values.text(value, "env " + name);
                variables.put(name, text == null ? "" : text);
            });
        }
        return new Defaults(
                rule(section),
                section.duration("timeout"),
                new RetryReader(problems).read(section.get("retry")),
                variables,
                section.text("dir"));
    }

    private Limits limits(Section section, Defaults defaults) {
        Map<String, GroupRule> groups = groups(section.get("groups"));
        int number = jobs(section.get("jobs"), defaults.group(), groups);
        Node node = section.get("total");
        Section total = node == null ? null : new Section(node, "total", Keys.TOTAL, problems);
        Integer queue = total == null ? null : total.wholeNumber("queue", 0);
        return new Limits(
                defaults.group().or(new GroupRule(jobs, null, null, null)),
                groups,
                jobs == null ? number : jobs,
                queue == null ? Limits.UNLIMITED : queue,
                total == null ? null : total.rate("rate", "burst"));
    }

    private int jobs(@Nullable Node node, GroupRule defaultRule, Map<String, GroupRule> groups) {
        if (node == null) {
            return Limits.defaultTotal(defaultRule, groups);
        }
        return switch (Values.found(node)) {
            case "\"auto\"" -> 4 * Runtime.getRuntime().availableProcessors();
            case "\"unlimited\"" -> Limits.UNLIMITED;
            default -> {
                Integer number = new Values(new Problems()).wholeNumber(node, "jobs", 1, Limits.UNLIMITED);
                if (number == null) {
                    values.wrong(node, "jobs must be a whole number of at least 1, auto or unlimited");
                }
                yield number == null ? Limits.UNLIMITED : number;
            }
        };
    }

    private Map<String, GroupRule> groups(@Nullable Node node) {
        Map<String, GroupRule> rules = new LinkedHashMap<>();
        Map<String, Values.Entry> entries = node == null ? null : values.map(node, "groups");
        if (entries != null) {
            entries.forEach((key, entry) -> {
                if (key.isBlank()) {
                    problems.add(Location.of(entry.key()), "the name of a group must not be empty");
                }
                String what = "group \"" + Printable.oneLine(key) + "\"";
                rules.put(key, rule(new Section(entry.value(), what, Keys.GROUP, problems)));
            });
        }
        return rules;
    }

    private static GroupRule rule(Section section) {
        return new GroupRule(
                section.wholeNumber("limit", 1),
                section.wholeNumber("queue", 0),
                section.wholeNumber("weight", 1, 1_000_000),
                section.rate("rate", "burst"));
    }
}
