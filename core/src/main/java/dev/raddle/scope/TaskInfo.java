package dev.raddle.scope;

import java.time.Instant;

/**
 * The description of a task for hooks. Two tasks never have the same scope id and task id.
 *
 * @param scopeId the number of the task's scope, which is unique in this JVM
 * @param taskId the number of the task in its scope
 * @param name the name of the task
 * @param createdAt the time of the submission on the wall clock
 * @param schedulerName the description of the scheduler when the scope was configured
 */
public record TaskInfo(long scopeId, long taskId, String name, Instant createdAt, String schedulerName) {}
