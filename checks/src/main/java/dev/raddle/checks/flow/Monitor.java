package dev.raddle.checks.flow;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;

/**
 * The shared state of the actions, the callbacks and the driver of one repetition: the gates, a total order of events,
 * and the complaints.
 */
final class Monitor {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final List<String> complaints = new ArrayList<>(); // guarded by lock
    private long events; // guarded by lock
    private boolean allOpen; // guarded by lock

    /** An update of the recorded state, made while the monitor is held. */
    interface Event {
        /** Applies the update as the event of the given number. */
        void apply(long number);
    }

    void record(Event event) {
        lock.lock();
        try {
            event.apply(++events);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    <T> T read(java.util.function.Supplier<T> reader) {
        lock.lock();
        try {
            return reader.get();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until a condition holds. It is evaluated again after every event.
     *
     * @return false if the deadline passed first
     */
    boolean await(BooleanSupplier holds, long deadlineNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!holds.getAsBoolean()) {
                long left = deadlineNanos - System.nanoTime();
                if (left <= 0) {
                    return false;
                }
                changed.awaitNanos(left);
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    CountDownLatch gate(String name) {
        CountDownLatch gate = gates.computeIfAbsent(name, absent -> new CountDownLatch(1));
        if (read(() -> allOpen)) {
            gate.countDown();
        }
        return gate;
    }

    /** Opens all gates, also those that are created later. */
    void openAll() {
        record(number -> allOpen = true);
        gates.values().forEach(CountDownLatch::countDown);
    }

    void awaitUninterruptibly(String name, Runnable onInterrupt) {
        boolean wasInterrupted = false;
        while (true) {
            try {
                gate(name).await();
                break;
            } catch (InterruptedException ignored) {
                wasInterrupted = true;
                onInterrupt.run();
            }
        }
        if (wasInterrupted) {
            Thread.currentThread().interrupt();
        }
    }

    static long inSeconds(long seconds) {
        return System.nanoTime() + TimeUnit.SECONDS.toNanos(seconds);
    }

    void complain(String complaint) {
        record(number -> {
            if (!complaints.contains(complaint)) {
                complaints.add(complaint);
            }
        });
    }

    List<String> complaints() {
        return read(() -> List.copyOf(complaints));
    }
}
