/**
 * Runs a plan. Start at {@link dev.raddle.cli.run.RunSession}.
 *
 * <p>A {@link dev.raddle.cli.run.GroupRunner} submits planned tasks to a group executor, which runs them with
 * {@link dev.raddle.cli.run.Launcher}, which starts processes and ends them.
 * {@linkplain dev.raddle.cli.run.RunEvent Events} are delivered by one thread, one at a time, to
 * {@linkplain dev.raddle.cli.run.RunListener listeners}: the journal, the tally and the displays. This package prints
 * nothing itself.
 */
@NullMarked
package dev.raddle.cli.run;

import org.jspecify.annotations.NullMarked;
