package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The tasks of one call of {@link GroupExecutor#executeAll}.
 *
 * @param runs the submitted tasks, in their order
 */
record GroupBatch<T>(List<GroupRun<T>> runs) {

    /** The deadline of executeAll and the timeout that it was computed from. */
    record TimeBound(Deadline deadline, Duration timeout) {}

    static <T> GroupBatch<T> submit(GroupEngine engine, List<GroupTask<T>> tasks) {
        List<GroupTask<T>> all = List.copyOf(tasks);
        if (engine.isShutdown()) {
            throw new IllegalStateException(
                    "executor is shut down; none of the " + all.size() + " tasks of executeAll was submitted");
        }
        List<GroupRun<T>> runs = new ArrayList<>(all.size());
        for (GroupTask<T> task : all) {
            runs.add(engine.submit(task.groupKey(), task.taskId(), task.task(), task.spec(), null));
        }
        return new GroupBatch<>(runs);
    }

    /** Waits for all results. When the bound has passed, cancels the tasks that have not ended. */
    List<GroupResult<T>> collect(@Nullable TimeBound bound) {
        List<GroupResult<T>> results = new ArrayList<>(runs.size());
        boolean interrupted = false;
        try {
            while (results.size() < runs.size()) {
                GroupRun<T> next = runs.get(results.size());
                try {
                    results.add(bound == null ? next.awaitResult() : awaitInTime(next, results.size(), bound));
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    cancelFrom(results.size(), interrupt);
                }
            }
        } catch (RuntimeException | Error failure) { // a wait that could never end, or a broken time source
            cancelFrom(0, failure);
            throw failure;
        } finally {
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
