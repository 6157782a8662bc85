package dev.raddle.scope;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * One call of {@link ThreadScope#map}. The calling thread submits a task for each element as earlier tasks end. If the
 * map fails, it cancels the others and waits until none of them is in the scope.
 */
final class MapOperation<E, R> {

    /** The task of an element. */
    private final class Call extends ScopeRun<R> {
        private volatile boolean left; // the scope

        Call(ScopeTasks scope, E element) {
            super(
                    scope,
                    scope.nextId(),
                    null,
                    () -> function.map(element),
                    scope.defaultSettings(),
                    scope.time.nanoTime());
        }

        @Override
        void leftScope() {
            left = true;
            LockSupport.unpark(waiter); // null has no effect
        }
    }

    private final ScopeTasks scope;
    private final List<E> elements;
    private final ThreadScope.Mapper<? super E, ? extends R> function;
    private final Semaphore places;
    private final List<Call> runs; // used only by the caller
    private int oldest; // all runs before it are settled; used only by the caller
    private volatile boolean failed;
    private volatile @Nullable Thread waiter; // the caller, once it waits for cancelled tasks

    MapOperation(ScopeTasks scope, List<E> elements, int limit, ThreadScope.Mapper<? super E, ? extends R> function) {
        this.scope = scope;
        this.elements = elements;
        this.function = function;
        this.places = new Semaphore(limit);
        this.runs = new ArrayList<>(elements.size());
    }

    List<R> run() throws InterruptedException {
        boolean complete = false;
        try {
            submitAll();
            List<R> values = MultiWait.awaitAll(scope, runs);
            requireComplete();
            complete = true;
            return values;
        } finally {
            if (!complete) {
                cancelAll();
                awaitLeft();
            }
        }
    }

    private void submitAll() throws InterruptedException {
        for (E element : elements) {
            acquirePlace();
            if (scope.pending.isClosed() || (failed && scope.options.failurePolicy.cancelsOthers())) {
                return;
            }
            scope.requireOpen("a task");
            Call run = new Call(scope, element);
            scope.submit(run);
            runs.add(run);
            run.whenSettled(() -> ended(run));
        }
    }

    private void ended(ScopeRun<R> run) {
        if (run.settledOutcome() instanceof Outcome.Failure<R>) {
            failed = true;
        }
        places.release();
    }

    /** Waits for a task to end if the limit is reached. Throws if the caller is a task that would wait for ever. */
    private void acquirePlace() throws InterruptedException {
        if (places.tryAcquire()) {
            return;
        }
        while (oldest < runs.size() - 1 && runs.get(oldest).isDone()) {
            oldest++;
        }
        ScopeRun.WaitRegistration waiting = runs.get(oldest).beginWait();
        try {
            places.acquire();
        } finally {
            waiting.remove();
        }
    }

    private void requireComplete() {
        if (runs.size() < elements.size()) {
            RuntimeException closed = scope.pending.closeException();
            if (closed == null) {
                throw new AssertionError("a map stops early if a task has failed or its scope is closed");
            }
            throw closed;
        }
    }

    private void cancelAll() {
        CancelledException cause =
                new CancelledException("cancelled because a map in scope \"" + scope.name + "\" is over");
        runs.reversed().forEach(run -> run.cancel(cause, Runnable::run)); // those that wait for the others first
    }

    /** Waits until no task is in the scope. An interrupt does not end this wait, and is set again. */
    private void awaitLeft() {
        waiter = Thread.currentThread();
        boolean interrupted = false;
        for (Call run : runs) {
            while (!run.left) {
                LockSupport.park(this);
                interrupted |= Thread.interrupted();
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
