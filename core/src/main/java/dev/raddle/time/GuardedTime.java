package dev.raddle.time;

import java.time.Duration;
import java.util.function.Consumer;

/** A time source of the user's that may throw: see {@link UserCode#clock}. */
final class GuardedTime implements TimeSource {

    private final TimeSource source;
    private final Consumer<Throwable> report;
    private volatile long last; // what was read last; a moment near that one will do

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
            last = now;
            return now;
        } catch (Throwable failure) {
            report.accept(failure);
            return last;
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
