package dev.raddle.scope;

import dev.raddle.kernel.Draft;
import dev.raddle.kernel.Propagation;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskPriority;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import org.jspecify.annotations.Nullable;

/** The settings of a scope: what {@link ScopeOptions} and {@link StructuredScopeOptions} set, and every scope reads. */
final class ScopeSettings extends Draft<ScopeSettings> {

    // Of both kinds of scopes.

    @Nullable
    TaskListener listener;

    Propagation propagation = Propagation.plain(true); // with the sink of all exceptions
    Duration patience = Duration.ofSeconds(10);

    @Nullable
    TimeSource time; // null for that of the enclosing deadline, or else real time

    // Of a ThreadScope.

    Scheduler scheduler = Scheduler.detect();
    FailurePolicy failurePolicy = FailurePolicy.FAIL_FAST;

    @Nullable
    RetryPolicy retry; // null for one attempt

    TaskPriority priority = TaskPriority.NORMAL;
    int concurrencyLimit = Integer.MAX_VALUE; // for none

    @Nullable
    Duration deadline;

    @Nullable
    ThreadHook hook;

    // Of a StructuredTaskScope.

    @Nullable
    String name; // null for the scope's identity

    @Nullable
    ThreadFactory threadFactory; // null for virtual threads

    boolean plainThreads; // whether to use them instead of the JDK's own scope
    List<ScopedValue<?>> inherited = List.of(); // by plain threads; the JDK's own scope passes on all

    /** Returns a copy with one more listener. */
    ScopeSettings and(TaskListener added) {
        Objects.requireNonNull(added, "listener");
        return with(all -> all.listener = all.listener == null ? added : all.listener.and(added));
    }

    /** Returns a copy with another patience. The text names the scope if the length is refused. */
    ScopeSettings withPatience(String scope, Duration length) {
        if (!length.isPositive()) {
            throw new IllegalArgumentException("patience of " + scope + " must be positive, was " + length);
        }
        return with(all -> all.patience = length);
    }

    /** Returns a copy with another time source. */
    ScopeSettings on(TimeSource source) {
        Objects.requireNonNull(source, "time");
        return with(all -> all.time = source);
    }

    ExceptionSink sink() {
        return propagation.sink();
    }

    TimeSource time() {
        return time == null ? TimeSource.system() : time;
    }

    /** Returns the given policy, or null if it has no effect. */
    static @Nullable RetryPolicy nullIfUnneeded(RetryPolicy policy) {
        return policy.hasNoEffect() ? null : policy;
    }

    /** Returns the text of the settings of both kinds. */
    String shared() {
        return ", listener=" + listener + ", propagators=" + propagation.propagators() + ", sink=" + sink()
                + ", patience=" + patience + ", time=" + time + "]";
    }
}
