/**
 * Which step needs which? Start at {@link dev.raddle.flow.FlowPlan}.
 *
 * <p>A flow is an immutable plan of named nodes with dependencies, run any number of times, by many threads at once. A node
 * begins when what it depends on allows it, in the thread that made that so or in one of the scheduler's; no thread waits for
 * a node. Unless stated otherwise nothing is null, every class is safe for many threads once it is built, moments are in
 * nanoseconds since the run began, and functions of the user may throw anything.
 *
 * <p>Nothing here outlives the JVM but what a {@link dev.raddle.flow.FlowJournal} keeps, and nothing is distributed.
 */
package dev.raddle.flow;
