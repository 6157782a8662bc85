package dev.raddle.testing;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Comparator;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * A time source that stands still until it is told to advance. Alarms ring in the thread that advances it, in the order of
 * their moments, and of their making where these are equal.
 *
 * {@snippet :
 * VirtualTime time = new VirtualTime();
 * time.after(Duration.ofSeconds(2), () -> System.out.println("two seconds later"));
 * time.advance(Duration.ofSeconds(2)); // no real time passes
 * }
 */
public final class VirtualTime implements TimeSource {

    private record Entry(long moment, long sequence, Runnable action) {}

    private final PriorityQueue<Entry> entries = new PriorityQueue<>(
            Comparator.comparingLong(Entry::moment).thenComparingLong(Entry::sequence)); // guarded by this
    private long now; // guarded by this
    private long made; // guarded by this

    /** Creates a time that stands at 0. */
    public VirtualTime() {}

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    @Override
    public synchronized Alarm after(Duration delay, Runnable action) {
        Entry entry = new Entry(now + Math.max(0, Deadline.nanos(delay)), made++, action);
        entries.add(entry);
        notifyAll();
        return () -> {
            synchronized (this) {
                return entries.remove(entry);
            }
        };
    }

    /**
     * Lets time pass and rings every alarm on the way, those included that are made meanwhile.
     *
     * @param length how much time; not negative
     * @throws IllegalArgumentException if it is negative
     */
    public void advance(Duration length) {
        if (length.isNegative()) {
            throw new IllegalArgumentException("time cannot go back, advance was " + length);
        }
        long end;
        synchronized (this) {
            end = now + Deadline.nanos(length);
        }
        for (Runnable action; (action = nextUntil(end)) != null; ) {
            action.run();
        }
    }

    /**
     * Returns how many alarms are pending.
     *
     * @return alarms that have neither rung nor been cancelled
     */
    public synchronized int alarms() {
        return entries.size();
    }

    /**
     * Waits, in real time, until another thread has made alarms: so a test knows that the thread has begun to wait.
     *
     * @param count how many alarms must be pending
     * @throws InterruptedException if the calling thread is interrupted
     */
    public synchronized void awaitAlarms(int count) throws InterruptedException {
        while (entries.size() < count) {
            wait();
        }
    }

    private synchronized @Nullable Runnable nextUntil(long end) {
        Entry next = entries.peek();
        if (next == null || next.moment() - end > 0) {
            now = end;
            return null;
        }
        entries.remove();
        now = Math.max(now, next.moment());
        return next.action();
    }

    @Override
    public synchronized String toString() {
        return "virtual time, " + Duration.ofNanos(now) + " after its start";
    }
}
