/**
 * Reads typed values from YAML and JSON. Start at {@link dev.raddle.cli.file.value.Values}.
 *
 * <p>{@link dev.raddle.cli.file.value.Documents} parses a text into nodes, and {@code Values} reads texts, numbers,
 * durations, lists and maps from them. An invalid value is a {@link dev.raddle.cli.file.value.Problem} with its
 * {@link dev.raddle.cli.file.value.Location}. This package also has the texts of messages about values: durations,
 * printable texts, tables, hidden passwords, hints for misspelt words. It imports no other package of the command line.
 */
@NullMarked
package dev.raddle.cli.file.value;

import org.jspecify.annotations.NullMarked;
