package dev.raddle.testing;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.PriorityQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * A time source for tests that changes only when the test advances it. Alarms fire in the thread that advances it,
 * ordered by their moments and, for equal moments, by their creation. All consequences of an alarm, in groups, scopes
 * and flows, happen in the same thread before the next alarm: listeners, callbacks, rejections, default values,
 * compensations and reports. A task that an alarm starts runs on its scheduler, and a task that an alarm wakes, as
 * between two attempts, continues in its own thread.
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

    /** Follow-ups of the firing alarm, by the thread that advances this time. Each queue is used by its thread only. */
    private final ConcurrentHashMap<Thread, ArrayDeque<Runnable>> following = new ConcurrentHashMap<>();

    /** Creates a time source whose clock is at 0. */
    public VirtualTime() {}

    @Override
    public synchronized long nanoTime() {
        return now;
    }

    /** Returns the moment on a wall clock that shows 1970-01-01T00:00:00Z when this time source is created. */
    @Override
    public Instant instant() {
        return Instant.EPOCH.plusNanos(nanoTime());
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
    public boolean isVirtual() {
        return true;
    }

    @Override
    public boolean follow(Runnable action) {
        ArrayDeque<Runnable> actions = following.get(Thread.currentThread());
        return actions != null && actions.add(action);
    }

    /**
     * Advances the clock and fires every alarm that becomes due, including those that are created meanwhile. When this
     * method returns, everything that was due has happened: tasks, nodes and runs that timed out have ended and their
     * listeners are notified, slow tasks and stragglers are reported, and tasks that could start as a result are placed
     * on their schedulers. An action or callback of an alarm may call this method, too. If that advances the clock
     * beyond the given length, what becomes due after the length fires at the next call.
     *
     * @param length the time to advance, not negative
     * @throws IllegalArgumentException if the time is negative
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
                } else {
                    UserCode.addSuppressed(thrown, failure);
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
     * Returns the number of pending alarms.
     *
     * @return the number of alarms that have neither fired nor been cancelled
     */
    public synchronized int alarms() {
        return entries.size();
    }

    /**
     * Waits, in real time and without a timeout, until other threads have created alarms. So a test knows that these
     * threads have begun to wait.
     *
     * @param count the number of alarms that must be pending
     * @throws InterruptedException if the calling thread is interrupted
     * @see #awaitAlarms(int, Duration)
     */
    public synchronized void awaitAlarms(int count) throws InterruptedException {
        while (entries.size() < count) {
            wait();
        }
    }

    /**
     * Waits, in real time and with a timeout, until other threads have created alarms.
     *
     * {@snippet :
     * Thread runner = steps.startNext().orElseThrow(); // its first attempt fails, and the retry delay begins
     * time.awaitAlarms(1, Duration.ofSeconds(30));
     * time.advance(Duration.ofMillis(100));
     * runner.join();
     * }
     *
     * @param count the number of alarms that must be pending
     * @param longest the maximum time to wait, in real time
     * @throws TimeoutException if fewer alarms are pending after that time
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
            advanceTo(end);
            return null;
        }
        entries.remove();
        advanceTo(next.moment());
        return next.action();
    }

    private void advanceTo(long moment) {
        if (moment - now > 0) { // otherwise the alarm is overdue, or an action has advanced the time further
            now = moment;
        }
    }

    @Override
    public synchronized String toString() {
        return "virtual time, " + Duration.ofNanos(now) + " after its start";
    }
}
