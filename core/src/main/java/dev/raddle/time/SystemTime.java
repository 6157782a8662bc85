package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Real time. A future that completes on timeout is the one alarm of the JDK that runs in the shared delay scheduler's own
 * thread, so that it rings although every worker of the common pool is busy; cancelling the future removes it there.
 */
final class SystemTime implements TimeSource {

    static final SystemTime INSTANCE = new SystemTime();

    private SystemTime() {}

    @Override
    public long nanoTime() {
        return System.nanoTime();
    }

    @Override
    @SuppressWarnings("FutureReturnValueIgnored") // ring() lets nothing out that the future could carry
    public Alarm after(Duration delay, Runnable action) {
        CompletableFuture<Boolean> bell = new CompletableFuture<>();
        bell.thenRun(() -> ring(action));
        bell.completeOnTimeout(true, Deadline.nanos(delay), TimeUnit.NANOSECONDS);
        return () -> bell.cancel(false);
    }

    private static void ring(Runnable action) {
        try {
            action.run();
        } catch (Throwable failure) {
            Thread thread = Thread.currentThread();
            thread.getUncaughtExceptionHandler().uncaughtException(thread, failure);
        }
    }

    @Override
    public String toString() {
        return "system time";
    }
}
