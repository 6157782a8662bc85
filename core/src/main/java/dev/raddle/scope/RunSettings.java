package dev.raddle.scope;

import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a run and the context that it takes over from its submitter. Runs that have the same settings and
 * were submitted in the same context share them.
 *
 * @param rank the priority
 * @param retry the retry policy, or null for one attempt
 * @param limit the time limit, or null; a run with one attempt has only a limit of its own, not that of the scope
 * @param submittedIn the submitter's task context
 * @param context the context that was captured in it
 * @param loader the submitter's context class loader
 */
record RunSettings(
        int rank,
        @Nullable RetryPolicy retry,
        @Nullable TimeLimit limit,
        TaskContext submittedIn,
        CapturedContext context,
        @Nullable ClassLoader loader) {

    /** Returns these settings with a time limit. */
    RunSettings within(TimeLimit earlier) {
        return new RunSettings(rank, retry, earlier, submittedIn, context, loader);
    }
}
