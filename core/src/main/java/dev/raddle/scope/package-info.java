/**
 * Structured concurrency: blocks of code that no task outlives. Start at {@link dev.raddle.scope.ThreadScope}, which
 * has names, retries, timeouts and policies, or at {@link dev.raddle.scope.StructuredTaskScope}, which is the API of
 * JEP 462 on any JDK from 25 on. The names of JDK 27 are in {@code dev.raddle.structured}.
 *
 * <p>A scope is a block of code and the tasks that it forks; no task outlives the block. Unless stated otherwise
 * nothing is null, times are values of the time source in nanoseconds, and a scope is confined: its owner, the thread
 * that opened it, joins and closes it, and only the owner and threads inside the scope fork into it.
 */
package dev.raddle.scope;
