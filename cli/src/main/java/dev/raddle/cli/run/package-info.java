/**
 * How it runs. Start at {@link dev.raddle.cli.run.RunSession}.
 *
 * <p>A {@link dev.raddle.cli.run.GroupRunner} brings planned tasks through a group executor to
 * {@link dev.raddle.cli.run.Launcher}, which starts processes and ends them. What happens is told as
 * {@linkplain dev.raddle.cli.run.RunEvent events}, one at a time and by one thread, to
 * {@linkplain dev.raddle.cli.run.RunListener listeners}: the journal, the tally and whatever prints. This package prints
 * nothing itself.
 */
@NullMarked
package dev.raddle.cli.run;

import org.jspecify.annotations.NullMarked;
