/**
 * Reads what is to be run. Start at {@link dev.raddle.cli.file.PlanReader}.
 *
 * <p>This package reads a run file and the data it names, and creates a {@link dev.raddle.cli.file.Plan}: every task
 * with its group, its command and its limits. It starts nothing. Every mistake is collected as a
 * {@linkplain dev.raddle.cli.file.value.Problem problem} with its location, and all are reported together; lines and
 * columns count from 1.
 *
 * <p>The packages below it read {@linkplain dev.raddle.cli.file.value values},
 * {@linkplain dev.raddle.cli.file.data rows of data} and {@linkplain dev.raddle.cli.file.template templates}; each
 * imports only those named before it.
 */
@NullMarked
package dev.raddle.cli.file;

import org.jspecify.annotations.NullMarked;
