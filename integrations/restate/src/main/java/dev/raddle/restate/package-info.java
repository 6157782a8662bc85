/**
 * Flows on Restate, an engine for durable execution. Start at {@link dev.raddle.restate.RestateFlows}.
 *
 * <p>A plan becomes a workflow service of the engine. The engine stores what each node has returned, and starts the run
 * again elsewhere when its process has died; nodes that are stored do not run again. Limits of groups, timeouts,
 * retries and compensations are those of the plan.
 *
 * <p>Unless stated otherwise nothing is null, and every class is safe for many threads.
 */
@org.jspecify.annotations.NullMarked
package dev.raddle.restate;
