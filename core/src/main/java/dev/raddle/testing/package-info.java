/**
 * Control of time and execution order in tests. The test advances a {@link dev.raddle.testing.VirtualTime} and runs the
 * tasks of a {@link dev.raddle.testing.StepScheduler}. These classes are not optimized for speed.
 */
package dev.raddle.testing;
