package dev.raddle.testing;

import dev.raddle.task.Scheduler;
import java.util.concurrent.atomic.AtomicInteger;

/** A scheduler of virtual threads that counts its leases. */
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

    /** Returns the number of open leases. */
    public int open() {
        return open.get();
    }

    /** Returns the number of leases that have been taken. */
    public int taken() {
        return taken.get();
    }
}
