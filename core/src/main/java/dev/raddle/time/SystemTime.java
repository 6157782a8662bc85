package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;

/**
 * Real time. Alarms lie on {@linkplain Wheel wheels}, with a resolution of about one millisecond: an alarm never rings
 * early, and on an idle machine a millisecond or two late. Threads are spread over several wheels, so that they seldom meet.
 *
 * <p>A wheel's bell is a future that completes on timeout, the one alarm of the JDK that runs in the shared delay scheduler's
 * own thread, so that it rings although every worker of the common pool is busy; cancelling the future removes it there.
 *
 * <p>The JDK starts that thread, one for the JVM and for as long as it runs, in the thread that first needs it, from which it
 * inherits its thread group and context class loader: those of an application that a container may remove. So the first bell is
 * asked for in a thread that has neither.
 */
final class SystemTime implements TimeSource {

    static final SystemTime INSTANCE = new SystemTime();

    private static final int MOST_WHEELS = 16;

    private final Wheel[] wheels = new Wheel[wheels(Runtime.getRuntime().availableProcessors())];
    private volatile boolean hasTimer; // the JDK's thread has been started; written under the monitor

    private SystemTime() {
        for (int i = 0; i < wheels.length; i++) {
            wheels[i] = new Wheel(System::nanoTime, this::bell);
        }
    }

    /** About two for each processor, a power of two. */
    private static int wheels(int processors) {
        return Math.min(2 * Integer.highestOneBit(2 * processors - 1), MOST_WHEELS);
    }

    private Alarm bell(long nanos, Runnable stroke) {
        if (!hasTimer) {
            startTimer();
        }
        return ask(nanos, stroke);
    }

    @SuppressWarnings("FutureReturnValueIgnored") // a stroke does not throw
    private static Alarm ask(long nanos, Runnable stroke) {
        CompletableFuture<Boolean> bell = new CompletableFuture<>();
        bell.thenRun(stroke);
        bell.completeOnTimeout(true, nanos, TimeUnit.NANOSECONDS);
        return () -> bell.cancel(false);
    }

    /** Has the JDK start its thread in one that has nothing to pass on. */
    private synchronized void startTimer() {
        if (hasTimer) {
            return;
        }
        FutureTask<Alarm> first = new FutureTask<>(() -> ask(1, () -> {}));
        Thread starter = Thread.ofPlatform()
                .group(outermost(Thread.currentThread().getThreadGroup()))
                .name("raddle-timer-start")
                .daemon()
                .inheritInheritableThreadLocals(false)
                .unstarted(first);
        starter.setContextClassLoader(null);
        starter.start();
        await(first);
        hasTimer = true;
    }

    private static ThreadGroup outermost(ThreadGroup group) {
        ThreadGroup outer = group;
        while (outer.getParent() != null) {
            outer = outer.getParent();
        }
        return outer;
    }

    /** Waits for something that takes no time. An interrupt is put off. */
    private static void await(Future<?> future) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    future.get();
                    return;
                } catch (InterruptedException putOff) {
                    interrupted = true;
                } catch (ExecutionException failure) {
                    throw new IllegalStateException("the JDK's timer thread cannot be started", failure.getCause());
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
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
