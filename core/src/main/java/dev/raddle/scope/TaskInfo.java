package dev.raddle.scope;

import java.time.Instant;

/**
 * What a hook is told about a task. Two tasks never have the same scope id and task id.
 *
 * @param scopeId the number of the task's scope, unlike that of any other scope of this JVM
 * @param taskId the number of the task in its scope
 * @param name what the task is called
 * @param createdAt when it was submitted, on the wall clock
 * @param schedulerName where it runs, for people
 */
public record TaskInfo(long scopeId, long taskId, String name, Instant createdAt, String schedulerName) {}
