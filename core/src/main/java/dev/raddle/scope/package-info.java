/**
 * Which calls belong to this request? Start at {@link dev.raddle.scope.ThreadScope}: named tasks with retries, timeouts,
 * deadlines and policies, in a block that none of them outlives. Code that was written against JEP 462 finds its
 * {@code StructuredTaskScope} here.
 *
 * <p>A scope is opened and closed by one thread, its owner, in a {@code try} block. A timeout is a length, a deadline a
 * moment; a task is cancelled, a scope is closed, a thread is interrupted. Nothing here decides how many tasks of one tenant
 * run at once across requests: that is what groups are for, through which a scope's tasks can be placed. Unless stated
 * otherwise nothing is null, and every class is safe for many threads.
 */
package dev.raddle.scope;
