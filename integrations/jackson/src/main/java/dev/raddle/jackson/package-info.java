/**
 * How values of durable flows are stored as JSON. Start at {@link dev.raddle.jackson.JacksonCodec}.
 *
 * <p>Nothing is null unless stated otherwise, and every class is thread-safe.
 */
package dev.raddle.jackson;
