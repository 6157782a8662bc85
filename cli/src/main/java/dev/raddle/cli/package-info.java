/**
 * The {@code raddle} command. Start at {@link dev.raddle.cli.Main}.
 *
 * <p>The classes here parse the arguments: {@link dev.raddle.cli.file} reads what is to be run,
 * {@link dev.raddle.cli.run} runs it, {@link dev.raddle.cli.show} shows it.
 */
@NullMarked
package dev.raddle.cli;

import org.jspecify.annotations.NullMarked;
