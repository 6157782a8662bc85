package dev.raddle.flow;

import dev.raddle.testing.Wait;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;

/** A journal in memory that pauses in the record of chosen entries until it is released. */
final class PausingJournal implements FlowJournal {

    private final MemoryJournal kept = FlowJournal.inMemory();
    private final Predicate<Entry> pausesAt;
    private final CountDownLatch reached = new CountDownLatch(1);
    private final CountDownLatch go = new CountDownLatch(1);
    private volatile boolean refuses;
    private volatile boolean wasInterrupted;

    PausingJournal(Predicate<Entry> pausesAt) {
        this.pausesAt = pausesAt;
    }

    /** Pauses when the end of a node is recorded. */
    static PausingJournal atEndOf(String id) {
        return new PausingJournal(
                entry -> entry instanceof Entry.NodeEnded end && end.id().equals(id));
    }

    @Override
    public List<Entry> open(Work work) {
        return kept.open(work);
    }

    @Override
    public void record(Entry entry) throws IOException {
        if (pausesAt.test(entry)) {
            reached.countDown();
            Wait.uninterruptibly(go);
            wasInterrupted |= Thread.currentThread().isInterrupted();
            if (refuses) {
                throw new IOException("the disk is full");
            }
        }
        kept.record(entry);
    }

    void awaitPause() throws InterruptedException {
        reached.await();
    }

    void release() {
        go.countDown();
    }

    /** Lets the paused record fail. */
    void refuse() {
        refuses = true;
        go.countDown();
    }

    /** Returns whether a thread was interrupted before the end of its record. */
    boolean wasInterrupted() {
        return wasInterrupted;
    }

    List<Entry> entries() {
        return kept.entries();
    }
}
