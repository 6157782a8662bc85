package dev.raddle.restate;

import dev.raddle.flow.RunOptions;
import dev.raddle.group.GroupExecutor;
import dev.raddle.task.CheckReturnValue;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The options of a service that runs flows. Immutable; each method returns a changed copy.
 *
 * {@snippet :
 * RestateOptions.defaults().withRun(RunOptions.timeout(Duration.ofDays(3))).withGroups(executor)
 * }
 *
 * @param run the options of each run; see {@link #withRun}
 * @param groups the executor of nodes with a group, or null; see {@link #withGroups}
 * @param maxValueBytes the largest stored value; see {@link #withMaxValueBytes}
 * @param longestCall the time after which the engine gives up a call; see {@link #withLongestCall}
 */
@CheckReturnValue
public record RestateOptions(RunOptions run, @Nullable GroupExecutor groups, int maxValueBytes, Duration longestCall) {

    /** How many bytes a stored value may have unless the options say otherwise. */
    public static final int DEFAULT_MAX_VALUE_BYTES = 1 << 20;

    private static final RestateOptions DEFAULTS =
            new RestateOptions(RunOptions.defaults(), null, DEFAULT_MAX_VALUE_BYTES, Duration.ofDays(1));

    /** Checks the values. */
    public RestateOptions {
        Objects.requireNonNull(run, "run");
        if (maxValueBytes < 1) {
            throw new IllegalArgumentException("maxValueBytes must be at least 1, was " + maxValueBytes);
        }
        if (!longestCall.isPositive()) {
            throw new IllegalArgumentException("longestCall must be positive, was " + longestCall);
        }
    }

    /**
     * Returns the default options: no deadline, no groups, values of at most 1 MiB, calls of at most one day.
     *
     * @return the same options at every call
     */
    public static RestateOptions defaults() {
        return DEFAULTS;
    }

    /**
     * Sets the options of each run. Of these apply the timeout, the failure policy, the treatment of unneeded nodes,
     * the selected nodes and the sink. A listener and propagators are called, too, but again at each replay.
     *
     * @param options the options of each run, without a journal and without a deadline
     * @return changed options
     */
    public RestateOptions withRun(RunOptions options) {
        return new RestateOptions(options, groups, maxValueBytes, longestCall);
    }

    /**
     * Runs the actions of nodes with a group under the limits of an executor of this process. If its policy has permits
     * of a fleet, the limits hold for all processes that serve the flow.
     *
     * @param executor the executor
     * @return changed options
     */
    public RestateOptions withGroups(GroupExecutor executor) {
        return new RestateOptions(run, Objects.requireNonNull(executor, "executor"), maxValueBytes, longestCall);
    }

    /**
     * Sets the largest value that is stored. A node whose encoded value is larger fails. The engine itself refuses
     * messages of more than 32 MiB unless it is configured otherwise, and holds all values of a run in its memory
     * whenever it continues the run.
     *
     * @param bytes the number of bytes
     * @return changed options
     */
    public RestateOptions withMaxValueBytes(int bytes) {
        return new RestateOptions(run, groups, bytes, longestCall);
    }

    /**
     * Sets the time after which the engine ends the connection to a process in which the actions of a run have not made
     * progress, and starts these actions again. An action that takes longer than this never ends.
     *
     * @param length the time, longer than any action may take
     * @return changed options
     */
    public RestateOptions withLongestCall(Duration length) {
        return new RestateOptions(run, groups, maxValueBytes, length);
    }
}
