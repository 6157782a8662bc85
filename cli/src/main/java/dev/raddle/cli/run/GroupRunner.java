package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.group.TaskOptions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Brings planned tasks through a group executor. Each task ends with exactly one {@link RunEvent.TaskEnded}: from the
 * task's own thread while it holds its permit, so that the order of events shows no limit exceeded, or from the settling
 * of its handle if it never got a thread.
 */
public final class GroupRunner implements AutoCloseable {
    private final GroupExecutor executor;
    private final TaskRunner runner;
    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final boolean failFast;
    private final AtomicLong unfinished = new AtomicLong(1); // one for who submits
    private final CountDownLatch finished = new CountDownLatch(1);

    GroupRunner(Limits limits, Threads threads, EventLoop events, Stop stop, InstantSource clock, boolean failFast) {
        this.executor = GroupExecutor.newVirtualThreadExecutor(policy(limits, threads));
        this.runner = new TaskRunner(events, stop, clock);
        this.events = events;
        this.stop = stop;
        this.clock = clock;
        this.failFast = failFast;
    }

    private static GroupPolicy policy(Limits limits, Threads threads) {
        return GroupPolicy.builder()
                .concurrencyResolver(limits::limit)
                .perGroupQueueThreshold(each(limits, limits::queue))
                .defaultQueueThresholdPerGroup(limits.usualQueue())
                .perGroupMaxInFlight(each(limits, limits::maxInFlight))
                .defaultMaxInFlightPerGroup(limits.usualMaxInFlight())
                .weightResolver(limits::weight)
                .scheduler(threads::scheduler)
                .globalMaxInFlight(limits.total())
                .globalQueueThreshold(limits.totalQueue())
                .rejectionPolicy(RejectionPolicy.ABORT)
                .closeTimeout(Duration.ZERO)
                .build();
    }

    private static Map<String, Integer> each(Limits limits, Function<String, Integer> number) {
        Map<String, Integer> numbers = new HashMap<>();
        limits.groups().keySet().forEach(group -> numbers.put(group, number.apply(group)));
        return numbers;
    }

    /** Submits a task. Does not wait for it. */
    @SuppressWarnings("FutureReturnValueIgnored") // what settled() does is the end of it
    public void submit(PlannedTask task, OutputFiles output) {
        unfinished.incrementAndGet();
        events.post(new RunEvent.TaskQueued(clock.instant(), task.id(), task.group()));
        long submitted = System.nanoTime();
        TaskHandle<TaskResult> handle = executor.submit(
                task.group(),
                task.id(),
                () -> {
                    Duration waited = Duration.ofNanos(System.nanoTime() - submitted);
                    TaskResult result = runner.run(task, output, waited);
                    end(result);
                    return result;
                },
                TaskOptions.defaults().priority(task.priority()).cost(task.cost()));
        handle.toCompletableFuture().whenComplete((result, error) -> settled(task, submitted, result, error));
    }

    /** Ends a task that is not to be submitted at all. */
    public void refuse(PlannedTask task, String error) {
        events.post(new RunEvent.TaskQueued(clock.instant(), task.id(), task.group()));
        end(unstarted(task, TaskState.FAILED, 0, error));
    }

    private void end(TaskResult result) {
        events.post(new RunEvent.TaskEnded(clock.instant(), result));
        if (failFast && !result.succeeded()) {
            stop.request(Stop.Reason.FAIL_FAST);
        }
    }

    private void settled(
            PlannedTask task, long submitted, @Nullable GroupResult<TaskResult> result, @Nullable Throwable error) {
        try {
            if (error != null || result == null || result.value() == null) {
                long waited = (System.nanoTime() - submitted) / 1_000_000;
                end(unsettled(task, waited, result, error));
            }
        } finally {
            finishOne();
        }
    }

    private TaskResult unsettled(
            PlannedTask task, long waited, @Nullable GroupResult<TaskResult> result, @Nullable Throwable error) {
        Throwable cause = error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
        if (cause instanceof RejectedTaskException rejected) {
            return unstarted(task, TaskState.REJECTED, waited, "rejected, " + rejected.reason());
        }
        Throwable failure = cause == null && result != null ? result.error() : cause;
        return stop.isRequested()
                ? unstarted(task, TaskState.CANCELLED, waited, "stopped with the run")
                : unstarted(task, TaskState.FAILED, waited, "raddle failed to run it: " + failure);
    }

    private static TaskResult unstarted(PlannedTask task, TaskState state, long waited, String error) {
        return new TaskResult(task.id(), task.group(), task.command().shown(), state, null, 0, waited, 0, null, error);
    }

    private void finishOne() {
        if (unfinished.decrementAndGet() == 0) {
            finished.countDown();
        }
    }

    /** Waits until every task that was submitted has ended. Called once, when nothing more is submitted. */
    void awaitAll() throws InterruptedException {
        finishOne();
        finished.await();
    }

    @Override
    public void close() {
        executor.close();
    }
}
