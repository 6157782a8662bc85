/**
 * Reads rows of data from CSV, JSON, JSON lines and text. Start at {@link dev.raddle.cli.file.data.DataReader}.
 *
 * <p>A {@link dev.raddle.cli.file.data.Row} has the values of one line, record or item by name, from which a task is
 * created. An invalid line is a problem with its location.
 */
@NullMarked
package dev.raddle.cli.file.data;

import org.jspecify.annotations.NullMarked;
