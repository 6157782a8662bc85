package dev.raddle.testing;

import dev.raddle.task.Scheduler;
import java.util.concurrent.atomic.AtomicInteger;

/** Virtual threads that count who uses them. */
public final class LeasedThreads implements Scheduler {

    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger taken = new AtomicInteger();

    @Override
    public void execute(Runnable task) {
        Thread.startVirtualThread(task);
    }

    @Override
    public Lease lease() {
        taken.incrementAndGet();
        open.incrementAndGet();
        return open::decrementAndGet;
    }

    /** How many leases are open. */
    public int open() {
        return open.get();
    }

    /** How many there have been. */
    public int taken() {
        return taken.get();
    }
}
