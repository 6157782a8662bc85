/**
 * What did this request wait for? Start at {@link dev.raddle.opentelemetry.TaskTracing}: every task becomes a span below the
 * one that submitted it, and runs in its context.
 *
 * <p>Nothing is null unless it says so, and everything here is safe for many threads. Nothing here configures OpenTelemetry
 * or starts an exporter.
 */
package dev.raddle.opentelemetry;
