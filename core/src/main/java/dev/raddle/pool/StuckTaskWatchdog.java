package dev.raddle.pool;

import dev.raddle.pool.PoolListener.Stuck;
import dev.raddle.pool.Worker.Activity;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Reports tasks that run for longer than an interval, once in each interval. */
final class StuckTaskWatchdog {

    /*
     * Overview.
     *
     * An alarm finds the overdue tasks, and a platform thread reports them: reading a stack takes too long for the
     * alarms' thread, and a virtual thread would wait for carriers that the tasks may keep busy. The thread starts when
     * a task is overdue and ends when none is left. It first reads the stacks of all overdue tasks and then reports
     * them, so that a slow listener delays no stack.
     *
     * A stack is read between two reads of the worker's activity. If both show the overdue task, the stack is that of
     * the task; otherwise the task has ended and is not reported. So a report never shows the stack of another task.
     *
     * `overdue` has at most one entry per worker. While the thread reports, a later alarm replaces the entries that it
     * has not yet taken. One thread makes all reports, so those of a task are in order of time.
     */

    /** A task that has exceeded the interval. */
    private record Overdue(Activity activity, Duration ranFor) {}

    private final String pool;
    private final WorkerRegistry registry;
    private final Observation observation;
    private final TimeSource time;
    private final long intervalNanos; // SharedTimer.NEVER if reports are off
    private final SharedTimer timer;
    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader(); // of the listener
    private final Map<Worker, Overdue> overdue = new LinkedHashMap<>(); // guarded by itself
    private boolean hasThread; // guarded by overdue

    StuckTaskWatchdog(PoolBuilder plan, WorkerRegistry registry, Observation observation) {
        this.pool = plan.name;
        this.registry = registry;
        this.observation = observation;
        this.time = plan.timeSource;
        this.intervalNanos = plan.stuckAfter == null ? SharedTimer.NEVER : Deadline.nanos(plan.stuckAfter);
        this.timer = new SharedTimer(time, this::inspectAll);
    }

    /** Starts the watch, if reports are on. Called when a worker begins, or continues after its removal. */
    void start() {
        if (intervalNanos != SharedTimer.NEVER) {
            timer.scheduleWithin(intervalNanos);
        }
    }

    void end() {
        timer.stop();
    }

    /** Finds the overdue tasks, and returns the time until the next task may be overdue, or NEVER without workers. */
    private long inspectAll() {
        long now = time.nanoTime();
        long[] next = {SharedTimer.NEVER};
        List<Overdue> found = new ArrayList<>();
        registry.forEach(worker -> next[0] = Math.min(next[0], inspect(worker, now, found)));
        if (!found.isEmpty()) {
            submit(found);
        }
        return next[0];
    }

    /** Adds a worker's task if it is overdue, and returns the time until the worker's next report may be due. */
    private long inspect(Worker worker, long now, List<Overdue> found) {
        Activity activity = worker.activity();
        long startedAt = worker.startedAt;
        if (!activity.isRunning() || !worker.activity().isSameTask(activity)) {
            return intervalNanos; // idle, or its task has just begun
        }
        long since = worker.reportedTask == activity.completed() ? worker.reportedAt : startedAt;
        if (now - since < intervalNanos) {
            return since + intervalNanos - now;
        }
        worker.reportedTask = activity.completed();
        worker.reportedAt = now;
        found.add(new Overdue(activity, Duration.ofNanos(now - startedAt)));
        return intervalNanos;
    }

    private void submit(List<Overdue> found) {
        synchronized (overdue) {
            found.forEach(each -> overdue.put(each.activity.worker(), each));
            if (hasThread) {
                return;
            }
            hasThread = true;
        }
        try {
            Thread reporter = Thread.ofPlatform()
                    .daemon()
                    .name(pool + "-stuck-watch")
                    .inheritInheritableThreadLocals(false)
                    .unstarted(this::reportAll);
            reporter.setContextClassLoader(loader);
            reporter.start();
        } catch (Throwable noThread) {
            synchronized (overdue) {
                hasThread = false; // the next alarm starts another one
            }
            UserCode.uncaught(noThread);
        }
    }

    private void reportAll() {
        List<Overdue> tasks = takeOverdue();
        while (!tasks.isEmpty()) {
            List<Stuck> reports = new ArrayList<>();
            for (Overdue each : tasks) {
                Activity activity = each.activity;
                List<StackTraceElement> stack = activity.readStack();
                if (stack != null) {
                    reports.add(
                            new Stuck(activity.requireTask(), activity.worker().thread(), each.ranFor, stack));
                }
            }
            reports.forEach(observation::stuck);
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
}
