package dev.raddle.console;

import dev.raddle.time.Alarm;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;

/** The last answer of a server, which one thread at a time renews in the background. */
final class Reading<T> {

    /*
     * Overview.
     *
     * A look at what was read last starts a thread that reads it again, unless one reads already, or the last reading
     * is not long ago: a second, or thirty times as long as it took, up to half a minute. So a server that is slow is
     * asked less often; one slow answer does not count, as any may be delayed by others. A problem is shown beside what
     * was read before it.
     *
     * A reading that has not ended within ten seconds is interrupted, which ends a wait for a connection. A call on a
     * connection whose other end has gone ends by the timeout of its client; no other thread joins it meanwhile. The
     * threads are platform threads, because virtual threads of the program may keep all carriers busy.
     */

    /** Why the latest reading has failed, or has not ended yet. */
    record Problem(String text, long sinceAt) {}

    private static final Duration PATIENCE = Duration.ofSeconds(10);
    private static final long SLOW_MILLIS = 5_000;
    private static final long LONGEST_REST_MILLIS = 30_000;
    private static final int REST_PER_WORK = 30;

    private final long shortestRestMillis;
    private final LongFunction<T> source; // may block, and throw
    private final AtomicBoolean isReading = new AtomicBoolean();
    private volatile @Nullable T last; // written while reading, as are those below
    private volatile @Nullable Problem problem;
    private volatile long begunAt;
    private volatile long tookMillis;
    private volatile long restsUntil;
    private volatile boolean isExpired; // written by any thread

    Reading(Duration shortestRest, LongFunction<T> source) {
        this.shortestRestMillis = shortestRest.toMillis();
        this.source = source;
    }

    /** Returns what was read last, or null before that. */
    @Nullable
    T last(long now) {
        boolean isDue = isExpired || now >= restsUntil || now < begunAt; // the clock may have been set back
        if (isDue && isReading.compareAndSet(false, true)) {
            isExpired = false;
            begunAt = now;
            Thread.ofPlatform().daemon().name("raddle-console-reading").start(() -> read(now));
        }
        return last;
    }

    /** Makes the next {@link #last} start a reading, also if one that has begun before this call has not ended. */
    void expire() {
        isExpired = true;
    }

    @Nullable
    Problem problem(long now) {
        Problem known = problem;
        boolean isSlow = known == null && isReading.get() && now - begunAt >= SLOW_MILLIS;
        return isSlow ? new Problem("it has not answered yet", begunAt) : known;
    }

    private void read(long now) {
        long begin = System.nanoTime();
        AtomicBoolean isLate = new AtomicBoolean();
        Thread reader = Thread.currentThread();
        Alarm limit = TimeSource.system().after(PATIENCE, () -> {
            isLate.set(true);
            reader.interrupt();
        });
        try {
            last = source.apply(now);
            problem = null;
        } catch (Throwable failure) { // also an Error, such as that of a driver without one of its classes
            Problem before = problem;
            String text = isLate.get()
                    ? "it has not answered within " + PATIENCE.toSeconds() + " s"
                    : Failures.cut(UserCode.textOf(failure));
            problem = new Problem(text, before == null ? now : before.sinceAt);
        } finally {
            limit.cancel();
            long took = Duration.ofNanos(System.nanoTime() - begin).toMillis();
            long rest = Math.min(REST_PER_WORK * Math.min(took, tookMillis), LONGEST_REST_MILLIS);
            tookMillis = took;
            restsUntil = now + took + Math.max(rest, shortestRestMillis);
            isReading.set(false);
        }
    }
}
