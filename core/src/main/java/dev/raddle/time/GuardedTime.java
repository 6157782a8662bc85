package dev.raddle.time;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/** Guards a user's time source, which may throw. See {@link UserCode#clock}. */
final class GuardedTime implements TimeSource {

    private static final long NEVER = Long.MIN_VALUE;

    private final TimeSource source;
    private final Consumer<Throwable> report;

    /**
     * The latest moment that any thread has read, so that time does not go back for any thread when the source breaks.
     */
    private final AtomicLong latest = new AtomicLong(NEVER);

    GuardedTime(TimeSource source, Consumer<Throwable> report) {
        this.source = source;
        this.report = report;
    }

    static TimeSource unguarded(TimeSource time) {
        return time instanceof GuardedTime guarded ? guarded.source : time;
    }

    @Override
    public long nanoTime() {
        try {
            long now = source.nanoTime();
            note(now);
            return now;
        } catch (Throwable failure) {
            report.accept(failure);
            long moment = latest.get();
            return moment == NEVER ? 0 : moment;
        }
    }

    private void note(long now) {
        for (; ; ) {
            long before = latest.get();
            if ((before != NEVER && now - before <= 0) || latest.compareAndSet(before, now)) {
                return;
            }
        }
    }

    @Override
    public Alarm after(Duration delay, Runnable action) {
        Alarm alarm = source.after(delay, action);
        return () -> {
            try {
                return alarm.cancel();
            } catch (Throwable failure) {
                report.accept(failure);
                return false;
            }
        };
    }

    @Override
    public boolean follow(Runnable action) {
        try {
            return source.follow(action);
        } catch (Throwable failure) {
            report.accept(failure);
            return false;
        }
    }

    @Override
    public String toString() {
        return UserCode.textOf(source);
    }
}
