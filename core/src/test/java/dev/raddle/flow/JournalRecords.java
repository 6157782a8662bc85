package dev.raddle.flow;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Writes and reads the records of single nodes, for tests. */
final class JournalRecords {

    /** The value of a node that has succeeded and has not been compensated. */
    record Recorded(@Nullable Object value) {}

    private JournalRecords() {}

    static void finish(FlowJournal journal, String id, @Nullable Object value) {
        record(journal, Entry.NodeEnded.succeeded(id, value));
    }

    /** Begins a try in which a node runs again. */
    static void forget(FlowJournal journal, String id) {
        record(journal, new Entry.Begun(Instant.EPOCH, List.of(id)));
    }

    private static void record(FlowJournal journal, Entry entry) {
        try {
            journal.record(entry);
        } catch (RuntimeException failure) {
            throw failure;
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }

    static @Nullable Recorded find(FileJournal journal, String id) {
        return find(journal.entries(), id);
    }

    static @Nullable Recorded find(MemoryJournal journal, String id) {
        return find(journal.entries(), id);
    }

    private static @Nullable Recorded find(List<Entry> entries, String id) {
        Recovered known = new Recovered(entries);
        Entry.NodeEnded end = known.nodes.get(id);
        return end == null || !end.isSuccess() || known.compensated.contains(id) ? null : new Recorded(end.value());
    }
}
