package dev.raddle.flow;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A fact about a run, which its {@link FlowJournal} stores in one durable step. The entries of a run in the order of
 * their records are its whole memory: from them follows where the run continues.
 */
public sealed interface Entry {

    /**
     * A try of the run begins: the first one, one after the end of an earlier try, or one that runs nodes again. It
     * continues with the nodes that have succeeded. All others, and the failed attempts and the moments of nodes, are
     * forgotten, and so are all nodes that have been compensated.
     *
     * @param at the moment on the wall clock from which the timeout of the run counts
     * @param again the ids of the nodes that run again although they have succeeded
     */
    record Begun(Instant at, List<String> again) implements Entry {
        /** Copies the ids. */
        public Begun {
            again = List.copyOf(again);
        }
    }

    /**
     * A node has ended for a reason of its own: by the value or the exception of its action or fallback, by its
     * condition, by its timeout, by the end of its sleep or its signal, or because it could not be placed. Ends that
     * follow from those of other nodes or from the end of the run are not recorded: they follow again, since the ends
     * of a try take effect in the order of their numbers.
     *
     * @param id the id of the node
     * @param state SUCCESS, FAILED, TIMED_OUT or SKIPPED
     * @param via the source of the value, ACTION or FALLBACK; NONE without success
     * @param value the value, may be null
     * @param attempt the number of attempts, 0 if the node did not run
     * @param failure the exception, null if there is none
     * @param number the place in the sequence of ends of the try, 1 for the first; 0 for a success of an earlier try
     * @param at the moment on the wall clock
     */
    record NodeEnded(
            String id,
            NodeState state,
            ValueSource via,
            @Nullable Object value,
            int attempt,
            @Nullable RecordedFailure failure,
            long number,
            Instant at)
            implements Entry {

        /** Ensures that the end is one of those that are recorded. */
        public NodeEnded {
            if (!state.isTerminal() || state == NodeState.CANCELLED) {
                throw new IllegalArgumentException("node \"" + id + "\" cannot be recorded as " + state);
            }
        }

        /**
         * Returns the end of a node that has succeeded in an earlier try.
         *
         * @param id the id of the node
         * @param value the value, may be null
         * @return the entry
         */
        public static NodeEnded succeeded(String id, @Nullable Object value) {
            return new NodeEnded(id, NodeState.SUCCESS, ValueSource.ACTION, value, 1, null, 0, Instant.EPOCH);
        }

        boolean isOfEarlierTry() {
            return number == 0;
        }

        NodeEnded ofEarlierTry() {
            return new NodeEnded(id, state, via, value, attempt, failure, 0, at);
        }

        /**
         * Returns whether the node has succeeded.
         *
         * @return whether it has a value
         */
        public boolean isSuccess() {
            return state == NodeState.SUCCESS;
        }
    }

    /**
     * An attempt of a node begins. Recorded only by a process that continues a run whose earlier process has
     * {@linkplain FlowJournal#wasLost died}. If neither the end of the node nor of the attempt follows, that process
     * has died, too: the next one records the attempt as failed, if the node has a retry policy, a fallback or a
     * default.
     *
     * @param id the id of the node; its function may be an action, a subflow or a {@code map}
     * @param attempt the number of the attempt, 1 for the first
     */
    record AttemptBegan(String id, int attempt) implements Entry {}

    /**
     * An attempt of a node has failed, and another one, or the fallback, follows.
     *
     * @param id the id of the node
     * @param attempt the number of the attempt, 1 for the first
     * @param failure the exception
     * @param isLast whether no other attempt follows, only the fallback
     */
    record AttemptFailed(String id, int attempt, RecordedFailure failure, boolean isLast) implements Entry {}

    /**
     * The time of a node is limited. Recorded before its action begins, for nodes with a timeout.
     *
     * @param id the id of the node
     * @param until the moment on the wall clock at which the node times out
     */
    record DeadlineSet(String id, Instant until) implements Entry {}

    /**
     * A node sleeps.
     *
     * @param id the id of the node; of a node of a subflow, the ids of both with a slash between them
     * @param until the moment on the wall clock at which the node ends
     */
    record SleepUntil(String id, Instant until) implements Entry {}

    /**
     * A signal was received. Later signals of the same node are not recorded.
     *
     * @param id the id of the node that waits for the signal; of a node of a subflow, the ids of both with a slash
     *     between them
     * @param value the value, may be null
     */
    record SignalReceived(String id, @Nullable Object value) implements Entry {}

    /**
     * An element of a {@code map} was processed. Or a node of a subflow has this value, and a compensation there that
     * can read it has failed for good.
     *
     * @param id the id of the node that is the {@code map} or the subflow; of one within a subflow, its path
     * @param index the position of the element, or of the node in the subflow, 0 for the first
     * @param value the result, may be null
     */
    record ElementEnded(String id, int index, @Nullable Object value) implements Entry {}

    /**
     * All elements of a {@code map} were processed, so the node has succeeded. Its value is the list of their results,
     * which are recorded already.
     *
     * @param id the id of the node
     * @param size the number of elements
     * @param number the place in the sequence of ends of the try, 1 for the first
     * @param at the moment on the wall clock
     */
    record MapEnded(String id, int size, long number, Instant at) implements Entry {}

    /**
     * The run has no more nodes to run and is about to compensate those that have succeeded.
     *
     * @param status the status that the run will have
     * @param cause the exception that stopped the run; null if none did
     * @param at the moment on the wall clock
     */
    record Compensating(FlowStatus status, @Nullable RecordedFailure cause, Instant at) implements Entry {}

    /**
     * An attempt to compensate a node has failed. In a subflow only the last one is recorded.
     *
     * @param id the id of the node; of a node of a subflow, the ids of both with a slash between them
     * @param attempt the number of the attempt, 1 for the first
     * @param failure the exception
     * @param isLast whether no other attempt follows in this process. A process that continues the run begins anew
     */
    record CompensationAttemptFailed(String id, int attempt, RecordedFailure failure, boolean isLast)
            implements Entry {}

    /**
     * A node was compensated. In a subflow this is recorded only if that had failed before.
     *
     * @param id the id of the node; of a node of a subflow, the ids of both with a slash between them
     */
    record Compensated(String id) implements Entry {}

    /**
     * The run has ended. Later runs with the journal begin another try.
     *
     * @param status its status
     */
    record RunEnded(FlowStatus status) implements Entry {}
}
