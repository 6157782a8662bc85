package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskOptions;
import java.time.Duration;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
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
    private final Threads threads;
    private final TaskRunner runner;
    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final boolean failFast;
    private final AtomicLong unfinished = new AtomicLong(1); // one for who submits
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Set<Errand> running = ConcurrentHashMap.newKeySet();
    private final Queue<String> handedBack = new ConcurrentLinkedQueue<>();
    private volatile boolean shutDown;

    GroupRunner(Limits limits, Threads threads, EventLoop events, Stop stop, InstantSource clock, boolean failFast) {
        this.executor = GroupExecutor.newVirtualThreadExecutor(policy(limits, threads));
        this.threads = threads;
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

    /** One task on its way. */
    private final class Errand implements Callable<TaskResult> {
        private final PlannedTask task;
        private final OutputFiles output;
        private final long submitted = System.nanoTime();
        private final AtomicBoolean ended = new AtomicBoolean();
        private final AtomicBoolean settled = new AtomicBoolean();
        private volatile boolean begun;

        Errand(PlannedTask task, OutputFiles output) {
            this.task = task;
            this.output = output;
        }

        @Override
        public TaskResult call() throws InterruptedException {
            begun = true;
            running.add(this);
            try {
                TaskResult result = runner.run(task, output, Duration.ofNanos(System.nanoTime() - submitted));
                end(result);
                return result;
            } finally {
                running.remove(this);
            }
        }

        private void end(TaskResult result) {
            if (ended.compareAndSet(false, true)) {
                GroupRunner.this.end(result);
            }
        }

        private long sinceSubmission() {
            return (System.nanoTime() - submitted) / 1_000_000;
        }

        private void settled(@Nullable GroupResult<TaskResult> result, @Nullable Throwable error) {
            try {
                if (error != null || result == null || result.value() == null) {
                    end(unsettled(result, error));
                }
            } finally {
                finish();
            }
        }

        private TaskResult unsettled(@Nullable GroupResult<TaskResult> result, @Nullable Throwable error) {
            Throwable cause =
                    error instanceof CompletionException && error.getCause() != null ? error.getCause() : error;
            if (cause instanceof RejectedTaskException rejected && !shutDown) {
                return unstarted(task, TaskState.REJECTED, sinceSubmission(), "rejected, " + rejected.reason());
            }
            if (stop.isRequested() && !begun) {
                handedBack.add(task.id());
                return unstarted(task, TaskState.CANCELLED, sinceSubmission(), TaskRunner.NOT_STARTED);
            }
            Throwable failure = cause == null && result != null ? result.error() : cause;
            return stop.isRequested()
                    ? unstarted(task, TaskState.CANCELLED, sinceSubmission(), TaskRunner.STOPPED)
                    : unstarted(task, TaskState.FAILED, sinceSubmission(), "raddle failed to run it: " + failure);
        }

        /** Ends a task whose process does not. */
        private void abandon() {
            String error = "still running although the run was stopped";
            end(new TaskResult(
                    task.id(),
                    task.group(),
                    task.command().shown(),
                    TaskState.CANCELLED,
                    null,
                    1,
                    0,
                    sinceSubmission(),
                    output.name(),
                    error));
            finish();
        }

        private void finish() {
            if (settled.compareAndSet(false, true)) {
                finishOne();
            }
        }
    }

    /** Submits a task. Does not wait for it. */
    @SuppressWarnings("FutureReturnValueIgnored") // what settled() does is the end of it
    public void submit(PlannedTask task, OutputFiles output) {
        unfinished.incrementAndGet();
        events.post(new RunEvent.TaskQueued(clock.instant(), task.id(), task.group()));
        Errand errand = new Errand(task, output);
        TaskOptions options = TaskOptions.defaults().priority(task.priority()).cost(task.cost());
        executor.submit(task.group(), task.id(), errand, options)
                .toCompletableFuture()
                .whenComplete(errand::settled);
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

    private static TaskResult unstarted(PlannedTask task, TaskState state, long waited, String error) {
        return new TaskResult(task.id(), task.group(), task.command().shown(), state, null, 0, waited, 0, null, error);
    }

    private void finishOne() {
        if (unfinished.decrementAndGet() == 0) {
            finished.complete(null);
        }
    }

    /**
     * Waits until every task that was submitted has ended, or has been given up because the run was drained and it runs on.
     * Called once, when nothing more is submitted.
     */
    void awaitAll() throws InterruptedException {
        finishOne();
        try {
            CompletableFuture.anyOf(finished, threads.reports()).get();
            if (!finished.isDone()) {
                shutDown = true;
                executor.shutdown(); // ends what waits behind a task that runs on
                running.forEach(Errand::abandon);
                finished.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("the threads could not be drained", e.getCause());
        }
    }

    /** What became of all tasks, when the run has been drained. Waits for the end of the drain. */
    Account account() {
        return Account.of(threads.reports().join(), new ArrayList<>(handedBack));
    }

    @Override
    public void close() {
        executor.close();
    }
}
