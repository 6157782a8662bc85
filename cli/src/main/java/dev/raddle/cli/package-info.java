/**
 * The {@code raddle} command. Start at {@link dev.raddle.cli.Main}.
 *
 * <p>The classes here know the arguments and nothing else: {@link dev.raddle.cli.file} reads what shall run,
 * {@link dev.raddle.cli.run} runs it, {@link dev.raddle.cli.show} shows it.
 */
@NullMarked
package dev.raddle.cli;

import org.jspecify.annotations.NullMarked;
