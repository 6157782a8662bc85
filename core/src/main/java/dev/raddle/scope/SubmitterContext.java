package dev.raddle.scope;

import dev.raddle.kernel.CapturedContext;
import org.jspecify.annotations.Nullable;

/**
 * The context that a task takes over from its submitter.
 *
 * @param context the captured context
 * @param loader the submitter's context class loader
 */
record SubmitterContext(CapturedContext context, @Nullable ClassLoader loader) {}
