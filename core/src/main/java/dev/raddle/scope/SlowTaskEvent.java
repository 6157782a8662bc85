package dev.raddle.scope;

import dev.raddle.task.Task;
import java.time.Duration;

/**
 * A report of a slow task.
 *
 * @param task the task
 * @param state {@link Task.State#RUNNING} while the task runs, or else its final state
 * @param duration the time for which the task had run
 */
public record SlowTaskEvent(TaskInfo task, Task.State state, Duration duration) {}
