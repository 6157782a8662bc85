package dev.raddle.pool;

import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Reports tasks that run for long, once in each interval. */
final class StuckWatch {

    private final Roster roster;
    private final Reporter reporter;
    private final TimeSource time;
    private final long intervalNanos; // Rounds.NEVER if nobody wants to know
    private final Rounds rounds;

    StuckWatch(Roster roster, Reporter reporter, TimeSource time, @Nullable Duration interval) {
        this.roster = roster;
        this.reporter = reporter;
        this.time = time;
        this.intervalNanos = interval == null ? Rounds.NEVER : Deadline.nanos(interval);
        this.rounds = new Rounds(time, this::round);
    }

    /** Begins to watch, if that is wanted. To be called after each change of the roster. */
    void start() {
        if (intervalNanos != Rounds.NEVER) {
            rounds.within(intervalNanos);
        }
    }

    void end() {
        rounds.end();
    }

    /** Returns when the next round is due: when the next task can be overdue, for as long as there is a worker. */
    private long round() {
        long now = time.nanoTime();
        long[] next = {Rounds.NEVER};
        List<Runnable> reports = new ArrayList<>();
        roster.forEach(worker -> {
            Runnable task = worker.doing().task();
            if (task != null && now - worker.reportedAt >= intervalNanos) {
                worker.reportedAt = now;
                Duration ranFor = Duration.ofNanos(now - worker.startedAt);
                reports.add(() -> reporter.stuck(task, worker.thread(), ranFor));
            }
            next[0] = Math.min(next[0], task == null ? intervalNanos : worker.reportedAt + intervalNanos - now);
        });
        if (!reports.isEmpty()) {
            Thread.ofVirtual().start(() -> reports.forEach(Runnable::run)); // an alarm's thread is not for foreign code
        }
        return next[0];
    }
}
