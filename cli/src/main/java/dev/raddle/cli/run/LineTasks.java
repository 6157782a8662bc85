package dev.raddle.cli.run;

import dev.raddle.cli.file.PlannedTask;
import java.io.IOException;
import org.jspecify.annotations.Nullable;

/** Creates tasks from lines of input. For one thread. */
@FunctionalInterface
public interface LineTasks {

    /**
     * A task, or the reason why it cannot run.
     *
     * @param task the task, as far as it could be created from its input
     * @param error why it cannot run, or an empty text
     */
    record LineTask(PlannedTask task, String error) {}

    /** Reads as much as the next task needs and returns it, or null at the end of the input. */
    @Nullable
    LineTask next() throws IOException;
}
