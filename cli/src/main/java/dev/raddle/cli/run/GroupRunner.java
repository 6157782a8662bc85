package dev.raddle.cli.run;

import dev.raddle.cli.file.Failure;
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
import java.time.Instant;
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
    private final Launcher launcher;
    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final boolean failFast;
    private final AtomicLong unfinished = new AtomicLong(1); // one for who submits
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Set<Ongoing> running = ConcurrentHashMap.newKeySet();
    private final Queue<String> handedBack = new ConcurrentLinkedQueue<>();
    private volatile boolean shutDown;
    private volatile boolean degraded;

    GroupRunner(
            Limits limits,
            Threads threads,
            EventLoop events,
            Stop stop,
            InstantSource clock,
            boolean failFast,
            Children children) {
        this.executor = GroupExecutor.newVirtualThreadExecutor(policy(limits, threads));
        this.threads = threads;
        this.launcher = new Launcher(events, stop, clock, children);
        this.events = events;
        this.stop = stop;
        this.clock = clock;
        this.failFast = failFast;
        stop.onceRequested(() -> running.forEach(Ongoing::endRest));
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

    /** Something that runs and may have to be told that the run is stopped. */
    interface Ongoing {
        /** Ends a rest between attempts, if there is one. */
        void endRest();

        /** Ends a task whose process does not. */
        void abandon();
    }

    /** One task on its way. */
    private final class Errand implements Callable<TaskResult>, Ongoing {
        private final PlannedTask task;
        private final TaskAttempts attempts;
        private final AtomicBoolean ended = new AtomicBoolean();
        private final AtomicBoolean settled = new AtomicBoolean();
        private volatile @Nullable TaskHandle<TaskResult> handle; // null until it is submitted; it may run before

        Errand(PlannedTask task, OutputFiles output) {
            this.task = task;
            this.attempts = new TaskAttempts(task, output, launcher, events, stop, clock);
        }

        @Override
        public TaskResult call() throws AttemptFailedException {
            running.add(this);
            TaskResult result = attempts.call();
            end(result);
            return result;
        }

        private void submit() {
            TaskOptions options =
                    TaskOptions.defaults().priority(task.priority()).cost(task.cost());
            if (task.retry().attempts() > 1) {
                options = options.retry(attempts.policy());
            }
            TaskHandle<TaskResult> submitted = executor.submit(task.group(), task.id(), this, options);
            handle = submitted;
            if (stop.isRequested()) {
                endRest();
            }
            follow(submitted);
        }

        @SuppressWarnings("FutureReturnValueIgnored") // what settled() does is the end of it
        private void follow(TaskHandle<TaskResult> submitted) {
            submitted.toCompletableFuture().whenComplete(this::settled);
        }

        /** Ends the task if it waits for its next attempt; there will be none. */
        @Override
        public void endRest() {
            TaskHandle<TaskResult> submitted = handle;
            if (submitted != null && attempts.isResting()) {
                submitted.cancel(true);
            }
        }

        private void end(TaskResult result) {
            if (ended.compareAndSet(false, true)) {
                GroupRunner.this.end(result);
            }
        }

        private void settled(@Nullable GroupResult<TaskResult> result, @Nullable Throwable error) {
            running.remove(this);
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
                return unstarted(TaskState.REJECTED, "rejected, " + rejected.reason());
            }
            if (stop.isRequested() && !attempts.hasBegun()) {
                handedBack.add(task.id());
                return unstarted(TaskState.CANCELLED, TaskAttempts.NOT_STARTED);
            }
            Throwable failure = cause == null && result != null ? result.error() : cause;
            return stop.isRequested()
                    ? attempts.stopped()
                    : unstarted(TaskState.FAILED, "raddle failed to run it: " + Failure.text(failure));
        }

        private TaskResult unstarted(TaskState state, String error) {
            return GroupRunner.unstarted(task, state, attempts.millisSinceSubmission(), error);
        }

        @Override
        public void abandon() {
            end(attempts.abandoned("still running although the run was stopped"));
            finish();
        }

        private void finish() {
            if (settled.compareAndSet(false, true)) {
                finishOne();
            }
        }
    }

    /** Submits a task. Does not wait for it. */
    public void submit(PlannedTask task, OutputFiles output) {
        unfinished.incrementAndGet();
        events.post(new RunEvent.TaskQueued(clock.instant(), task.id(), task.group()));
        new Errand(task, output).submit();
    }

    /** Ends a task that is not to be submitted at all. */
    public void refuse(PlannedTask task, String error) {
        events.post(new RunEvent.TaskQueued(clock.instant(), task.id(), task.group()));
        end(unstarted(task, TaskState.FAILED, 0, error));
    }

    /** Counts something more that {@link #awaitAll} waits for, until {@link #finishOne}. */
    void startOne() {
        unfinished.incrementAndGet();
    }

    /** From now on this is told when the run is stopped. */
    void enter(Ongoing ongoing) {
        running.add(ongoing);
    }

    void leave(Ongoing ongoing) {
        running.remove(ongoing);
    }

    /** Notes that a task was accepted and will not run, because the run was stopped. */
    void handBack(String id) {
        handedBack.add(id);
    }

    /** Submits a part of a flow, which has the limits, the priority and the cost of its task. */
    TaskHandle<Boolean> submit(PlannedTask task, Runnable part) {
        TaskOptions options = TaskOptions.defaults().priority(task.priority()).cost(task.cost());
        return executor.submit(
                task.group(),
                task.id(),
                () -> {
                    part.run();
                    return true;
                },
                options);
    }

    TaskAttempts attempts(PlannedTask task, OutputFiles output) {
        return new TaskAttempts(task, output, launcher, events, stop, clock);
    }

    Launcher launcher() {
        return launcher;
    }

    void post(RunEvent event) {
        events.post(event);
    }

    Instant now() {
        return clock.instant();
    }

    /** Notes that something went wrong, and nothing that the run was for. */
    void degrade() {
        degraded = true;
    }

    boolean isDegraded() {
        return degraded;
    }

    boolean isShutDown() {
        return shutDown;
    }

    void end(TaskResult result) {
        Instant now = clock.instant();
        events.post(new RunEvent.TaskEnded(now, result.endedAt(now)));
        if (failFast && !result.succeeded() && result.state() != TaskState.SKIPPED) {
            stop.request(Stop.Reason.FAIL_FAST);
        }
    }

    static TaskResult unstarted(PlannedTask task, TaskState state, long waited, String error) {
        return new TaskResult(task.id(), task.group(), task.command().shown(), state, null, 0, waited, 0, null, error);
    }

    void finishOne() {
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
                running.forEach(Ongoing::abandon);
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
