/**
 * What people and programs see of a run. Start at {@link dev.raddle.cli.show.Displays}.
 *
 * <p>Everything here listens: to a terminal it shows live bars, to a file or pipe a line for every event, to a program
 * JSON. What commands print is made {@linkplain dev.raddle.cli.file.Printable printable} before it is shown. Listeners are
 * called by one thread, so nothing here is safe for many.
 */
@NullMarked
package dev.raddle.cli.show;

import org.jspecify.annotations.NullMarked;
