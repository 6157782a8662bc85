package dev.raddle.pool;

import dev.raddle.pool.Worker.Doing;
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
 * Who works in a crew, and what those have done who no longer do. No foreign code runs under its lock but a thread's
 * {@code interrupt()}.
 */
final class Roster {

    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Worker> workers = new LinkedHashSet<>(); // in the order of hiring; guarded by lock
    private int largest; // guarded by lock
    private long completedByLeavers; // guarded by lock

    /** What the workers had done and were doing, each in one moment. */
    record Account(int threads, int largest, long completed, List<Doing> running) {

        /** How many have a task. */
        int active() {
            return running.size();
        }
    }

    Account account() {
        return locked(() -> {
            long completed = completedByLeavers;
            List<Doing> running = new ArrayList<>();
            for (Worker worker : workers) {
                Doing doing = worker.inHand();
                completed += doing.completed();
                if (doing.isRunning()) {
                    running.add(doing);
                }
            }
            return new Account(workers.size(), largest, completed, running);
        });
    }

    /** Adds a worker in its own place or its predecessor's, unless the state forbids it. */
    boolean add(Worker worker, @Nullable Worker predecessor, Control control) {
        return locked(() -> {
            int state = control.state();
            if (state >= Control.STOP || (state == Control.SHUTDOWN && worker.hasFirst())) {
                return false;
            }
            if (predecessor != null) {
                takeOff(predecessor);
            }
            putOn(worker);
            return true;
        });
    }

    /** Undoes {@link #add}: the successor has no thread. */
    void restore(Worker predecessor, Worker successor) {
        locked(() -> {
            takeOff(successor);
            putOn(predecessor);
            return true;
        });
    }

    void remove(Worker worker) {
        locked(() -> {
            takeOff(worker);
            return true;
        });
    }

    private void putOn(Worker worker) {
        if (workers.add(worker)) {
            largest = Math.max(largest, workers.size());
            completedByLeavers -= worker.completed();
        }
    }

    private void takeOff(Worker worker) {
        if (workers.remove(worker)) {
            completedByLeavers += worker.completed();
        }
    }

    void forEach(Consumer<Worker> action) {
        locked(() -> {
            workers.forEach(action);
            return true;
        });
    }

    boolean hasAny(Predicate<Worker> property) {
        return locked(() -> workers.stream().anyMatch(property));
    }

    /** Runs a section. Near the end of the stack it throws before it takes the lock, which it could not release. */
    private <R> R locked(Supplier<R> section) {
        StackRoom.ensure();
        lock.lock();
        try {
            return section.get();
        } finally {
            lock.unlock();
        }
    }
}
