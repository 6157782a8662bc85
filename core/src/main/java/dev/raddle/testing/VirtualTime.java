package dev.raddle.testing;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A time source that stands still until it is told to advance. Alarms fire in the thread that advances it, in the order of
 * their moments, and of their making where these are equal; what follows from one, listeners and rejections included, is
 * done in the same thread before the next. A task that an alarm starts runs where its scheduler runs it.
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

    /** By thread that advances this: what follows from the alarm that it fires. Each queue is used by its thread alone. */
    private final ConcurrentHashMap<Thread, ArrayDeque<Runnable>> following = new ConcurrentHashMap<>();

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

    @Override
    public boolean follow(Runnable action) {
        ArrayDeque<Runnable> actions = following.get(Thread.currentThread());
        return actions != null && actions.add(action);
    }

    /**
     * Lets time pass and fires every alarm on the way, those included that are made meanwhile. When this method returns, all
     * that was due has happened: tasks whose time was over are settled and their listeners notified.
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
        ArrayDeque<Runnable> own = new ArrayDeque<>();
        ArrayDeque<Runnable> outer = following.putIfAbsent(Thread.currentThread(), own);
        ArrayDeque<Runnable> actions = outer == null ? own : outer; // an alarm's action may advance time, too
        try {
            for (Runnable action; (action = nextUntil(end)) != null; ) {
                actions.addFirst(action);
                runAll(actions);
            }
        } finally {
            if (outer == null) {
                following.remove(Thread.currentThread());
            }
        }
    }

    private static void runAll(ArrayDeque<Runnable> actions) {
        Throwable thrown = null;
        for (Runnable action; (action = actions.poll()) != null; ) {
            try {
                action.run();
            } catch (Throwable failure) {
                if (thrown == null) {
                    thrown = failure;
                } else if (thrown != failure) {
                    thrown.addSuppressed(failure);
                }
            }
        }
        if (thrown instanceof Error error) {
            throw error;
        }
        if (thrown != null) {
            throw (RuntimeException) thrown;
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
     * Waits, in real time and for as long as it takes, until another thread has made alarms: so a test knows that the thread
     * has begun to wait.
     *
     * @param count how many alarms must be pending
     * @throws InterruptedException if the calling thread is interrupted
     * @see #awaitAlarms(int, Duration)
     */
    public synchronized void awaitAlarms(int count) throws InterruptedException {
        while (entries.size() < count) {
            wait();
        }
    }

    /**
     * Waits, in real time, until another thread has made alarms, and fails if it does not.
     *
     * {@snippet :
     * Thread runner = steps.startNext().orElseThrow(); // its first attempt fails, and it rests before the next
     * time.awaitAlarms(1, Duration.ofSeconds(30));
     * time.advance(Duration.ofMillis(100));
     * runner.join();
     * }
     *
     * @param count how many alarms must be pending
     * @param longest how long to wait at most, of real time
     * @throws TimeoutException if there are still fewer after that time
     * @throws InterruptedException if the calling thread is interrupted
     */
    public synchronized void awaitAlarms(int count, Duration longest) throws InterruptedException, TimeoutException {
        long end = TimeSource.system().nanoTime() + Deadline.nanos(longest);
        for (long left; entries.size() < count; ) {
            left = end - TimeSource.system().nanoTime();
            if (left <= 0) {
                throw new TimeoutException(entries.size() + " of " + count + " alarms were pending after "
                        + TimeUnit.NANOSECONDS.toMillis(Deadline.nanos(longest)) + " ms");
            }
            TimeUnit.NANOSECONDS.timedWait(this, left);
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
