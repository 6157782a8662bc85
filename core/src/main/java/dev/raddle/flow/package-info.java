/**
 * Runs of named steps that depend on each other. Start at {@link dev.raddle.flow.FlowPlan}.
 *
 * <p>A flow is an immutable plan of named nodes with dependencies, run any number of times, concurrently. A node begins
 * when its dependencies are met, in the thread that met the last of them or in a thread of the scheduler; no thread
 * waits for a node. Unless stated otherwise nothing is null, every class is thread-safe once it is built, points in
 * time are in nanoseconds since the run began, and functions of the user may throw any exception.
 *
 * <p>Only the records of a {@link dev.raddle.flow.FlowJournal} outlive the JVM, and nothing is distributed.
 */
package dev.raddle.flow;
