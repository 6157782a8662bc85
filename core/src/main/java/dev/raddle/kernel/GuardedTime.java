package dev.raddle.kernel;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;

/**
 * A clock that tolerates a broken time source: while {@link TimeSource#nanoTime()} throws, its time stands still, and
 * an alarm whose cancellation throws stays armed. Arming an alarm still throws what the time source throws.
 */
public final class GuardedTime implements TimeSource {

    private static final long NEVER = Long.MIN_VALUE;

    private final TimeSource source;
    private final Consumer<Throwable> report;

    /**
     * The latest moment that any thread has read, so that time does not go back for any thread when the source breaks.
     */
    private final AtomicLong latest = new AtomicLong(NEVER);

    private GuardedTime(TimeSource source, Consumer<Throwable> report) {
        this.source = source;
        this.report = report;
    }

    /**
     * Guards a time source.
     *
     * @param source the time source
     * @param report the receiver of exceptions from the time source
     * @return the guarded clock, or the time source itself if it is the system's, which does not throw
     */
    public static TimeSource guard(TimeSource source, Consumer<Throwable> report) {
        return source == TimeSource.system() || source instanceof GuardedTime
                ? source
                : new GuardedTime(source, report);
    }

    /**
     * Returns whether two time sources are the same clock.
     *
     * @param one the first time source, guarded or not
     * @param other the second time source, guarded or not
     * @return true if they are the same object once their guards are removed
     */
    public static boolean isSameClock(TimeSource one, TimeSource other) {
        return unguarded(one) == unguarded(other);
    }

    /**
     * Returns a time source without its guard.
     *
     * @param time the time source, guarded or not
     * @return the time source
     */
    public static TimeSource unguarded(TimeSource time) {
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

    @Override
    public Instant instant() {
        try {
            return source.instant();
        } catch (Throwable failure) {
            report.accept(failure);
            return Instant.now();
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
