package dev.raddle.pool;

import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.OverdueReports;
import dev.raddle.pool.PoolListener.Stuck;
import dev.raddle.pool.Worker.Activity;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Finds the tasks that have run for longer than an interval, each once in each interval, to be reported. */
final class StuckTaskWatchdog {

    /** A task that has exceeded the interval. */
    private record Overdue(Activity activity, Duration ranFor) {
        @Nullable
        Thread runner() {
            return activity.runner();
        }
    }

    private final WorkerRegistry registry;
    private final Observation observation;
    private final TimeSource time;
    private final long intervalNanos;
    private final OverdueReports<Overdue> reports;

    StuckTaskWatchdog(
            Duration interval,
            TimeSource time,
            OffloadExecutor elsewhere,
            WorkerRegistry registry,
            Observation observation) {
        this.registry = registry;
        this.observation = observation;
        this.time = time;
        this.intervalNanos = Deadline.nanos(interval);
        this.reports =
                new OverdueReports<>(time, this::untilNext, elsewhere, this::overdue, Overdue::runner, this::report);
    }

    /** Starts the watch. Called when a worker begins, or continues after its removal. */
    void start() {
        reports.arm();
    }

    void end() {
        reports.end();
    }

    /** Returns the time until the next task may be overdue, or null without workers. */
    private @Nullable Duration untilNext() {
        long now = time.nanoTime();
        long[] next = {Long.MAX_VALUE};
        registry.forEach(worker -> next[0] = Math.min(next[0], untilOverdue(worker, worker.activity(), now)));
        return next[0] == Long.MAX_VALUE ? null : Duration.ofNanos(Math.max(0, next[0]));
    }

    /** Returns the time until the next report of a worker's task is due, or may be due if the worker has none. */
    private long untilOverdue(Worker worker, Activity activity, long now) {
        long startedAt = worker.startedAt;
        if (!activity.isRunning() || !worker.activity().isSameTask(activity)) {
            return intervalNanos; // idle, or its task has just begun
        }
        boolean isReported = worker.reportedTask == activity.completed();
        return (isReported ? worker.reportedAt : startedAt) + intervalNanos - now;
    }

    private List<Overdue> overdue() {
        long now = time.nanoTime();
        List<Overdue> found = new ArrayList<>();
        registry.forEach(worker -> {
            Activity activity = worker.activity();
            if (untilOverdue(worker, activity, now) <= 0) {
                found.add(new Overdue(activity, Duration.ofNanos(now - worker.startedAt)));
                worker.reportedAt = now;
                worker.reportedTask = activity.completed();
            }
        });
        return found;
    }

    private void report(Overdue task, @Nullable Thread runner, StackTraceElement[] stack) {
        if (runner != null) { // else it has ended
            observation.stuck(new Stuck(task.activity.requireTask(), runner, task.ranFor, List.of(stack)));
        }
    }
}
