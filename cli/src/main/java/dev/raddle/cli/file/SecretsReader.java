package dev.raddle.cli.file;

import dev.raddle.cli.file.value.LocaleText;
import dev.raddle.cli.file.value.Location;
import dev.raddle.cli.file.value.Printable;
import dev.raddle.cli.file.value.Problems;
import dev.raddle.cli.file.value.Secrets;
import dev.raddle.cli.file.value.Values;
import java.nio.charset.Charset;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.nodes.Node;

/**
 * Reads {@code secrets}, and checks that what is kept as it is contains none: the file, its data, and the names from
 * which the names of files are made.
 */
final class SecretsReader {
    private final Params params;
    private final Map<String, String> environment;
    private final Problems problems;

    SecretsReader(Params params, Map<String, String> environment, Problems problems) {
        this.params = params;
        this.environment = environment;
        this.problems = problems;
    }

    /**
     * Returns the secrets.
     *
     * @param requireValues whether a secret without a value is a problem
     * @param charset the character set in which commands are started
     */
    Secrets read(@Nullable Node node, boolean requireValues, Charset charset) {
        Values values = new Values(problems);
        List<Node> items = node == null ? null : values.list(node, "secrets");
        Set<String> names = new LinkedHashSet<>();
        List<String> found = new ArrayList<>();
        for (Node item : items == null ? List.<Node>of() : items) {
            String name = values.nonEmptyText(item, "a secret");
            if (name != null) {
                names.add(name);
                String value = params.isDeclared(name) ? params.value(name) : environment.get(name);
                if (value == null ? requireValues && !params.isDeclared(name) : !isUsable(value)) {
                    problems.add(Location.of(item), "secret \"" + Printable.oneLine(name) + "\" " + problem(value));
                } else if (value != null) {
                    found.add(value);
                }
            }
        }
        return new Secrets(names, found, charset);
    }

    private static boolean isUsable(String value) {
        return value.strip().length() >= Secrets.SHORTEST && !LocaleText.isDamaged(value);
    }

    private static String problem(@Nullable String value) {
        if (value == null) {
            return "must be a param of the file, or a variable of the environment that is set";
        }
        return LocaleText.isDamaged(value)
                ? "has a value that the locale's character set cannot express; set LC_ALL=C.UTF-8"
                : "must have a value of at least " + Secrets.SHORTEST + " characters, had "
                        + value.strip().length() + "; a shorter one would hide other text";
    }

    /** Checks a file that is kept. */
    void check(String file, byte[] content, Secrets secrets) {
        int line = secrets.firstLine(content);
        if (line > 0) {
            problems.add(
                    new Location(file, line, 1),
                    "the file must not contain the value of a secret, because it is kept; name it as $NAME or"
                            + " ${param.NAME}, and give the value in the environment or by --param");
        }
    }

    /** Checks the names of the run and of its file. */
    void check(String names, Location at, Secrets secrets) {
        if (secrets.isIn(names)) {
            problems.add(
                    at,
                    "neither the name of the run nor that of its file may contain a secret, because they are kept and"
                            + " printed; name others");
        }
    }

    /** Checks params that are kept because they are not secrets themselves. */
    void check(Map<String, String> given, Location at, Secrets secrets) {
        given.forEach((name, value) -> {
            if (!secrets.names().contains(name) && secrets.isIn(value)) {
                problems.add(
                        at,
                        "param \"" + Printable.oneLine(name)
                                + "\" must not contain the value of a secret, because it is"
                                + " kept; name it among the secrets as well");
            }
        });
    }

    /** Checks what names files and directories, and is shown everywhere. */
    void check(List<PlannedTask> tasks, Location at, Secrets secrets) {
        for (PlannedTask task : tasks) {
            String desc = Objects.requireNonNullElse(task.desc(), "");
            if (secrets.isIn(
                    String.join("\n", task.id(), task.group(), task.dir().toString(), desc))) {
                problems.add(
                        at,
                        "neither id nor group, dir and desc of a task may contain a secret, as in task \""
                                + Printable.oneLine(task.id()) + "\"");
            }
        }
    }
}
