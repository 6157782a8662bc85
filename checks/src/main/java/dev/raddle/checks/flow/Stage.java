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
 * Where actions, callbacks and the driver of one repetition meet: the gates, one order of all that happens, and what went
 * wrong at once.
 */
final class Stage {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Map<String, CountDownLatch> gates = new ConcurrentHashMap<>();
    private final List<String> complaints = new ArrayList<>(); // guarded by lock
    private long events; // guarded by lock
    private boolean over; // guarded by lock

    /** Something that happened; it sees its number in the order of all. */
    interface Event {
        void happenedAs(long number);
    }

    void happened(Event event) {
        lock.lock();
        try {
            event.happenedAs(++events);
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    <T> T look(java.util.function.Supplier<T> glance) {
        lock.lock();
        try {
            return glance.get();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until something holds, which is looked at again after every event.
     *
     * @return false if the moment came first
     */
    boolean await(BooleanSupplier holds, long untilNanos) throws InterruptedException {
        lock.lockInterruptibly();
        try {
            while (!holds.getAsBoolean()) {
                long left = untilNanos - System.nanoTime();
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
        if (look(() -> over)) {
            gate.countDown();
        }
        return gate;
    }

    /** Lets everything go that still waits, now or later. */
    void openAll() {
        happened(number -> over = true);
        gates.values().forEach(CountDownLatch::countDown);
    }

    void awaitIgnoringInterrupts(String name, Runnable interrupted) {
        boolean wasInterrupted = false;
        while (true) {
            try {
                gate(name).await();
                break;
            } catch (InterruptedException ignored) {
                wasInterrupted = true;
                interrupted.run();
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
        happened(number -> {
            if (!complaints.contains(complaint)) {
                complaints.add(complaint);
            }
        });
    }

    List<String> complaints() {
        return look(() -> List.copyOf(complaints));
    }
}
