package dev.raddle.time;

import dev.raddle.lock.TimerThread;
import java.time.Duration;
import java.util.function.LongSupplier;

/**
 * Real time. {@linkplain Wheel Wheels} hold the alarms, with a resolution of about one millisecond: an alarm never
 * fires early, and on an idle machine it fires a millisecond or two late. Threads are spread over several wheels to
 * reduce contention. One {@linkplain TimerThread thread} fires the alarms of all wheels.
 */
final class SystemTime implements TimeSource, LongSupplier, Wheel.Timer {

    static final SystemTime INSTANCE = new SystemTime();

    private static final int MAX_WHEELS = 16;

    private final Wheel[] wheels = new Wheel[wheelCount(Runtime.getRuntime().availableProcessors())];

    private SystemTime() {
        for (int i = 0; i < wheels.length; i++) {
            wheels[i] = new Wheel(this, this);
        }
    }

    /** Returns about two for each processor, a power of two. */
    private static int wheelCount(int processors) {
        return Math.min(2 * Integer.highestOneBit(2 * processors - 1), MAX_WHEELS);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public long getAsLong() {
        return System.nanoTime();
    }

    @Override
    public Alarm after(long nanos, TimerThread.Wakeup wakeup) {
        return new Requested(TimerThread.SHARED.after(nanos, wakeup));
    }

    /** A wakeup of a wheel, as the wheel sees it. */
    private record Requested(TimerThread.Request request) implements Alarm {
        @Override
        public boolean cancel() {
            return request.cancel();
        }
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        TimerThread.SHARED.start(); // before this thread touches a wheel, on whose wakeups others rely
        int hash = (int) Thread.currentThread().threadId(); // ids are consecutive
        return wheels[hash & (wheels.length - 1)].after(Deadline.nanos(delay), action);
    }

    @Override
    public String toString() {
        return "system time";
    }
}
