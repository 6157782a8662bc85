/**
 * Traces tasks with OpenTelemetry. Start at {@link dev.raddle.opentelemetry.TaskTracing}: every task becomes a child
 * span of the span that was current at its submission, and runs in the submitter's context.
 *
 * <p>Nothing is null unless stated otherwise, and every class is thread-safe. Nothing here configures OpenTelemetry or
 * starts an exporter.
 */
package dev.raddle.opentelemetry;
