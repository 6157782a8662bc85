package dev.raddle.jdbc;

import dev.raddle.task.CheckReturnValue;
import java.util.EnumSet;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Selects stored runs. Immutable; each method returns a changed copy.
 *
 * {@snippet :
 * service.list(RunFilter.all().flow("checkout").in(RunState.FAILED).limit(20))
 * }
 *
 * @param flow the name of the flow, or null for all
 * @param version the version, or null for all
 * @param states the states, never empty
 * @param after the id of the last run of the previous page, or null for the first page
 * @param limit the greatest number of runs
 */
@CheckReturnValue
public record RunFilter(
        @Nullable String flow,
        @Nullable String version,
        Set<RunState> states,
        @Nullable String after,
        int limit) {

    private static final int DEFAULT_LIMIT = 100;
    private static final int MAX_LIMIT = 10_000;
    private static final RunFilter ALL = new RunFilter(null, null, EnumSet.allOf(RunState.class), null, DEFAULT_LIMIT);

    /** Copies the states, and checks the numbers and the texts. */
    public RunFilter {
        requireStorable("the name of a flow", flow);
        requireStorable("a version", version);
        requireStorable("the id of a run", after);
        if (states.isEmpty()) {
            throw new IllegalArgumentException("a filter needs at least one state");
        }
        states = Set.copyOf(states);
        if (limit < 1 || limit > MAX_LIMIT) {
            throw new IllegalArgumentException("limit must be between 1 and " + MAX_LIMIT + ", was " + limit);
        }
    }

    private static void requireStorable(String what, @Nullable String text) {
        if (text != null) {
            Texts.requireStorable(what, text);
        }
    }

    /**
     * Returns the filter of the newest {@value #DEFAULT_LIMIT} runs.
     *
     * @return the same filter at every call
     */
    public static RunFilter all() {
        return ALL;
    }

    /**
     * Selects the runs of one flow.
     *
     * @param name the name of the flow
     * @return a changed copy
     */
    public RunFilter flow(String name) {
        return new RunFilter(Objects.requireNonNull(name, "name"), version, states, after, limit);
    }

    /**
     * Selects the runs of one version.
     *
     * @param name the version
     * @return a changed copy
     */
    public RunFilter version(String name) {
        return new RunFilter(flow, Objects.requireNonNull(name, "name"), states, after, limit);
    }

    /**
     * Selects the runs in some states.
     *
     * @param first a state
     * @param others other states
     * @return a changed copy
     */
    public RunFilter in(RunState first, RunState... others) {
        return new RunFilter(flow, version, EnumSet.of(first, others), after, limit);
    }

    /**
     * Selects the page that follows a run.
     *
     * @param run the id of the last run of the previous page
     * @return a changed copy
     */
    public RunFilter after(String run) {
        return new RunFilter(flow, version, states, Objects.requireNonNull(run, "run"), limit);
    }

    /**
     * Limits the number of runs.
     *
     * @param most the limit, up to {@value #MAX_LIMIT}
     * @return a changed copy
     */
    public RunFilter limit(int most) {
        return new RunFilter(flow, version, states, after, most);
    }
}
