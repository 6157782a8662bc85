/**
 * Connects tasks to SLF4J. Start at {@link dev.raddle.slf4j.MdcPropagator}, which propagates the MDC of the submitter
 * to the task, and {@link dev.raddle.slf4j.LoggingSink}, which logs the exceptions that must not affect a task.
 *
 * <p>Nothing is null unless stated otherwise, and every class is thread-safe. Nothing here logs unless an exception
 * occurs.
 */
package dev.raddle.slf4j;
