/**
 * How do tasks log? Start at {@link dev.raddle.slf4j.MdcPropagator}, which lets what a task logs carry the MDC of its
 * submitter, and {@link dev.raddle.slf4j.LoggingSink}, which logs the exceptions that must not change a task.
 *
 * <p>Nothing is null unless it says so, and everything here is safe for many threads. Nothing here logs when all is well.
 */
package dev.raddle.slf4j;
