/**
 * Texts, commands and conditions with placeholders. Start at {@link dev.raddle.cli.file.template.Template} for texts
 * and at {@link dev.raddle.cli.file.template.ShellTemplate} for scripts, into which values are inserted without
 * becoming code.
 *
 * <p>A placeholder stands for a value of a row, which is known before the run, or it is a
 * {@link dev.raddle.cli.file.template.Reference} to a param or to a value of another task.
 */
@NullMarked
package dev.raddle.cli.file.template;

import org.jspecify.annotations.NullMarked;
