package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;

/** Creates a task from each line. */
@FunctionalInterface
public interface LineTasks {

    /**
     * A task, or the reason why it cannot run.
     *
     * @param task the task, as far as it could be created from the line
     * @param error why it cannot run, or an empty text
     */
    record LineTask(PlannedTask task, String error) {}

    /** Creates a task. */
    LineTask of(LineInput.Line line, long number);
}
