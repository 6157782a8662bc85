package dev.raddle.pool;

import dev.raddle.pool.Worker.Activity;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a pool, and the number of tasks completed by removed ones. Under its monitor the only user code is
 * {@code Thread.interrupt()}.
 */
final class WorkerRegistry {

    private final Set<Worker> workers = new LinkedHashSet<>(); // in order of addition; guarded by this
    private int largest; // guarded by this
    private long completedByRemoved; // guarded by this

    /** The state of all workers, each read at one time. */
    record Snapshot(int threads, int largest, long completed, List<Activity> running) {

        /** Returns the number of workers that have a task. */
        int active() {
            return running.size();
        }
    }

    synchronized Snapshot snapshot() {
        long completed = completedByRemoved;
        List<Activity> running = new ArrayList<>();
        for (Worker worker : workers) {
            Activity activity = worker.assignedActivity();
            completed += activity.completed();
            if (activity.isRunning()) {
                running.add(activity);
            }
        }
        return new Snapshot(workers.size(), largest, completed, running);
    }

    /** Adds a worker, in place of its predecessor if there is one. Returns false if the state forbids it. */
    synchronized boolean add(Worker worker, @Nullable Worker predecessor, Control control) {
        int state = control.state();
        if (state >= Control.STOP || (state == Control.SHUTDOWN && worker.hasFirstTask())) {
            return false;
        }
        if (predecessor != null) {
            remove(predecessor);
        }
        register(worker);
        return true;
    }

    /** Undoes {@link #add} after the successor's thread could not be started. */
    synchronized void restore(Worker predecessor, Worker successor) {
        remove(successor);
        register(predecessor);
    }

    synchronized void remove(Worker worker) {
        if (workers.remove(worker)) {
            completedByRemoved += worker.completed();
        }
    }

    private void register(Worker worker) {
        if (workers.add(worker)) {
            largest = Math.max(largest, workers.size());
            completedByRemoved -= worker.completed();
        }
    }

    /** Interrupts idle workers, at most a number of them. */
    synchronized void interruptIdle(int most) {
        int interrupted = 0;
        for (Worker worker : workers) {
            if (interrupted < most && worker.interruptIfIdle()) {
                interrupted++;
            }
        }
    }

    synchronized void forEach(Consumer<Worker> action) {
        workers.forEach(action);
    }

    synchronized boolean anyMatch(Predicate<Worker> predicate) {
        return workers.stream().anyMatch(predicate);
    }
}
