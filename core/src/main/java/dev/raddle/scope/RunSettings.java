package dev.raddle.scope;

import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a run and the context that it takes over from its submitter. Runs that have the same settings and
 * were submitted in the same context share them. Immutable.
 */
final class RunSettings {

    final int rank; // the priority
    final @Nullable RetryPolicy retry; // null for one attempt
    final @Nullable TimeLimit limit; // a run with one attempt has only a limit of its own, not that of the scope
    final TaskContext submittedIn;
    final CapturedContext context; // captured in `submittedIn`
    final @Nullable ClassLoader loader; // the context class loader of the submitter

    RunSettings(
            int rank,
            @Nullable RetryPolicy retry,
            @Nullable TimeLimit limit,
            TaskContext submittedIn,
            CapturedContext context,
            @Nullable ClassLoader loader) {
        this.rank = rank;
        this.retry = retry;
        this.limit = limit;
        this.submittedIn = submittedIn;
        this.context = context;
        this.loader = loader;
    }

    /** Returns these settings with a time limit. */
    RunSettings within(TimeLimit earlier) {
        return new RunSettings(rank, retry, earlier, submittedIn, context, loader);
    }
}
