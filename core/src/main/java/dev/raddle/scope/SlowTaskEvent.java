package dev.raddle.scope;

import dev.raddle.task.Task;
import java.time.Duration;

/**
 * What is told of a slow task.
 *
 * @param task which one
 * @param state {@link Task.State#RUNNING} while it goes on, else how it ended
 * @param duration how long it had run by then
 */
public record SlowTaskEvent(TaskInfo task, Task.State state, Duration duration) {}
