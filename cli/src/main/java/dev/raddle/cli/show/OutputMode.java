package dev.raddle.cli.show;

import java.util.Locale;

/** How much of the output of tasks is printed; it is kept in files anyway. */
public enum OutputMode {
    /** None of it. */
    FILES,
    /** That of a task as a whole at its end. */
    GROUP,
    /** Every line as it comes, after the id of its task. */
    PREFIX;

    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }
}
