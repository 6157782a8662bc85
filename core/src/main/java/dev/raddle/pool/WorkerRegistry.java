package dev.raddle.pool;

import dev.raddle.pool.Worker.Activity;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The workers of a pool, and the number of tasks completed by removed ones. Under its lock the only user code is {@code
 * Thread.interrupt()}.
 */
final class WorkerRegistry {

    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Worker> workers = new LinkedHashSet<>(); // in order of addition; guarded by lock
    private int largest; // guarded by lock
    private long completedByRemoved; // guarded by lock

    /** The state of all workers, each read at one time. */
    record Snapshot(int threads, int largest, long completed, List<Activity> running) {

        /** Returns the number of workers that have a task. */
        int active() {
            return running.size();
        }
    }

    Snapshot snapshot() {
        return locked(() -> {
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
        });
    }

    /** Adds a worker, in place of its predecessor if there is one. Returns false if the state forbids it. */
    boolean add(Worker worker, @Nullable Worker predecessor, Control control) {
        return locked(() -> {
            int state = control.state();
            if (state >= Control.STOP || (state == Control.SHUTDOWN && worker.hasFirstTask())) {
                return false;
            }
            if (predecessor != null) {
                deregister(predecessor);
            }
            register(worker);
            return true;
        });
    }

    /** Undoes {@link #add} after the successor's thread could not be started. */
    void restore(Worker predecessor, Worker successor) {
        locked(() -> {
            deregister(successor);
            register(predecessor);
            return true;
        });
    }

    void remove(Worker worker) {
        locked(() -> {
            deregister(worker);
            return true;
        });
    }

    private void register(Worker worker) {
        if (workers.add(worker)) {
            largest = Math.max(largest, workers.size());
            completedByRemoved -= worker.completed();
        }
    }

    private void deregister(Worker worker) {
        if (workers.remove(worker)) {
            completedByRemoved += worker.completed();
        }
    }

    void forEach(Consumer<Worker> action) {
        locked(() -> {
            workers.forEach(action);
            return true;
        });
    }

    boolean anyMatch(Predicate<Worker> predicate) {
        return locked(() -> workers.stream().anyMatch(predicate));
    }

    private <R> R locked(Supplier<R> section) {
        lock.lock();
        try {
            return section.get();
        } finally {
            lock.unlock();
        }
    }
}
