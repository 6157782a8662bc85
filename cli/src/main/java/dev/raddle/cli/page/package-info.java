/**
 * A run on one page for a browser. Start at {@link dev.raddle.cli.page.PlanRun}.
 *
 * <p>The page contains everything that it shows and loads nothing from the network. The output of commands is data in
 * it, never markup: it is embedded as JSON without the character {@code <}, and displayed as text.
 */
@NullMarked
package dev.raddle.cli.page;

import org.jspecify.annotations.NullMarked;
