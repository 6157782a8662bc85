package dev.raddle.cli.file.template;

import dev.raddle.cli.file.data.Row;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * A placeholder that does not come from a row of data: the output, exit code or state of an upstream task, or a param
 * of the run.
 *
 * @param subject the id of a task, or the name of a param
 */
public record Reference(String subject, Kind kind) {
    /** The subject of {@code ${task.stdout}} and similar references if no task has this id: the only upstream task. */
    public static final String ONLY_UPSTREAM = "task";

    private static final String PARAM = "param.";

    /** The property of the subject. */
    public enum Kind {
        /** The standard output of the task. */
        STDOUT,
        /** The exit code of its last attempt. */
        EXIT,
        /** The state in which it ended, in the words of the report. */
        STATE,
        /** The value of a param, known before anything runs. */
        PARAM;

        private String suffix() {
            return "." + name().toLowerCase(Locale.ROOT);
        }
    }

    /** Parses the name of a placeholder; returns empty if it does not have the form of a reference. */
    public static Optional<Reference> of(String name) {
        if (name.startsWith(PARAM)) {
            return name.length() == PARAM.length()
                    ? Optional.empty()
                    : Optional.of(new Reference(name.substring(PARAM.length()), Kind.PARAM));
        }
        return Arrays.stream(Kind.values())
                .filter(kind -> kind != Kind.PARAM && name.endsWith(kind.suffix()))
                .filter(kind -> name.length() > kind.suffix().length())
                .map(kind -> new Reference(
                        name.substring(0, name.length() - kind.suffix().length()), kind))
                .findFirst();
    }

    /** Returns those names of placeholders that are values of other tasks, not of a row. */
    static Set<Reference> among(Set<String> names, Row row) {
        return names.stream()
                .filter(name -> !row.cells().containsKey(name))
                .flatMap(name -> of(name).stream())
                .filter(found -> !found.isParam())
                .collect(Collectors.toCollection(LinkedHashSet::new));
    }

    /** Returns the name of the placeholder. */
    public String name() {
        return kind == Kind.PARAM ? PARAM + subject : subject + kind.suffix();
    }

    /** Returns whether its value is known before anything runs. */
    public boolean isParam() {
        return kind == Kind.PARAM;
    }
}
