/**
 * What shall run. Start at {@link dev.raddle.cli.file.PlanReader}.
 *
 * <p>This package reads a run file and the data it names, and makes a {@link dev.raddle.cli.file.Plan}: every task with
 * its group, its command and its limits. It starts nothing. Everything that is wrong is gathered as a
 * {@link dev.raddle.cli.file.Problem} with its place and reported in one go; lines and columns count from 1.
 */
@NullMarked
package dev.raddle.cli.file;

import org.jspecify.annotations.NullMarked;
