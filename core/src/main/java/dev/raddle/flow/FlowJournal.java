package dev.raddle.flow;

import dev.raddle.task.CheckReturnValue;
import dev.raddle.time.TimeSource;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The memory of a run that outlives its process: a log of {@linkplain Entry entries}, to which the run appends, and
 * which the next run reads. Implement this interface for durable runs.
 *
 * {@snippet :
 * public List<Entry> open(Work work) throws SQLException {
 *     bindOrRefuse(work.withDigest(codec));
 *     return entriesOf(run); // one query, in the order of the records
 * }
 *
 * public void record(Entry entry) throws SQLException {
 *     if (insertIfFenceIs(fence, entry) == 0) { // one statement
 *         throw new FencedException("run " + run + " was taken over: its fence is not " + fence + " any more");
 *     }
 * }
 * }
 *
 * <p><b>What a run promises.</b> It calls {@link #open} once, before anything else. It records an entry before any
 * consequence of it: a node that depends on an ended node begins after the record, and so does the next attempt of a
 * node. It records nothing after a {@link FencedException}, and nothing after {@link Entry.RunEnded}, except that the
 * failed attempt, deadline or sleep of a node that was ended from outside may be recorded late, without any effect. The
 * caller must not use a journal for two runs at the same time, unless the journal refuses that. Several threads may
 * record at the same time, but never two entries about the same node, except for elements of a {@code map} and
 * signals.
 *
 * <p><b>What a journal promises.</b> When {@code record} has returned, the entry survives a crash, and the next
 * {@code open} finds it. When it has thrown, the entry may survive or not. An entry is whole or not there. Entries that
 * were recorded one after the other are found in that order.
 *
 * <p><b>What a resumed run does.</b> Nodes that have ended do not run again, and their callbacks are not called. An
 * attempt whose end is not recorded runs again, with the same number. So the actions of nodes should be repeatable,
 * since a process may end between the end of an action and its record. The same holds for compensations. The result of
 * an action whose node has ended, by a deadline or a cancel, is dropped and not recorded. A deadline or a cancel that
 * comes while the end of a node is being recorded does not end that node; the run waits for the record.
 *
 * <p>If {@code record} throws another exception than {@code FencedException}, the node in question fails with it. A
 * node whose compensation cannot be recorded counts as not compensated, and the end of the run is then not recorded, so
 * that the next run continues to compensate.
 */
public interface FlowJournal {

    /**
     * The identity of a run. Runs of equal work continue one another.
     *
     * @param run the id of the run, given to {@link RunOptions#withJournal(FlowJournal, String)}, or null
     * @param flow the name of the plan
     * @param plan a digest of the plan's nodes, their dependencies and its outputs, which is the same in every JVM; it
     *     does not include actions, options, or the contents of subflows
     * @param parameter the parameter of the run; null for a run with an id, since the id identifies the parameter
     */
    record Work(
            @Nullable String run,
            String flow,
            String plan,
            @Nullable Object parameter) {

        private static final String NOTHING = "-";

        /**
         * Returns this work with a digest in place of the parameter, so that a journal can store it as texts. The
         * digest of a string, a number, a boolean, a character, an enum or a UUID is that of its text; otherwise it is
         * that of the bytes of the codec. It includes the class.
         *
         * @param codec the codec of the journal
         * @return work whose parameter is a string
         * @throws IllegalArgumentException if the codec cannot encode the parameter
         */
        @CheckReturnValue
        public Work withDigest(FlowCodec codec) {
            return new Work(run, flow, plan, parameter == null ? NOTHING : digest(parameter, codec));
        }

        private static String digest(Object parameter, FlowCodec codec) {
            byte[] bytes;
            try {
                String text = identifyingText(parameter);
                bytes = text == null ? BasicCodecs.encode(codec, parameter) : BasicCodecs.utf8(text);
            } catch (IOException | RuntimeException failure) {
                throw new IllegalArgumentException(
                        "the journal cannot store the parameter of the run, a "
                                + parameter.getClass().getName()
                                + "; identify the run with RunOptions.withJournal(journal, id)",
                        failure);
            }
            MessageDigest sum = Graph.newSum();
            sum.update(parameter.getClass().getName().getBytes(StandardCharsets.UTF_8));
            sum.update((byte) 0);
            return HexFormat.of().formatHex(sum.digest(bytes));
        }

        /** Returns a text that identifies a value of its class in every JVM, or null if there may be none. */
        private static @Nullable String identifyingText(Object value) {
            if (value instanceof Enum<?> constant) {
                return constant.name(); // its toString() may be anything
            }
            boolean isNumber = value instanceof Number
                    && value.getClass().getName().startsWith("java.")
                    && value instanceof Comparable<?>;
            return isNumber
                            || value instanceof String
                            || value instanceof Boolean
                            || value instanceof Character
                            || value instanceof UUID
                    ? value.toString()
                    : null;
        }

        /**
         * Ensures that a journal may be used for this work.
         *
         * @param begun the work that the journal is bound to, with its parameter in the same form as that of this work
         * @param journal the name of the journal, for the message
         * @throws IllegalArgumentException if the work is different; the message names the difference
         */
        public void requireSame(Work begun, String journal) {
            String text = journal + " was begun by a run of flow \"" + begun.flow + "\"";
            if (!begun.flow.equals(flow)) {
                throw refusal(text + ", and this is flow \"" + flow + "\"");
            }
            if (!begun.plan.equals(plan)) {
                throw refusal(text + " with other nodes or dependencies: its plan was " + abbreviated(begun.plan)
                        + " and is " + abbreviated(plan));
            }
            if (!Objects.equals(begun.run, run)) {
                throw refusal(text + " with " + named(begun.run) + ", and this run has " + named(run));
            }
            if (!Objects.equals(begun.parameter, parameter)) {
                throw refusal(text + " with another parameter");
            }
        }

        private static String named(@Nullable String run) {
            return run == null ? "no id" : "the id \"" + run + "\"";
        }

        private static IllegalArgumentException refusal(String difference) {
            return new IllegalArgumentException(difference + "; give each run a journal of its own");
        }

        private static String abbreviated(String digest) {
            return digest.substring(0, Math.min(8, digest.length()));
        }
    }

    /**
     * Binds this journal to a run, or ensures that it is bound to that run, and returns everything that is recorded.
     *
     * @param work the work of the run
     * @return all entries of the run, in the order in which they were recorded
     * @throws IllegalArgumentException if the journal is bound to other work; see {@link Work#requireSame}
     * @throws FencedException if the run belongs to another process; it then ends as {@link FlowStatus#LOST}
     * @throws Exception if the journal cannot be read; the run then does not start
     */
    List<Entry> open(Work work) throws Exception;

    /**
     * Records an entry. Called in the thread in which the fact became known; for the end of a node and of an attempt,
     * that is the thread of the action.
     *
     * @param entry the entry
     * @throws FencedException if the run belongs to another process; nothing was recorded
     * @throws Exception if the entry cannot be recorded
     */
    void record(Entry entry) throws Exception;

    /**
     * Returns whether an earlier process of the run has died, or may have died, since it last recorded that something
     * ended. A run that continues then records the {@linkplain Entry.AttemptBegan begin of each attempt}, so that a
     * node that kills its process fails in the end, instead of killing one process after the other. Called after
     * {@link #open}. The default implementation returns false.
     *
     * @return whether to record the begins of attempts
     */
    default boolean wasLost() {
        return false;
    }

    /**
     * Called before each attempt of an action, in its thread, for the nodes of the plan and not for those of nested
     * plans. The default implementation does nothing.
     *
     * @param context the context of the node, equal to the one that the action receives and to no other
     */
    default void attemptBegan(NodeContext<?> context) {}

    /**
     * Called in the thread of an action that has returned, before its attempt counts as successful. If this throws an
     * exception, the attempt has failed with it: the retry policy and the fallback apply. The default implementation
     * does nothing.
     *
     * @param id the id of the node
     * @throws Exception if what the action has done through this journal cannot be kept
     */
    default void attemptReturned(String id) throws Exception {}

    /**
     * Returns whether this journal has rolled back what an action had done, because its end could not be recorded.
     * Otherwise the node is compensated if the run is. Called in the thread of the action after {@link #record} has
     * thrown an exception. The default implementation returns false.
     *
     * @param id the id of the node
     * @return whether nothing of the action is left
     */
    default boolean hasRolledBack(String id) {
        return false;
    }

    /**
     * Called when the timeout of a node has passed, before that ends the node, if the node waits for a signal or
     * executes a subflow; and when the deadline of a run with signals has passed, before that ends the run. A journal
     * whose signals arrive elsewhere can deliver here, by {@link FlowRun#signal}, those that were sent in time. The
     * default implementation does nothing.
     *
     * @param id the id of the node, as the path of a signal has it; empty for the deadline of the run
     */
    default void timePassed(String id) {}

    /**
     * Called after each attempt for which {@link #attemptBegan} was called, in its thread, when its end was recorded,
     * or dropped because the node has ended meanwhile. A journal can release here what the action has used through it,
     * such as the connection of a transaction. The default implementation does nothing.
     *
     * @param id the id of the node
     */
    default void attemptEnded(String id) {}

    /**
     * Returns the current moment for what is recorded and compared with moments of other processes. A journal that
     * several machines use can return that of a clock that they share, since their own need not agree. The default
     * implementation returns that of the run.
     *
     * @param ofRun the time source of the run
     * @return the moment
     */
    default Instant instant(TimeSource ofRun) {
        return ofRun.instant();
    }

    /**
     * Returns a journal in memory. It lasts as long as the JVM.
     *
     * @return a new, empty journal
     */
    static MemoryJournal inMemory() {
        return new MemoryJournal();
    }
}
