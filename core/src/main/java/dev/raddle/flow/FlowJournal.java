package dev.raddle.flow;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
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
 * <p>A node's id must mean the same in all runs that share a journal, and its action should bear to be run again, since a crash
 * may come between its end and the record, or between the record and the undoing.
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
        return new FlowJournal() {
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
