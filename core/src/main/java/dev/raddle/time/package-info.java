/**
 * Clocks, alarms and deadlines. Start at {@link dev.raddle.time.TimeSource}.
 *
 * <p>All code in Raddle that measures time or waits uses a time source, so that a test can control time. A length is a
 * {@link java.time.Duration}, a moment is a {@link dev.raddle.time.Deadline}, and a thread waits for a
 * {@link dev.raddle.time.Signal}, until an {@link dev.raddle.time.Alarm} if the wait is timed. This package imports no
 * other package. Unless stated otherwise nothing is null and every class is thread-safe.
 */
package dev.raddle.time;
