/**
 * The completion scripts of shells and the manual page. Start at {@link dev.raddle.cli.help.Shell} and
 * {@link dev.raddle.cli.help.ManPage}.
 *
 * <p>All texts are generated from the options that picocli parses, so they have the options of the command that prints
 * them. Nothing here runs a command.
 */
@NullMarked
package dev.raddle.cli.help;

import org.jspecify.annotations.NullMarked;
