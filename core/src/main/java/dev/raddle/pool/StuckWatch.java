package dev.raddle.pool;

import dev.raddle.pool.Worker.Doing;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Reports tasks that run for long, once in each interval. */
final class StuckWatch {

    /*
     * Overview.
     *
     * An alarm finds the tasks that are overdue, and a platform thread looks at them: reading a stack takes too long for the
     * thread of the alarms, and a virtual thread would wait for carriers that may be what the tasks keep busy. The thread
     * starts when there is a task to look at and ends when there is none. It first reads the stacks of all that are overdue and
     * then makes their reports, so that a slow listener delays no stack.
     *
     * A stack is read between two looks at the worker. If both find the task that was overdue, it is the stack of that task;
     * otherwise the task has ended, and there is no report. So a report never shows what another task does.
     *
     * `overdue` has at most one entry for a worker. While the thread makes a report, a later alarm replaces what has not been
     * looked at. One thread makes all reports, so those of a task come in the order of their times.
     */

    /** A task that has run for long. */
    private record Overdue(Doing doing, Duration ranFor) {

        /** Reads the stack, or returns null if the task has ended. */
        @Nullable
        Report look() {
            Worker worker = doing.worker();
            List<StackTraceElement> stack = List.of(worker.thread().getStackTrace());
            return worker.doing().isSameTask(doing) ? new Report(this, stack) : null;
        }
    }

    private record Report(Overdue overdue, List<StackTraceElement> stack) {}

    private final String pool;
    private final Roster roster;
    private final Reporter reporter;
    private final TimeSource time;
    private final long intervalNanos; // Rounds.NEVER if nobody wants to know
    private final Rounds rounds;
    private final Map<Worker, Overdue> overdue = new LinkedHashMap<>(); // guarded by itself
    private boolean hasThread; // guarded by overdue

    StuckWatch(String pool, Roster roster, Reporter reporter, TimeSource time, @Nullable Duration interval) {
        this.pool = pool;
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
        List<Overdue> found = new ArrayList<>();
        roster.forEach(worker -> next[0] = Math.min(next[0], inspect(worker, now, found)));
        if (!found.isEmpty()) {
            lookAt(found);
        }
        return next[0];
    }

    /** Adds a worker's task to those that are overdue, if it is, and returns in how long the next one can be. */
    private long inspect(Worker worker, long now, List<Overdue> found) {
        Doing doing = worker.doing();
        long startedAt = worker.startedAt;
        if (!doing.isRunning() || !worker.doing().isSameTask(doing)) {
            return intervalNanos; // idle, or with a task that has just begun
        }
        long since = worker.reportedTask == doing.completed() ? worker.reportedAt : startedAt;
        if (now - since < intervalNanos) {
            return since + intervalNanos - now;
        }
        worker.reportedTask = doing.completed();
        worker.reportedAt = now;
        found.add(new Overdue(doing, Duration.ofNanos(now - startedAt)));
        return intervalNanos;
    }

    private void lookAt(List<Overdue> found) {
        synchronized (overdue) {
            found.forEach(each -> overdue.put(each.doing.worker(), each));
            if (hasThread) {
                return;
            }
            hasThread = true;
        }
        try {
            Thread.ofPlatform()
                    .daemon()
                    .name(pool + "-stuck-watch")
                    .inheritInheritableThreadLocals(false)
                    .start(this::report);
        } catch (Throwable noThread) {
            synchronized (overdue) {
                hasThread = false; // the next round tries again
            }
            Reporter.report(noThread);
        }
    }

    private void report() {
        List<Overdue> tasks = takeOverdue();
        while (!tasks.isEmpty()) {
            List<Report> reports =
                    tasks.stream().map(Overdue::look).filter(Objects::nonNull).toList();
            reports.forEach(this::make);
            tasks = takeOverdue();
        }
    }

    private List<Overdue> takeOverdue() {
        synchronized (overdue) {
            List<Overdue> tasks = List.copyOf(overdue.values());
            overdue.clear();
            hasThread = !tasks.isEmpty();
            return tasks;
        }
    }

    private void make(Report report) {
        Doing doing = report.overdue.doing;
        try {
            reporter.stuck(doing.someTask(), doing.worker().thread(), report.overdue.ranFor, report.stack);
        } catch (Throwable failure) {
            Reporter.report(failure); // the others are reported all the same
        }
    }
}
