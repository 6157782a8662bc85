package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/** One call of {@link ThreadScope#map}. The calling thread submits a task for each element as earlier tasks end. */
final class MapOperation<E, R> {

    private final ScopeTasks scope;
    private final List<E> elements;
    private final ThreadScope.Mapper<? super E, ? extends R> function;
    private final Semaphore places;
    private final List<ScopeRun<R>> runs; // used only by the caller
    private int oldest; // all runs before it are settled; used only by the caller
    private volatile boolean failed;

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
            }
        }
    }

    private void submitAll() throws InterruptedException {
        for (E element : elements) {
            acquirePlace();
            if (scope.gate.closed || (failed && scope.options.all.failurePolicy.cancelsOthers())) {
                return;
            }
            scope.requireOpen("a task");
            ScopeRun<R> run = scope.submit(null, () -> function.map(element));
            runs.add(run);
            run.whenEnded(() -> ended(run));
        }
    }

    private void ended(ScopeRun<R> run) {
        if (run.result() instanceof Outcome.Failure<R>) {
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
            Dispatch.startAll();
            places.acquire();
        } finally {
            waiting.remove();
        }
    }

    private void requireComplete() {
        if (runs.size() < elements.size()) {
            RuntimeException closed = scope.gate.closeException();
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
}
