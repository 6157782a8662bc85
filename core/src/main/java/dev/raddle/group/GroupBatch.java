package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.task.CancelledException;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one call of {@link GroupExecutor#executeAll}.
 *
 * @param runs the submitted tasks, in their order
 * @param inside the count of those that are in their callables
 */
record GroupBatch<T>(List<GroupRun<T>> runs, Inside inside) {

    /** Counts the tasks that are in their callables, for a caller that cannot wait for all and cancels them. */
    private static final class Inside {
        private final AtomicInteger count = new AtomicInteger(1); // one for the caller; no task enters if it is zero
        private final Signal empty = new Signal();

        <T> Callable<T> counted(Callable<? extends T> task) {
            return () -> {
                if (count.getAndUpdate(known -> known == 0 ? 0 : known + 1) == 0) {
                    throw new CancelledException("cancelled because executeAll is over");
                }
                try {
                    return task.call();
                } finally {
                    leave();
                }
            };
        }

        private void leave() {
            if (count.decrementAndGet() == 0) {
                empty.set();
            }
        }

        /** Waits until no task is inside. Called after all were cancelled. An interrupt does not end the wait. */
        void awaitEmpty() {
            leave();
            while (!empty.isSet()) {
                try {
                    empty.await();
                } catch (InterruptedException again) {
                    // the caller sets the status
                }
            }
        }
    }

    /** The deadline of executeAll and the timeout that it was computed from. */
    record TimeBound(Deadline deadline, Duration timeout) {}

    static <T> GroupBatch<T> submit(GroupEngine engine, List<GroupTask<T>> tasks) {
        List<GroupTask<T>> all = List.copyOf(tasks);
        if (engine.isShutdown()) {
            throw new IllegalStateException(
                    "executor is shut down; none of the " + all.size() + " tasks of executeAll was submitted");
        }
        GroupBatch<T> batch = new GroupBatch<>(new ArrayList<>(all.size()), new Inside());
        try {
            for (GroupTask<T> task : all) {
                Callable<T> counted = batch.inside.counted(task.task());
                batch.runs.add(engine.submit(task.groupKey(), task.taskId(), counted, task.spec(), null));
            }
        } catch (RuntimeException | Error failure) { // a timeout that cannot be armed
            batch.cancelFrom(0, failure);
            batch.inside.awaitEmpty();
            throw failure;
        }
        return batch;
    }

    /** Waits for all results. When the bound has passed, cancels the tasks that have not ended. */
    List<GroupResult<T>> collect(@Nullable TimeBound bound) {
        List<GroupResult<T>> results = new ArrayList<>(runs.size());
        boolean interrupted = false;
        boolean stopped = false;
        try {
            while (results.size() < runs.size()) {
                GroupRun<T> next = runs.get(results.size());
                try {
                    results.add(bound == null ? next.awaitResult() : awaitInTime(next, results.size(), bound));
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    stopped = true;
                    cancelFrom(results.size(), interrupt);
                }
            }
        } catch (RuntimeException | Error failure) { // a wait that could never end, or a broken time source
            stopped = true;
            cancelFrom(0, failure);
            throw failure;
        } finally {
            if (stopped) {
                inside.awaitEmpty();
            }
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return results;
    }

    private GroupResult<T> awaitInTime(GroupRun<T> run, int index, TimeBound bound) throws InterruptedException {
        GroupResult<T> result = run.awaitResult(bound.deadline());
        if (result != null) {
            return result;
        }
        long late = runs.stream().skip(index).filter(other -> !other.isDone()).count();
        String message = late + " of " + runs.size() + " tasks had not ended after "
                + MILLISECONDS.convert(bound.timeout()) + " ms, the timeout of executeAll";
        cancelFrom(index, new TimeoutException(message));
        return run.awaitResult();
    }

    /** Cancels the waiting runs first, so that no slot released by a running one is granted to a waiting one. */
    private void cancelFrom(int index, Throwable cause) {
        List<GroupRun<T>> rest = runs.subList(index, runs.size());
        rest.reversed().forEach(run -> run.cancel(cause, false));
        rest.forEach(run -> run.cancel(cause, true));
    }
}
