package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.task.CancelledException;
import dev.raddle.task.Outcome;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Semaphore;

/** One call of {@link ThreadScope#map}: the calling thread submits a task for each element as earlier ones end. */
final class Mapping<E, R> {

    private final ThreadScope scope;
    private final List<E> elements;
    private final ThreadScope.Mapper<? super E, ? extends R> function;
    private final Semaphore places;
    private final List<ScopeRun<R>> runs; // the caller's
    private int oldest; // all runs before it are settled; the caller's
    private volatile boolean failed;

    Mapping(ThreadScope scope, List<E> elements, int limit, ThreadScope.Mapper<? super E, ? extends R> function) {
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
            List<R> values = scope.awaitAll(runs);
            requireAll();
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
            takePlace();
            if (scope.gate().closed() != null
                    || (failed && scope.failurePolicy().cancelsOthers())) {
                return;
            }
            ScopeRun<R> run = scope.submitPlain(() -> function.map(element));
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

    /** Waits for a task to end, if as many have begun as may; fails rather than to wait in a task for ever. */
    private void takePlace() throws InterruptedException {
        if (places.tryAcquire()) {
            return;
        }
        while (oldest < runs.size() - 1 && runs.get(oldest).isDone()) {
            oldest++;
        }
        ScopeRun.Waiting waiting = runs.get(oldest).beginWait();
        try {
            Dispatch.startAll();
            places.acquire();
        } finally {
            waiting.end();
        }
    }

    private void requireAll() {
        if (runs.size() < elements.size()) {
            CancelledException closed = scope.gate().closed();
            if (closed == null) {
                throw new AssertionError("a map stops early if a task has failed or its scope is closed");
            }
            ScopeTimeoutException expired = scope.expiredBy(closed);
            throw expired != null ? expired : closed;
        }
    }

    private void cancelAll() {
        CancelledException cause =
                new CancelledException("cancelled because a map in scope \"" + scope.name() + "\" is over");
        runs.forEach(run -> run.cancel(cause, Runnable::run));
    }
}
