package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Real time. {@linkplain Wheel Wheels} hold the alarms, with a resolution of about one millisecond: an alarm never
 * fires early, and on an idle machine it fires a millisecond or two late. Threads are spread over several wheels to
 * reduce contention.
 *
 * <p>The timer of a wheel is a future that completes on timeout. It is the one timer of the JDK that runs its action in
 * the shared delay scheduler's own thread, so it fires even if every worker of the common pool is busy. Cancelling the
 * future removes it from that scheduler.
 *
 * <p>The JDK starts that thread once for the whole life of the JVM, in the thread that needs it first. It inherits the
 * thread group and the context class loader of that thread: those of an application that a container may remove. So the
 * first timeout is armed in a thread that has neither, and each thread whose alarm would come before waits for it. A
 * virtual thread that waits may not run again for long, if others keep the carriers busy. So it waits before it touches
 * a wheel, and without a lock.
 */
final class SystemTime implements TimeSource {

    static final SystemTime INSTANCE = new SystemTime();

    private static final int MAX_WHEELS = 16;

    private final Wheel[] wheels = new Wheel[wheelCount(Runtime.getRuntime().availableProcessors())];
    private volatile boolean timerStarted; // the JDK's thread has been started

    private SystemTime() {
        for (int i = 0; i < wheels.length; i++) {
            wheels[i] = new Wheel(System::nanoTime, SystemTime::arm);
        }
    }

    /** Returns about two for each processor, a power of two. */
    private static int wheelCount(int processors) {
        return Math.min(2 * Integer.highestOneBit(2 * processors - 1), MAX_WHEELS);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the wakeup does not throw
    private static Alarm arm(long nanos, Runnable wakeup) {
        CompletableFuture<Boolean> timeout = new CompletableFuture<>();
        timeout.thenRun(wakeup);
        timeout.completeOnTimeout(true, nanos, TimeUnit.NANOSECONDS);
        return () -> timeout.cancel(false);
    }

    /** Makes the JDK start its timer thread, from a thread without an application's thread group or class loader. */
    private void startTimer() {
        Runnable first = () -> {
            arm(1, () -> {});
            timerStarted = true;
        };
        CompletableFuture.runAsync(first, SystemTime::startOutermost).join();
    }

    private static void startOutermost(Runnable action) {
        Thread starter = Thread.ofPlatform()
                .group(outermost(Thread.currentThread().getThreadGroup()))
                .name("raddle-timer-start")
                .daemon()
                .inheritInheritableThreadLocals(false)
                .unstarted(action);
        starter.setContextClassLoader(null);
        starter.start();
    }

    private static ThreadGroup outermost(ThreadGroup group) {
        ThreadGroup outer = group;
        while (outer.getParent() != null) {
            outer = outer.getParent();
        }
        return outer;
    }

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        if (!timerStarted) {
            startTimer();
        }
        int hash = (int) Thread.currentThread().threadId(); // ids are consecutive
        return wheels[hash & (wheels.length - 1)].after(Deadline.nanos(delay), action);
    }

    @Override
    public String toString() {
        return "system time";
    }
}
