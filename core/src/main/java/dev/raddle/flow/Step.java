package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/**
 * One thing that a {@link FlowStepper} has decided, in the order of its decisions: what its driver has to do next, or
 * what has happened to a node. Equal inputs of equal plans give equal steps, and equal texts of steps.
 *
 * <p>A driver must react to {@link Start}, {@link Compensate} and {@link Complete}, and to {@link AwaitSignal} if the
 * plan has signals. The other steps are information: for the moment at which it must report the time, a driver asks
 * {@link FlowStepper#nextMoment()}.
 *
 * <p>Ids are those of {@linkplain FlowStepper nodes of the stepper}; moments are in nanoseconds since the start.
 */
public sealed interface Step {

    /** A step that calls a function of the user, by {@link FlowStepper#call}. Its result is to be reported. */
    sealed interface Work extends Step {

        /**
         * Returns the id of the node.
         *
         * @return the id
         */
        String node();

        /**
         * Returns the number of the call.
         *
         * @return 1 for the first attempt
         */
        int attempt();
    }

    /**
     * Call the action of a node, and report its result by {@link FlowStepper#settled}.
     *
     * @param node the id of the node
     * @param attempt the number of the attempt, 1 for the first
     * @param group the key of the group in which the action is to run, or null
     * @param deadlineNanos the moment at which the node or the run times out, whichever is earlier;
     *     {@link Long#MAX_VALUE} if there is none
     */
    record Start(String node, int attempt, @Nullable String group, long deadlineNanos) implements Work {}

    /**
     * Call the compensation of a node, and report its result by {@link FlowStepper#settled}. There is one such step at
     * a time in a run; a run and its nested runs may each have one.
     *
     * @param node the id of the node
     * @param attempt the number of the attempt, 1 for the first
     */
    record Compensate(String node, int attempt) implements Work {}

    /**
     * A node has begun to wait for a moment: it is a {@linkplain FlowBuilder#sleep sleep}, or it waits for its next
     * attempt.
     *
     * @param node the id of the node
     * @param nanos the moment
     */
    record SleepUntil(String node, long nanos) implements Step {}

    /**
     * A node has begun to wait for its {@linkplain FlowBuilder#signal signal}, to be delivered by
     * {@link FlowStepper#signalled}.
     *
     * @param node the id of the node
     * @param type the class of the value
     */
    record AwaitSignal(String node, Class<?> type) implements Step {

        @Override
        public String toString() {
            return "AwaitSignal[node=" + node + ", type=" + type.getName() + "]";
        }
    }

    /**
     * A node has ended while its action was called, or the time of its compensation is over. The call should be
     * interrupted, if that is possible; its result is dropped and need not be reported. For an action, an {@link Ended}
     * step of the node follows.
     *
     * @param node the id of the node
     */
    record Cancel(String node) implements Step {}

    /**
     * A node has ended: with the result that was reported, or as a consequence, without running.
     *
     * @param node the id of the node
     * @param state the state in which it ended
     * @param via the source of its value
     */
    record Ended(String node, NodeState state, ValueSource via) implements Step {}

    /**
     * The run has ended. This is the last step; {@link FlowStepper#result()} has the value.
     *
     * @param status the status of the run
     */
    record Complete(FlowStatus status) implements Step {}
}
