package dev.raddle.pool;

import dev.raddle.pool.ShutdownReport.StillRunning;
import dev.raddle.pool.ShutdownReport.Stopped;
import dev.raddle.pool.Worker.Activity;
import dev.raddle.pool.Workers.StoppedTask;
import dev.raddle.time.Deadline;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** A graceful stop of a pool: waits, interrupts, waits again, and accounts for every task. */
final class Drain {

    private final ThreadPool pool;
    private final Workers workers;
    private final Observation observation;
    private boolean interrupted; // whether the caller was interrupted

    Drain(ThreadPool pool, Workers workers, Observation observation) {
        this.pool = pool;
        this.workers = workers;
        this.observation = observation;
    }

    ShutdownReport run(Duration grace, Duration lastWait) {
        long begin = pool.time.nanoTime();
        long completedBefore = workers.registry.snapshot().completed();
        shutDown();
        boolean finished = await(grace);
        long middle = pool.time.nanoTime();
        List<StoppedTask> stopped = new ArrayList<>();
        List<Stopped> handedBack = List.of();
        int endedBefore = workers.endedAfterStop.size(); // those of an earlier stop
        if (!finished) {
            List<Runnable> tasks = workers.stop(activity -> stopped.add(StoppedTask.of(activity)));
            handedBack = tasks.stream()
                    .map(task -> new Stopped(task, PooledTask.original(task)))
                    .toList();
            observation.reject(tasks);
            awaitAfterStop(lastWait);
        }
        long end = pool.time.nanoTime();
        boolean terminated;
        WorkerRegistry.Snapshot snapshot;
        List<StillRunning> stillRunning;
        List<StoppedTask> endedAfterStop;
        do {
            endedAfterStop = // before the snapshot, which then counts each of them
                    workers.endedAfterStop.stream().skip(endedBefore).toList();
            terminated = workers.control.state()
                    == Control.TERMINATED; // before the snapshot, so that a terminated pool has no running task
            snapshot = workers.registry.snapshot();
            stillRunning = readStacks(snapshot.running(), begin, end);
        } while (stillRunning.size() < snapshot.running().size()); // a task has ended meanwhile; no other begins
        addMissing(stopped, endedAfterStop);
        List<Activity> running = snapshot.running();
        List<Stopped> ended = new ArrayList<>();
        for (StoppedTask task : stopped) {
            if (running.stream().noneMatch(task.activity()::isSameTask)) {
                ended.add(new Stopped(task.activity().requireTask(), task.original()));
            }
        }
        ShutdownReport report = new ShutdownReport(
                pool.name(),
                terminated,
                completedBefore,
                snapshot.completed() - completedBefore - ended.size(),
                ended,
                handedBack,
                stillRunning,
                observation.removed.sum() + observation.handedBack.sum() - handedBack.size(),
                Duration.ofNanos(middle - begin),
                Duration.ofNanos(end - middle));
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
        return report;
    }

    /** Adds the tasks that a worker had taken, but not begun, when the pool was stopped. */
    private static void addMissing(List<StoppedTask> stopped, List<StoppedTask> ended) {
        for (StoppedTask each : ended) {
            if (stopped.stream().noneMatch(known -> known.activity().isSameTask(each.activity()))) {
                stopped.add(each);
            }
        }
    }

    private void shutDown() {
        try {
            pool.shutdown();
        } catch (Throwable failure) {
            UserCode.uncaught(failure); // terminated() has thrown; the pool has terminated nevertheless
        }
    }

    /** Waits until the pool has terminated or the grace period is over; an interrupt of the caller ends the wait. */
    private boolean await(Duration length) {
        try {
            return workers.terminated.await(Deadline.after(pool.time, length));
        } catch (InterruptedException interrupt) {
            interrupted = true;
            return false;
        }
    }

    private void awaitAfterStop(Duration length) {
        Deadline deadline = Deadline.after(pool.time, length);
        while (true) {
            try {
                workers.terminated.await(deadline);
                return;
            } catch (InterruptedException again) {
                interrupted = true;
            }
        }
    }

    /** Reads the stacks of running tasks. A task that has ended meanwhile is omitted. */
    private List<StillRunning> readStacks(List<Activity> running, long begin, long now) {
        List<StillRunning> found = new ArrayList<>();
        for (Activity activity : running) {
            Worker worker = activity.worker();
            boolean startKnown = observation.recordsTimes && worker.activity().isRunning();
            Duration age = Duration.ofNanos(now - (startKnown ? worker.startedAt : begin));
            Object task = PooledTask.original(activity.requireTask());
            List<StackTraceElement> stack = List.of(worker.thread().getStackTrace());
            Thread runner = activity.runner(); // after all that belongs to the task, so that it is not of another one
            if (runner != null) {
                found.add(new StillRunning(runner.getName(), task, age, stack));
            }
        }
        return found;
    }
}
