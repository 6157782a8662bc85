/**
 * Shows a run to people and programs. Start at {@link dev.raddle.cli.show.Displays}.
 *
 * <p>The classes here are listeners: they show live bars on a terminal, write a line for every event to a file or pipe,
 * and write JSON for a program. What they show of commands is made
 * {@linkplain dev.raddle.cli.file.value.Printable printable}, except their whole output. Listeners are called by one
 * thread, so nothing here is thread-safe.
 */
@NullMarked
package dev.raddle.cli.show;

import org.jspecify.annotations.NullMarked;
