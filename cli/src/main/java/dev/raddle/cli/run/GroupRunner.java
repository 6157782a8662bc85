package dev.raddle.cli.run;

import dev.raddle.cli.file.Limits;
import dev.raddle.cli.file.PlannedTask;
import dev.raddle.cli.file.value.Failure;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.GroupResult;
import dev.raddle.group.RejectedTaskException;
import dev.raddle.group.RejectionPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Runs planned tasks through a group executor. Each task ends with exactly one {@link RunEvent.TaskEnded}: from the
 * task's own thread while it holds its permit, so that the order of events never shows an exceeded limit, or when its
 * handle is settled if it never got a thread.
 */
public final class GroupRunner implements AutoCloseable {
    private final GroupExecutor executor;
    private final Threads threads;
    private final Launcher launcher;
    private final EventLoop events;
    private final Stop stop;
    private final InstantSource clock;
    private final @Nullable Halt halt;
    private final AtomicLong unfinished = new AtomicLong(1); // one for the submitter
    private final CompletableFuture<Void> finished = new CompletableFuture<>();
    private final Set<Stoppable> running = ConcurrentHashMap.newKeySet();
    private final Queue<String> handedBack = new ConcurrentLinkedQueue<>();
    private volatile boolean shutDown;
    private volatile boolean degraded;

    GroupRunner(
            Limits limits,
            Threads threads,
            EventLoop events,
            Stop stop,
            InstantSource clock,
            RunSession.Settings settings,
            ProcessStarter starter,
            boolean recordsProcesses) {
        Consumer<GroupExecutor> watcher = settings.watcher();
        GroupPolicy.Builder policy = policy(limits, threads);
        if (watcher != null) {
            policy.addListener(new TaskListener() {}); // without one the moments of submissions are not known
        }
        this.executor = GroupExecutor.newVirtualThreadExecutor(policy.build());
        if (watcher != null) {
            watcher.accept(executor);
        }
        this.threads = threads;
        this.launcher = new Launcher(events, stop, clock, starter, recordsProcesses);
        this.events = events;
        this.stop = stop;
        this.clock = clock;
        this.halt = settings.halt();
        stop.onceRequested(() -> running.forEach(Stoppable::endPause));
    }

    private static GroupPolicy.Builder policy(Limits limits, Threads threads) {
        Map<String, Integer> queues = new HashMap<>();
        limits.groups().keySet().forEach(group -> queues.put(group, limits.queue(group)));
        return GroupPolicy.builder()
                .concurrencyResolver(limits::limit)
                .perGroupQueueThreshold(queues)
                .defaultQueueThresholdPerGroup(limits.defaultQueue())
                .weightResolver(limits::weight)
                .rateResolver(limits.hasRates() ? limits::rate : null)
                .globalRate(limits.totalRate())
                .scheduler(group -> threads)
                .globalMaxInFlight(limits.total())
                .globalQueueThreshold(limits.totalQueue())
                .rejectionPolicy(RejectionPolicy.ABORT);
    }

    /** A running operation that must be notified when the run is stopped. */
    interface Stoppable {
        /** Ends a pause between attempts, if there is one. */
        void endPause();

        /** Ends a task whose process, or whose pause between attempts, has not ended. */
        void abandon();
    }

    /** A submitted task. */
    private final class Submission implements Callable<TaskResult>, Stoppable {
        private final PlannedTask task;
        private final TaskAttempts attempts;
        private final AtomicBoolean ended = new AtomicBoolean();
        private final AtomicBoolean settled = new AtomicBoolean();
        private volatile @Nullable TaskHandle<TaskResult> handle; // null until it is submitted; the task may run before

        Submission(PlannedTask task, OutputFiles output) {
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
            TaskSpec<TaskResult> spec = spec(task, this);
            if (task.retry().attempts() > 1) {
                spec = spec.retry(attempts.policy());
            }
            TaskHandle<TaskResult> submitted = executor.submit(task.group(), spec);
            handle = submitted;
            if (stop.isRequested()) {
                endPause();
            }
            follow(submitted);
        }

        @SuppressWarnings("FutureReturnValueIgnored") // the action itself is settled()
        private void follow(TaskHandle<TaskResult> submitted) {
            submitted.toCompletableFuture().whenComplete(this::settled);
        }

        /** Cancels the task if it pauses before its next attempt, which then does not take place. */
        @Override
        public void endPause() {
            TaskHandle<TaskResult> submitted = handle;
            if (submitted != null && attempts.isPausing()) {
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
            return TaskResult.unstarted(task, state, attempts.millisSinceSubmission(), error);
        }

        @Override
        public void abandon() {
            end(
                    attempts.isPausing()
                            ? attempts.stopped() // nothing runs: the pause just has not been ended yet
                            : attempts.abandoned("still running although the run was stopped"));
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
        new Submission(task, output).submit();
    }

    /** Ends a task that cannot be submitted. */
    public void refuse(PlannedTask task, String error) {
        events.post(new RunEvent.TaskQueued(clock.instant(), task.id(), task.group()));
        end(TaskResult.unstarted(task, TaskState.FAILED, 0, error));
    }

    /** Adds one operation that {@link #awaitAll} waits for, until {@link #finishOne}. */
    void startOne() {
        unfinished.incrementAndGet();
    }

    /** Registers an operation that is notified when the run is stopped. */
    void register(Stoppable stoppable) {
        running.add(stoppable);
    }

    void unregister(Stoppable stoppable) {
        running.remove(stoppable);
    }

    /** Records that a task was accepted and will not run because the run was stopped. */
    void handBack(String id) {
        handedBack.add(id);
    }

    /** Submits a part of a flow, with the limits, the priority and the cost of its task. */
    TaskHandle<Boolean> submit(PlannedTask task, Runnable part) {
        return executor.submit(task.group(), spec(task, () -> {
            part.run();
            return true;
        }));
    }

    private static <T> TaskSpec<T> spec(PlannedTask task, Callable<T> callable) {
        return TaskSpec.named(task.id(), callable).priority(task.priority()).cost(task.cost());
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

    /** Records a failure on which no result of the run depends. */
    void degrade() {
        degraded = true;
    }

    boolean isDegraded() {
        return degraded;
    }

    void end(TaskResult result) {
        Instant now = clock.instant();
        events.post(new RunEvent.TaskEnded(now, result.withEndedAt(now)));
        if (halt != null) {
            halt.ended(result, stop);
        }
    }

    void finishOne() {
        if (unfinished.decrementAndGet() == 0) {
            finished.complete(null);
        }
    }

    /**
     * Waits until every submitted task has ended, or has been abandoned because the run was drained and it continues to
     * run. Called once, after the last submission.
     */
    void awaitAll() throws InterruptedException {
        finishOne();
        try {
            CompletableFuture.anyOf(finished, threads.account()).get();
            if (!finished.isDone()) {
                shutDown = true;
                executor.shutdown(); // ends tasks that wait behind a task that continues to run
                running.forEach(Stoppable::abandon);
                finished.get();
            }
        } catch (ExecutionException e) {
            throw new IllegalStateException("the threads could not be drained", e.getCause());
        }
    }

    /** Returns the outcomes of all tasks of a drained run. Waits for the end of the drain. */
    Account account() {
        return threads.account().join().with(List.copyOf(handedBack));
    }

    @Override
    public void close() {
        executor.shutdown(); // all tasks have been reported; the thread of one may be about to end
    }
}
