/**
 * How does a test own time and order? {@link dev.raddle.testing.VirtualTime} passes when told to,
 * {@link dev.raddle.testing.StepScheduler} runs tasks when told to. For tests; nothing here is tuned for speed.
 */
package dev.raddle.testing;
