/**
 * What time is it, and what happens later? Start at {@link dev.raddle.time.TimeSource}.
 *
 * <p>Everything in Raddle that measures or waits does it through a time source, so that a test can own time. A length is a
 * {@link java.time.Duration}, a moment is a {@link dev.raddle.time.Deadline}, a wait is a {@link dev.raddle.time.Signal}
 * that an {@link dev.raddle.time.Alarm} may end. This room imports no other room. Unless stated otherwise nothing is null
 * and every class is safe for many threads.
 */
package dev.raddle.time;
