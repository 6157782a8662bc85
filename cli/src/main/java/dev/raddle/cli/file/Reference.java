package dev.raddle.cli.file;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/**
 * A placeholder that does not come from a row of data: what an upstream task printed, how it ended, or a param of the
 * run.
 *
 * @param subject the id of a task, or the name of a param
 */
public record Reference(String subject, Kind kind) {
    /** What {@code ${task.stdout}} and its like mean if no task has this id: the only upstream. */
    public static final String ONLY_UPSTREAM = "task";

    private static final String PARAM = "param.";

    /** What of the subject is meant. */
    public enum Kind {
        /** What the task printed on its standard output. */
        STDOUT,
        /** The exit code of its last attempt. */
        EXIT,
        /** How it ended, in the words of the report. */
        STATE,
        /** The value of a param, known before anything runs. */
        PARAM;

        private String suffix() {
            return "." + name().toLowerCase(Locale.ROOT);
        }
    }

    /** Reads the name of a placeholder; empty if it has not the form of a reference. */
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

    /** The name of the placeholder. */
    public String name() {
        return kind == Kind.PARAM ? PARAM + subject : subject + kind.suffix();
    }

    /** Whether its value is known before anything runs. */
    boolean isParam() {
        return kind == Kind.PARAM;
    }
}
