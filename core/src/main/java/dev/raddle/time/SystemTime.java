package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Real time. Alarms lie on {@linkplain Wheel wheels}, with a resolution of about one millisecond: an alarm never rings
 * early, and on an idle machine a millisecond or two late. Threads are spread over several wheels, so that they seldom meet.
 *
 * <p>A wheel's bell is a future that completes on timeout, the one alarm of the JDK that runs in the shared delay scheduler's
 * own thread, so that it rings although every worker of the common pool is busy; cancelling the future removes it there.
 */
final class SystemTime implements TimeSource {

    static final SystemTime INSTANCE = new SystemTime();

    private static final int MOST_WHEELS = 16;

    private final Wheel[] wheels = new Wheel[wheels(Runtime.getRuntime().availableProcessors())];

    private SystemTime() {
        for (int i = 0; i < wheels.length; i++) {
            wheels[i] = new Wheel(System::nanoTime, SystemTime::bell);
        }
    }

    /** About two for each processor, a power of two. */
    private static int wheels(int processors) {
        return Math.min(2 * Integer.highestOneBit(2 * processors - 1), MOST_WHEELS);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // only an uncaught exception handler can make a stroke throw
    private static Alarm bell(long nanos, Runnable stroke) {
        CompletableFuture<Boolean> bell = new CompletableFuture<>();
        bell.thenRun(stroke);
        bell.completeOnTimeout(true, nanos, TimeUnit.NANOSECONDS);
        return () -> bell.cancel(false);
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        int hash = (int) Thread.currentThread().threadId(); // numbered one after the other
        return wheels[hash & (wheels.length - 1)].after(Deadline.nanos(delay), action);
    }

    @Override
    public String toString() {
        return "system time";
    }
}
