package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A journal in memory, for runs that are continued in the same JVM, and for tests. */
public final class MemoryJournal implements FlowJournal {

    private final List<Entry> entries = new ArrayList<>(); // guarded by this
    private @Nullable Work bound; // guarded by this

    MemoryJournal() {}

    @Override
    public synchronized List<Entry> open(Work work) {
        if (bound == null) {
            bound = work;
        } else {
            work.requireSame(bound, "journal in memory");
        }
        return List.copyOf(entries);
    }

    @Override
    public synchronized void record(Entry entry) {
        entries.add(entry);
    }

    /**
     * Returns what is recorded.
     *
     * @return the entries, in the order of their records
     */
    public synchronized List<Entry> entries() {
        return List.copyOf(entries);
    }

    @Override
    public String toString() {
        return "journal in memory of " + entries().size() + " entries";
    }
}
