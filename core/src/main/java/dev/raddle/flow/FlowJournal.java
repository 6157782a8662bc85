package dev.raddle.flow;

import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Stores the values of finished nodes, so that another run can continue an interrupted one. Implement this interface
 * for durable runs.
 *
 * <p>A run looks up all nodes when it begins. Recorded nodes have succeeded and are not run again. A node is recorded
 * after its action has returned and before any node that depends on it begins; if the journal throws, the node fails.
 * The result of an action whose node has ended, by a deadline or a cancel, is dropped and not recorded. Only if the
 * node is ended while it is being recorded, it may be recorded nevertheless.
 *
 * <p>When a failed run {@linkplain Node#compensate undoes} a node, the node is recorded as undone immediately before.
 * If the compensation throws, the node is recorded as finished again: the next run does not run it again, and undoes it
 * if that run fails, too. If the journal throws, the node is not undone. Restored nodes are undone after all nodes that
 * the run itself has completed, dependents before their upstreams.
 *
 * <p>A journal belongs to one {@linkplain Work piece of work}: the first run binds it, and a run of another plan or
 * with another parameter is refused. The actions of nodes should be repeatable, since a crash may occur between the end
 * of an action and its record, or between the record and the compensation.
 *
 * <p>An implementation must be thread-safe. {@link #finished} should not return before the record survives a crash.
 */
public interface FlowJournal {

    /**
     * The value of a finished node.
     *
     * @param value the value, may be null
     */
    record Recorded(@Nullable Object value) {}

    /**
     * The identity of the work of a run: runs of equal work may share a journal.
     *
     * @param flow the name of the plan
     * @param plan a digest of the plan's nodes, their dependencies and its outputs, which is the same in every JVM; it
     *     does not include actions, options, or the contents of subflows
     * @param parameter the parameter of the run, or the key given to
     *     {@link RunOptions#withJournal(FlowJournal, String)}; may be null
     */
    record Work(String flow, String plan, @Nullable Object parameter) {

        /** Returns the exception for a journal of different work, or null if the work is the same. */
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
     * Binds this journal to a piece of work, or ensures that it is bound to that work. Each run calls this once, before
     * it looks up its nodes. The default implementation does nothing.
     *
     * @param work the work of the run
     * @throws IllegalArgumentException if the journal is bound to other work; the message names the difference
     */
    default void bind(Work work) {}

    /**
     * Returns the record of a node.
     *
     * @param id the id of the node
     * @return its value, or null if the node is not recorded as finished
     */
    @Nullable
    Recorded find(String id);

    /**
     * Records that a node has succeeded.
     *
     * @param id the id of the node
     * @param value its value, may be null
     * @throws Exception if the record cannot be written; the node then fails
     */
    void finished(String id, @Nullable Object value) throws Exception;

    /**
     * Records that a node is no longer finished, because it is about to be undone.
     *
     * @param id the id of the node
     * @throws Exception if the record cannot be written
     */
    void undone(String id) throws Exception;

    /**
     * Returns a journal in memory.
     *
     * @return a new, empty journal
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
