package dev.raddle.flow;

import java.util.ArrayList;
import java.util.List;

/** A journal that refuses an entry and all that follow, as if another process had taken the run over. */
final class CuttingJournal implements FlowJournal {

    private final MemoryJournal kept;
    private final boolean stores; // whether the refused entry is stored nevertheless, as if the answer was lost
    private int left;
    private boolean isCut;
    final List<Entry> afterwards = new ArrayList<>(); // the entries that came after the refusal

    /**
     * Creates a journal.
     *
     * @param left how many entries are accepted
     */
    CuttingJournal(MemoryJournal kept, int left, boolean stores) {
        this.kept = kept;
        this.left = left;
        this.stores = stores;
    }

    @Override
    public synchronized List<Entry> open(Work work) {
        return kept.open(work);
    }

    @Override
    public synchronized void record(Entry entry) {
        if (isCut) {
            afterwards.add(entry);
            throw new FencedException("fenced before");
        }
        isCut = left-- == 0;
        if (!isCut || stores) {
            kept.record(entry);
        }
        if (isCut) {
            throw new FencedException("fenced at " + entry);
        }
    }

    synchronized boolean isCut() {
        return isCut;
    }
}
