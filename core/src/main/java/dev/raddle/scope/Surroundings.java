package dev.raddle.scope;

import dev.raddle.kernel.CapturedContext;
import org.jspecify.annotations.Nullable;

/**
 * What a task sees of its submitter.
 *
 * @param context the captured context
 * @param loader the submitter's context class loader
 */
record Surroundings(CapturedContext context, @Nullable ClassLoader loader) {}
