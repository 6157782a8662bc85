package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;

/** Makes a task of each line. */
@FunctionalInterface
public interface LineTasks {

    /**
     * A task, or why there cannot be one.
     *
     * @param task what was made of the line as far as that goes
     * @param error why it cannot run, or an empty text
     */
    record Made(PlannedTask task, String error) {}

    /** Makes a task. */
    Made of(LineInput.Line line, long number);
}
