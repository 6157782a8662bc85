package dev.raddle.flow;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the values of finished nodes, so that a run that was cut off can be taken up by another: the socket for durable runs.
 *
 * <p>A run asks for all nodes when it begins. Those that are recorded have succeeded and are not run again. A node is recorded
 * after its action has returned and before anything that depends on it begins; if that throws, the node fails. What an
 * action returns after its node was ended, by a deadline or a cancel, is dropped and not recorded; only if it is ended while it
 * is being recorded it may be both.
 *
 * <p>What a failed run has {@linkplain Node#compensate undone} is not finished any more, from just before that. If undoing it
 * throws, it is recorded as finished again: the next run does not run it again, and undoes it if it fails, too. If the journal
 * throws, the node is not undone. Restored nodes are undone after all that the run itself has completed, dependants before what
 * they depend on.
 *
 * <p>A journal belongs to one {@linkplain Work piece of work}: the first run binds it, and a run of another plan or with another
 * parameter is refused. A node's action should bear to be run again, since a crash may come between its end and the record, or
 * between the record and the undoing.
 *
 * <p>An implementation must be safe for many threads. {@link #finished} should not return before the record survives a crash.
 */
public interface FlowJournal {

    /**
     * The value of a finished node.
     *
     * @param value may be null
     */
    record Recorded(@Nullable Object value) {}

    /**
     * What a run does, as far as a journal has to know: runs of equal work may share a journal.
     *
     * @param flow the name of the plan
     * @param plan a digest of the plan's nodes, their dependencies and its outputs, which is the same in every JVM. It says nothing
     *     of actions, options, or what is inside of subflows
     * @param parameter what the run was started with, or what {@link RunOptions#withJournal(FlowJournal, String)} has named
     *     instead; may be null
     */
    record Work(String flow, String plan, @Nullable Object parameter) {

        /** Returns why a journal that was begun for other work is of no use for this, unless it is the same work. */
        @Nullable
        IllegalArgumentException differs(String journal, String itsFlow, String itsPlan, boolean sameParameter) {
            String begun = journal + " was begun by a run of ";
            if (!itsFlow.equals(flow)) {
                return refusal(begun + "flow \"" + itsFlow + "\", and this is flow \"" + flow + "\"");
            }
            if (!itsPlan.equals(plan)) {
                return refusal(begun + "flow \"" + flow + "\" with other nodes or dependencies: its plan was "
                        + abbreviated(itsPlan) + " and is " + abbreviated(plan));
            }
            return sameParameter ? null : refusal(begun + "flow \"" + flow + "\" with another parameter");
        }

        private static IllegalArgumentException refusal(String difference) {
            return new IllegalArgumentException(difference + "; give each piece of work a journal of its own");
        }

        private static String abbreviated(String digest) {
            return digest.substring(0, Math.min(8, digest.length()));
        }
    }

    /**
     * Binds this journal to a piece of work, or ensures that it is bound to that. Each run calls this once, before it asks for its
     * nodes. Does nothing unless an implementation says otherwise.
     *
     * @param work what the run does
     * @throws IllegalArgumentException if the journal is bound to other work; the message names the difference
     */
    default void bind(Work work) {}

    /**
     * Returns what is recorded of a node.
     *
     * @param id which
     * @return its value, or null if it has not finished
     */
    @Nullable
    Recorded find(String id);

    /**
     * Records that a node has succeeded.
     *
     * @param id which
     * @param value its value, may be null
     * @throws Exception if that cannot be recorded; the node then fails
     */
    void finished(String id, @Nullable Object value) throws Exception;

    /**
     * Records that a node is not finished any more, because what it did is about to be undone.
     *
     * @param id which
     * @throws Exception if that cannot be recorded
     */
    void undone(String id) throws Exception;

    /**
     * Returns a journal that lives as long as this JVM.
     *
     * @return a new one, empty
     */
    static FlowJournal inMemory() {
        Map<String, Recorded> records = new ConcurrentHashMap<>();
        AtomicReference<@Nullable Work> bound = new AtomicReference<>();
        return new FlowJournal() {
            @Override
            public void bind(Work work) {
                if (bound.compareAndSet(null, work)) {
                    return;
                }
                Work known = Objects.requireNonNull(bound.get());
                IllegalArgumentException difference = work.differs(
                        "journal in memory",
                        known.flow(),
                        known.plan(),
                        Objects.equals(known.parameter(), work.parameter()));
                if (difference != null) {
                    throw difference;
                }
            }

            @Override
            public @Nullable Recorded find(String id) {
                return records.get(id);
            }

            @Override
            public void finished(String id, @Nullable Object value) {
                records.put(id, new Recorded(value));
            }

            @Override
            public void undone(String id) {
                records.remove(id);
            }

            @Override
            public String toString() {
                return "journal in memory of " + records.size() + " nodes";
            }
        };
    }
}
