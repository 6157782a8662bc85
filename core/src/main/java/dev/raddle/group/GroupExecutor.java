package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.Gate;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.Propagation;
import dev.raddle.kernel.TaskRun;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.Outcome;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * Runs tasks in groups: each key has its limit, all keys share a cap fairly, and no key starves another.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder().defaultMaxConcurrencyPerGroup(2).globalMaxInFlight(64).build();
 * try (GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(policy)) {
 *     TaskHandle<String> handle = executor.submit("tenant-a", "report-1", () -> render(report));
 *     GroupResult<String> result = handle.await();
 * }
 * }
 *
 * <p>A task that finds no free slot waits in its group's queue, without a thread, in order of priority and arrival. Limits
 * are exact: there is no instant at which more tasks run than a group's limit and the global cap allow, whatever is
 * submitted, cancelled, evicted or changed meanwhile. A group exists from its first task on, and is forgotten when it has
 * been idle for a time.
 *
 * <p>All methods may be called by any thread, also from tasks, listeners, resolvers and handlers; none of these is ever called
 * under a lock.
 */
public final class GroupExecutor implements AutoCloseable {

    /*
     * Overview.
     *
     * A task walks: ask (submit) ─► admit (Group, a gate) ─► place (Scheduler) ─► run, settle (TaskRun).
     *
     * The decisions are made in the group, under its lock, and in the cap, by its combiner. Every method here that may
     * have made something possible collects it in GrantedPermits and acts on it in dispatch(), outside of both: it lets the cap
     * serve, starts what was granted, and goes round again if a start failed, because a failed start frees slots. It is a
     * loop, never a recursion, so a million starts that all fail need no stack. A run that its scheduler may run in the
     * calling thread is started through that thread's Dispatch, so a million of these need no stack either.
     *
     * The executor's state only grows: RUNNING, CLOSING (takes no tasks, those accepted may finish), SHUTDOWN (waiting tasks
     * are rejected, running ones interrupted). It is written before the groups are visited, and a group reads it under its
     * lock when a task wants to enter: so a task either entered before its group was visited, and is found there, or is
     * turned away. From CLOSING on a group is gone as soon as it is empty; when the map is empty, `terminated` is set.
     */

    private enum State {
        RUNNING,
        CLOSING,
        SHUTDOWN
    }

    private static final Signal ALREADY = new Signal(); // set: look again at once

    static {
        ALREADY.set();
    }

    private static final int PROCESSORS = Runtime.getRuntime().availableProcessors();

    private final GroupPolicy policy;
    private final TimeSource time;
    private final Events events;
    private final Propagation propagation;
    private final OffloadExecutor elsewhere;
    private final FairCap cap;
    private final IdleGroups idleGroups;
    private final @Nullable Scheduler onlyScheduler; // known without asking the group
    private final ConcurrentHashMap<String, Group> groups = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<Group, Signal> watched =
            new ConcurrentHashMap<>(); // changed under the group's lock

    /** By thread that may run a task of the same group: the run that it waits for without a timeout. */
    private final ConcurrentHashMap<Thread, TaskRun<?>> waits = new ConcurrentHashMap<>();

    private final AtomicLong ids = new AtomicLong(); // of tasks that were submitted without one
    private final AtomicLong created = new AtomicLong(); // groups, so that awaitIdle notices one that came and went

    private final Handover handover = new Handover();
    private final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
    private final Signal terminated = new Signal();
    private final AtomicReference<@Nullable GroupShutdownReport> shutdownReport = new AtomicReference<>();
    private volatile GroupBounds.@Nullable Known lastKnown; // most groups share their limits with the one before

    private GroupExecutor(GroupPolicy policy) {
        this.policy = policy;
        this.time = UserCode.clock(
                policy.timeSource(), failure -> policy.exceptionSink().report("time source of the policy", failure));
        this.events = new Events(policy);
        this.propagation = new Propagation(policy.propagators(), policy.scopedValues(), policy.exceptionSink());
        this.elsewhere = new OffloadExecutor(policy.exceptionSink(), time);
        this.cap = new FairCap(policy.globalMaxInFlight(), policy.globalQueueThreshold());
        this.idleGroups = new IdleGroups(policy, time, this::forget);
        this.onlyScheduler = policy.hasScheduler() ? null : Scheduler.virtualThreads();
    }

    /**
     * Creates an executor that runs each task on a fresh virtual thread, unless the policy names another scheduler.
     *
     * @param policy the rules
     * @return a new executor, to be closed by its owner
     */
    public static GroupExecutor newVirtualThreadExecutor(GroupPolicy policy) {
        return new GroupExecutor(Objects.requireNonNull(policy, "policy"));
    }

    // Submitting.

    /**
     * Submits a task to a group. Never blocks, except that under {@link RejectionPolicy#CALLER_RUNS} a task for which there is
     * no room, and a {@link RejectionHandler}, run here.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param taskId what the task is called in results and events; need not be unique
     * @param task what to call
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, String taskId, Callable<T> task) {
        requireTask(groupKey, taskId, task);
        requireRunning(groupKey, taskId);
        return admit(groupKey, plainRun(taskId, task));
    }

    /**
     * Submits a task that is to be treated unlike the others of its group, else as {@link #submit(String, String, Callable)}.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param taskId what the task is called in results and events; need not be unique
     * @param task what to call
     * @param options its priority, cost and queue timeout
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, String taskId, Callable<T> task, TaskOptions options) {
        requireTask(groupKey, taskId, task);
        Objects.requireNonNull(options, "options");
        return submit(groupKey, options.specOf(taskId, task));
    }

    /**
     * Submits a task without an id of its own, else as {@link #submit(String, String, Callable)}. Its id is {@code task-1},
     * {@code task-2} and so on, in this executor.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param task the callable
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, Callable<T> task) {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(task, "task");
        return submit(groupKey, nextId(), task);
    }

    /**
     * Submits a task that returns nothing, without an id of its own, else as {@link #submit(String, Callable)}.
     *
     * @param groupKey the key of the group
     * @param task the runnable; what it throws is the error of the task
     * @return the task's handle, whose value is null
     * @throws IllegalStateException if this executor is shut down
     */
    public TaskHandle<Void> submit(String groupKey, Runnable task) {
        Objects.requireNonNull(task, "task");
        return submit(groupKey, callable(task));
    }

    /**
     * Submits a task that returns nothing, else as {@link #submit(String, String, Callable)}.
     *
     * {@snippet :
     * executor.submit("tenant-a", "mail-7", () -> mailer.send(mail));
     * executor.submit("tenant-a", "mail-8", () -> mailer.send(urgent), TaskOptions.defaults().priority(5));
     * }
     *
     * @param groupKey the key of the group
     * @param taskId the id of the task in results and events; need not be unique
     * @param task the runnable; what it throws is the error of the task
     * @param options none, or one object with its priority, cost, timeouts and retry policy. The parameter is variable so that
     *     a lambda which returns a value, and a null, are always taken for a {@link Callable}
     * @return the task's handle, whose value is null
     * @throws IllegalArgumentException if more than one options object is given
     * @throws IllegalStateException if this executor is shut down
     */
    public TaskHandle<Void> submit(String groupKey, String taskId, Runnable task, TaskOptions... options) {
        Objects.requireNonNull(task, "task");
        return switch (options.length) {
            case 0 -> submit(groupKey, taskId, callable(task));
            case 1 -> submit(groupKey, taskId, callable(task), options[0]);
            default ->
                throw new IllegalArgumentException("options of task \"" + taskId + "\" in group \"" + groupKey
                        + "\" must be one object at most, were " + options.length);
        };
    }

    @SuppressWarnings("NullAway") // the value of a Void task is null
    private static Callable<Void> callable(Runnable task) {
        return () -> {
            task.run();
            return null;
        };
    }

    private String nextId() {
        return "task-" + ids.incrementAndGet();
    }

    /**
     * Submits a planned task, else as {@link #submit(String, String, Callable)}.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param spec the plan; its name is the task's id
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, TaskSpec<T> spec) {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(spec, "spec");
        requireRunning(groupKey, spec.name());
        EnclosingScope enclosure = EnclosingScope.innermost();
        return admit(
                groupKey, new TunedRun<>(complete(spec, enclosure), submitNanos(), limit(spec.timeout(), enclosure)));
    }

    /**
     * Submits tasks and waits for all of them. One that fails or is rejected does not keep the others from running.
     *
     * <p>If the calling thread is interrupted, the tasks that have not been waited for yet are cancelled and interrupted, the
     * results are returned, and the thread's interrupt status is set.
     *
     * <p>A task that calls this holds its own slot meanwhile, of its group and of the global cap. If all of the group's slots, or
     * all of the cap's, are held by tasks that wait like it, this method throws: leave room for the tasks that are waited for, or
     * submit them from outside.
     *
     * @param <T> the type of the values
     * @param tasks what to submit, in this order
     * @return the results, in the order of the tasks; a rejected task has one with status REJECTED
     * @throws IllegalStateException if this executor is shut down; or if the caller is a task, and the tasks could never
     *     begin, because every slot of their group, or of the cap, is taken by one that waits like it; the tasks are cancelled
     *     then
     */
    public <T> List<GroupResult<T>> executeAll(List<GroupTask<T>> tasks) {
        return collect(submitAll(tasks, TaskOptions.defaults()), null);
    }

    /**
     * Submits tasks and waits for all of them, with options for those that have none of their own, else as
     * {@link #executeAll(List)}.
     *
     * @param <T> the type of the values
     * @param tasks the tasks to submit, in this order
     * @param options the options of each task whose own are the {@linkplain TaskOptions#defaults() defaults}
     * @return the results, in the order of the tasks
     * @throws IllegalStateException as {@link #executeAll(List)} does
     */
    public <T> List<GroupResult<T>> executeAll(List<GroupTask<T>> tasks, TaskOptions options) {
        return collect(submitAll(tasks, options), null);
    }

    /**
     * Submits tasks and waits for all of them, but no longer than a time. Those that have not ended by then are cancelled and
     * interrupted, and this method does not wait for them. Else as {@link #executeAll(List)}.
     *
     * {@snippet :
     * List<GroupResult<Quote>> quotes = executor.executeAll(requests, Duration.ofMillis(200));
     * }
     *
     * @param <T> the type of the values
     * @param tasks the tasks to submit, in this order
     * @param timeout the longest time to wait, from now on; zero or less submits the tasks and cancels what has not ended
     * @return the results, in the order of the tasks; one that had not ended has status CANCELLED and a
     *     {@link TimeoutException}
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> List<GroupResult<T>> executeAll(List<GroupTask<T>> tasks, Duration timeout) {
        return executeAll(tasks, TaskOptions.defaults(), timeout);
    }

    /**
     * Submits tasks with options for those that have none of their own, and waits for all of them, but no longer than a time;
     * as {@link #executeAll(List, TaskOptions)} and {@link #executeAll(List, Duration)} do.
     *
     * @param <T> the type of the values
     * @param tasks the tasks to submit, in this order
     * @param options the options of each task whose own are the {@linkplain TaskOptions#defaults() defaults}
     * @param timeout the longest time to wait, from now on
     * @return the results, in the order of the tasks
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> List<GroupResult<T>> executeAll(List<GroupTask<T>> tasks, TaskOptions options, Duration timeout) {
        Deadline deadline = Deadline.after(time, timeout);
        return collect(submitAll(tasks, options), new TimeBound(deadline, timeout));
    }

    /** How long executeAll waits. */
    private record TimeBound(Deadline deadline, Duration timeout) {}

    private <T> List<GroupRun<T>> submitAll(List<GroupTask<T>> tasks, TaskOptions otherwise) {
        List<GroupTask<T>> all = List.copyOf(tasks);
        Objects.requireNonNull(otherwise, "options");
        if (!isRunning()) {
            throw new IllegalStateException(
                    "executor is shut down; executeAll of " + all.size() + " tasks came too late");
        }
        List<GroupRun<T>> runs = new ArrayList<>(all.size());
        for (GroupTask<T> task : all) {
            boolean plain = task.options().equals(TaskOptions.defaults());
            runs.add(admit(task.groupKey(), runOf(plain ? task.options(otherwise) : task)));
        }
        return runs;
    }

    private <T> GroupRun<T> runOf(GroupTask<T> task) {
        if (task.options().equals(TaskOptions.defaults())) {
            return plainRun(task.taskId(), task.task());
        }
        TaskSpec<T> spec = task.options().specOf(task.taskId(), task.task());
        EnclosingScope enclosure = EnclosingScope.innermost();
        return new TunedRun<>(complete(spec, enclosure), submitNanos(), limit(spec.timeout(), enclosure));
    }

    /** Returns the run of a task that asks for nothing special: a small one, unless it must watch the time. */
    private <T> GroupRun<T> plainRun(String taskId, Callable<T> task) {
        EnclosingScope enclosure = EnclosingScope.innermost();
        TimeLimit limit = limit(null, enclosure);
        return limit == null && policy.queueTimeout() == null
                ? new GroupRun<>(taskId, carried(task, enclosure), submitNanos())
                : new TunedRun<>(complete(TaskSpec.named(taskId, task), enclosure), submitNanos(), limit);
    }

    private @Nullable TimeLimit limit(@Nullable Duration timeout, @Nullable EnclosingScope enclosure) {
        return timeout == null && enclosure == null ? null : TimeLimit.of(time, timeout, enclosure);
    }

    private static <T> List<GroupResult<T>> collect(List<GroupRun<T>> runs, @Nullable TimeBound bound) {
        List<GroupResult<T>> results = new ArrayList<>(runs.size());
        boolean interrupted = false;
        try {
            while (results.size() < runs.size()) {
                GroupRun<T> next = runs.get(results.size());
                try {
                    results.add(bound == null ? next.awaitResult() : awaitInTime(next, results.size(), runs, bound));
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    cancel(runs.subList(results.size(), runs.size()), interrupt);
                }
            }
        } catch (RuntimeException | Error failure) { // a wait that could never end, or a broken time source
            cancel(runs, failure);
            throw failure;
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return results;
    }

    private static <T> GroupResult<T> awaitInTime(GroupRun<T> run, int index, List<GroupRun<T>> runs, TimeBound bound)
            throws InterruptedException {
        GroupResult<T> result = run.awaitResult(bound.deadline());
        if (result != null) {
            return result;
        }
        List<GroupRun<T>> late = runs.subList(index, runs.size());
        cancel(
                late,
                new TimeoutException(
                        late.stream().filter(other -> !other.isDone()).count() + " of " + runs.size()
                                + " tasks had not ended after " + MILLISECONDS.convert(bound.timeout())
                                + " ms, the timeout of executeAll"));
        return run.awaitResult();
    }

    /** Cancels those that wait first: a slot that one of the others gives back must not go to them. */
    private static void cancel(List<? extends GroupRun<?>> runs, Throwable cause) {
        runs.reversed().forEach(run -> run.cancel(cause, false));
        runs.forEach(run -> run.cancel(cause, true));
    }

    /**
     * Calls a task in the calling thread, under the limits of a group: waits in the group's queue like every other task, and
     * runs when it is its turn.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param task what to call
     * @return what it returned
     * @throws RejectedTaskException if it was rejected
     * @throws InterruptedException if the calling thread was interrupted while the task waited, which it does no more; or by
     *     the task
     * @throws IllegalStateException if this executor is shut down; or if the caller is a task of the same group and every slot
     *     is taken by one that waits like it
     * @throws Exception what the task threw
     */
    public <T> T call(String groupKey, Callable<T> task) throws Exception {
        return call(groupKey, task, TaskOptions.defaults());
    }

    /**
     * Calls a task in the calling thread, with options, else as {@link #call(String, Callable)}.
     *
     * {@snippet :
     * Page page = executor.call("tenant-a", () -> fetch(uri), TaskOptions.defaults().priority(5).timeout(ofSeconds(2)));
     * }
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param task the callable
     * @param options its priority, cost, queue timeout, retry policy and timeout
     * @return what it returned
     * @throws RejectedTaskException if it was rejected
     * @throws InterruptedException as {@link #call(String, Callable)} does
     * @throws IllegalStateException as {@link #call(String, Callable)} does
     * @throws dev.raddle.task.TaskTimeoutException if the timeout of the options passed
     * @throws Exception what the task threw
     */
    public <T> T call(String groupKey, Callable<T> task, TaskOptions options) throws Exception {
        Outcome<T> outcome = callInTurn(groupKey, options.specOf(callId(), task), false);
        if (outcome instanceof Outcome.Rejected<T> rejected) {
            throw new RejectedTaskException(groupKey, callId(), rejected.reason());
        }
        return valueOf(outcome);
    }

    /**
     * Calls a task as {@link #call} does, if it is its turn soon enough. Neither rejection policy nor handler have a say.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param longest how long to wait for its turn; zero or less does not wait
     * @param task what to call
     * @return what it returned; empty if it did not run, because its turn did not come in time or there was no room to
     *     wait, or if it returned null
     * @throws InterruptedException if the calling thread was interrupted while the task waited; or by the task
     * @throws IllegalStateException as {@link #call} does
     * @throws Exception what the task threw
     */
    public <T> Optional<T> tryCall(String groupKey, Duration longest, Callable<T> task) throws Exception {
        return tryCall(groupKey, longest, task, TaskOptions.defaults());
    }

    /**
     * Calls a task with options, if it is its turn soon enough, else as {@link #tryCall(String, Duration, Callable)}.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param longest the longest time to wait for its turn, which stands for the options' queue timeout
     * @param task the callable
     * @param options its priority, cost, retry policy and timeout
     * @return what it returned; empty as for {@link #tryCall(String, Duration, Callable)}
     * @throws InterruptedException as {@link #tryCall(String, Duration, Callable)} does
     * @throws IllegalStateException as {@link #call(String, Callable)} does
     * @throws dev.raddle.task.TaskTimeoutException if the timeout of the options passed
     * @throws Exception what the task threw
     */
    public <T> Optional<T> tryCall(String groupKey, Duration longest, Callable<T> task, TaskOptions options)
            throws Exception {
        Duration wait = longest.isNegative() ? Duration.ZERO : longest;
        Outcome<T> outcome = callInTurn(groupKey, options.specOf(callId(), task).queueTimeout(wait), true);
        return outcome instanceof Outcome.Rejected<T> ? Optional.empty() : Optional.ofNullable(valueOf(outcome));
    }

    private <T> Outcome<T> callInTurn(String groupKey, TaskSpec<T> spec, boolean attempt) throws InterruptedException {
        Objects.requireNonNull(groupKey, "groupKey");
        requireRunning(groupKey, spec.name());
        EnclosingScope enclosure = EnclosingScope.innermost();
        CallRun<T> run = admit(
                groupKey,
                new CallRun<>(complete(spec, enclosure), submitNanos(), limit(spec.timeout(), enclosure), attempt));
        try {
            return run.runInTurn();
        } catch (InterruptedException | IllegalStateException givenUp) {
            throw givenUp; // the run has been left as it should be
        } catch (Throwable failure) { // of the machinery: no other thread knows that the caller has left
            Thread caller = Thread.currentThread();
            Scheduler.virtualThreads().execute(() -> run.leftBy(caller, failure));
            throw failure;
        }
    }

    @SuppressWarnings("NullAway") // whether the value may be null is for the caller's T to say
    private static <T> T valueOf(Outcome<T> outcome) throws Exception {
        return switch (outcome) {
            case Outcome.Success<T> success -> success.value();
            case Outcome.Failure<T> failure -> throw asThrown(failure.error());
            case Outcome.Cancelled<T> cancelled -> throw asThrown(cancelled.cause());
            case Outcome.Rejected<T> rejected -> throw new IllegalStateException(rejected.reason());
            case Outcome.Skipped<T> skipped -> throw new IllegalStateException(skipped.reason());
        };
    }

    private static Exception asThrown(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof Exception exception ? exception : new IllegalStateException(thrown);
    }

    private static String callId() {
        return "call-" + Thread.currentThread().threadId();
    }

    /**
     * Returns a scheduler that places tasks in a group: they obey its limits, wait in its queue, and leave it when they are
     * withdrawn. Through it other doors run their tasks in a group. They see the policy's contexts as those who submitted them
     * do, and are called what their doors call them; a plain {@link Runnable} is called by its class.
     *
     * @param groupKey the key of the group
     * @return a new scheduler; what a plain {@link Runnable} throws there goes to the policy's sink
     */
    public Scheduler scheduler(String groupKey) {
        return new GroupScheduler(this, Objects.requireNonNull(groupKey, "groupKey"));
    }

    PlacedRun placeIn(String groupKey, Runnable task) {
        Objects.requireNonNull(task, "task");
        if (!isRunning()) {
            throw new RejectedTaskException(
                    groupKey, PlacedRun.nameOf(task), RejectionReason.SHUTDOWN + ": the executor is shut down");
        }
        return enter(groupKey, announced(groupKey, task));
    }

    /** Returns a run that the listeners have heard of; in the context of who submitted the task, if anybody asks for that. */
    private PlacedRun announced(String groupKey, Runnable task) {
        if (task instanceof Scheduler.Placeable placeable && !(propagation.isPlain() && events.isSilent())) {
            try {
                return placeable.inSubmittersContext(() -> announcedHere(groupKey, task));
            } catch (Throwable failure) {
                policy.exceptionSink()
                        .report("context of task " + UserCode.textOf(task) + ", placed in a group", failure);
            }
        }
        return announcedHere(groupKey, task);
    }

    private PlacedRun announcedHere(String groupKey, Runnable task) {
        CapturedContext context = task instanceof Scheduler.Placeable
                ? propagation.captureWithoutTaskContext()
                : propagation.capture(TaskContext.current().within(EnclosingScope.innermost()));
        PlacedRun run = new PlacedRun(task, context, policy.exceptionSink(), policy.queueTimeout(), submitNanos());
        Group.ensureRoom();
        run.giveTo(groupOf(groupKey));
        events.submitted(run);
        return run;
    }

    // The corridor.

    private <R extends GroupRun<?>> R admit(String key, R run) {
        Group.ensureRoom();
        run.giveTo(groupOf(key));
        events.submitted(run);
        return enter(key, run);
    }

    /** Lets a run enter its group, of which the listeners have heard. */
    private <R extends GroupRun<?>> R enter(String key, R run) {
        try {
            return enterOrFail(key, run);
        } catch (Throwable failure) {
            breakOff(run, failure);
            throw failure;
        }
    }

    /** Ends a run that the machinery has failed to admit or to start, in another thread if this one cannot. */
    private static void breakOff(GroupRun<?> run, Throwable failure) {
        try {
            run.breakOff(failure);
        } catch (Throwable again) {
            Scheduler.virtualThreads().execute(() -> run.breakOff(failure));
        }
    }

    private <R extends GroupRun<?>> R enterOrFail(String key, R run) {
        Group group = run.group();
        run.arm();
        for (; ; ) {
            switch (group.admit(run)) {
                case HELD -> startFirst(run);
                case WAITING -> {
                    if (cap.hasWork()) {
                        serveBeforeWaiting(run);
                    } else {
                        run.waitsInQueue();
                    }
                }
                case UNRESOLVED -> {
                    lookUp(group);
                    run.waitsInQueue();
                }
                case QUEUE_FULL -> reject(run, RejectionReason.GROUP_QUEUE + ": " + group.load(), true);
                case BULKHEAD_FULL -> reject(run, RejectionReason.BULKHEAD + ": " + group.load(), true);
                case GLOBAL_QUEUE_FULL -> reject(run, globalQueueFull(), true);
                case CLOSED -> {
                    group.retireIfEmpty();
                    reject(run, RejectionReason.SHUTDOWN + ": the group or the executor is being shut down", false);
                }
                case ENDED -> {
                    group.retireIfEmpty();
                    run.disarm();
                }
                case GONE -> {
                    forget(group);
                    Group next = groupOf(key);
                    group.passOn(run, next);
                    group = next;
                    continue;
                }
            }
            return run;
        }
    }

    /** A slot of the cap is free: a run that does not wait must not leave before the cap has found whether it gets that. */
    private void serveBeforeWaiting(GroupRun<?> run) {
        GrantedPermits grants = new GrantedPermits();
        try {
            cap.serve(grants);
            run.waitsInQueue();
        } finally {
            dispatch(grants);
        }
    }

    private Group groupOf(String key) {
        Group group = groups.get(key);
        return group != null ? group : groups.computeIfAbsent(key, this::newGroup);
    }

    private Group newGroup(String key) {
        created.incrementAndGet();
        return new Group(key, this);
    }

    private String globalQueueFull() {
        int threshold = policy.globalQueueThreshold();
        return RejectionReason.GLOBAL_QUEUE + ": " + threshold + " of " + threshold + " waiting in all groups, " + cap;
    }

    private void lookUp(Group group) {
        GroupBounds.Pending lookup = group.beginLookup();
        if (lookup == null) {
            return; // another thread does, or has
        }
        GroupBounds.Known found = shared(GroupBounds.Known.resolve(policy, group.key));
        GrantedPermits grants = new GrantedPermits();
        Map<Permit, Gate.Entry> refused = group.endLookup(lookup, found, grants);
        dispatch(grants);
        refused.forEach((permit, entry) -> rejectEarly((GroupRun<?>) permit, entry));
    }

    private void rejectEarly(GroupRun<?> run, Gate.Entry entry) {
        String reason = switch (entry) {
            case BULKHEAD_FULL -> RejectionReason.BULKHEAD + ": " + run.group().load();
            case COMMON_QUEUE_FULL -> globalQueueFull();
            default -> RejectionReason.GROUP_QUEUE + ": " + run.group().load();
        };
        reject(run, reason, true);
    }

    private GroupBounds.Known shared(GroupBounds.Known found) {
        GroupBounds.Known last = lastKnown;
        if (last != null && last.equals(found)) {
            return last;
        }
        lastKnown = found;
        return found;
    }

    private void startFirst(GroupRun<?> run) {
        if (!run.startsElsewhere()) {
            Dispatch.start(run);
            return;
        }
        GrantedPermits grants = new GrantedPermits();
        if (!run.start(grants)) {
            dispatch(grants);
        }
    }

    /** Starts what was granted, and what the cap grants, until nothing is left. */
    void dispatch(GrantedPermits grants) {
        dispatch(grants, null);
    }

    private @Nullable GroupRun<?> dispatch(GrantedPermits grants, @Nullable Group sameGroup) {
        GroupRun<?> following = null;
        GroupRun<?> starting = null;
        try {
            boolean more;
            do {
                more = cap.serve(grants);
                for (Permit granted; (granted = grants.poll()) != null; ) {
                    GroupRun<?> run = (GroupRun<?>) granted;
                    starting = run;
                    if (following == null && run.group() == sameGroup && run.mayFollow()) {
                        run.leftQueue();
                        following = run;
                    } else if (!run.startsElsewhere()) {
                        Dispatch.start(run);
                    } else if (!run.start(grants)) {
                        more = true;
                    }
                    starting = null;
                }
            } while (more);
        } catch (Throwable failure) {
            dispatchElsewhere(following, starting, failure, grants);
            throw failure;
        }
        return following;
    }

    /** Leaves what is granted to another thread, which has a stack of its own, because this one cannot go on. */
    private void dispatchElsewhere(
            @Nullable GroupRun<?> following, @Nullable GroupRun<?> starting, Throwable failure, GrantedPermits grants) {
        Scheduler.virtualThreads().execute(() -> {
            if (starting != null) {
                starting.breakOff(failure);
            }
            if (following != null && following != starting) {
                startFirst(following);
            }
            dispatch(grants);
        });
    }

    /** Gives back what a run held; returns one of the same group that its thread shall run next, if threads are reused. */
    @Nullable
    TaskRun<?> giveBack(GroupRun<?> run, long ranNanos, long nowNanos, boolean ownThread) {
        GrantedPermits grants = new GrantedPermits();
        run.group().release(run, ranNanos, nowNanos, grants);
        takeOver(grants);
        return dispatch(grants, ownThread && policy.reuseThreads() ? run.group() : null);
    }

    /** Places a granted run on a thread. */
    void place(GroupRun<?> run, Group group) {
        Scheduler scheduler = onlyScheduler != null ? onlyScheduler : group.scheduler();
        if (scheduler == Scheduler.virtualThreads()
                && cap.used() > PROCESSORS
                && !Thread.currentThread().isVirtual()) {
            handover.leave(run);
        } else {
            run.placeOn(scheduler);
        }
    }

    /** Tells whether all groups use virtual threads. */
    boolean usesVirtualThreads() {
        return onlyScheduler != null;
    }

    /** Starts, on this carrier, what was left to the carriers. */
    private void takeOver(GrantedPermits grants) {
        if (!Thread.currentThread().isVirtual()) {
            return;
        }
        for (GroupRun<?> run; (run = handover.take()) != null; ) {
            run.start(grants);
        }
    }

    void reject(GroupRun<?> run, String reason, boolean bySubmitter) {
        if (run.claimed()) {
            rejectClaimed(run, reason, bySubmitter);
        }
    }

    void rejectClaimed(GroupRun<?> run, String reason, boolean bySubmitter) {
        run.leftQueue();
        run.disarm();
        run.noteRejection(reason);
        events.rejected(run, reason);
        RejectionHandler handler = policy.rejectionHandler();
        if (run.isAttempt()) {
            run.rejected(reason);
        } else if (handler != null) {
            run.handledBy(handler);
        } else if (bySubmitter && policy.rejectionPolicy() == RejectionPolicy.CALLER_RUNS) {
            run.runByCaller();
        } else {
            run.rejected(reason);
        }
    }

    /** Returns who runs foreign code that must hold up neither an alarm nor a task. */
    OffloadExecutor elsewhere() {
        return elsewhere;
    }

    /** Runs what depends on a settled task: not in a thread that has been given the next task already. */
    void follow(Runnable dependant) {
        if (policy.reuseThreads()) {
            elsewhere.execute(dependant);
        } else {
            dependant.run();
        }
    }

    // Changing limits.

    /**
     * Changes how many tasks of a group run at once. More start at once, fewer are reached as running ones end. The change
     * holds until the group is evicted or shut down; until then the group is not forgotten, even if it is idle.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param limit at least 1
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if this executor is shut down
     */
    public void setMaxConcurrency(String groupKey, int limit) {
        requireAtLeastOne("maxConcurrency of group \"" + groupKey + "\"", limit);
        adjust(groupKey, known -> known.withConcurrency(limit));
    }

    /**
     * Changes a group's share of the global cap. The change holds as that of {@link #setMaxConcurrency} does.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param weight at least 1
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if this executor is shut down
     */
    public void setWeight(String groupKey, int weight) {
        requireAtLeastOne("weight of group \"" + groupKey + "\"", weight);
        adjust(groupKey, known -> known.withWeight(weight));
    }

    /**
     * Changes how many slots may be taken in all groups together, or introduces such a cap. More take effect at once, fewer
     * as running tasks end.
     *
     * @param cap at least 1
     * @throws IllegalArgumentException if it is less than 1
     */
    public void setGlobalMaxInFlight(int cap) {
        requireAtLeastOne("globalMaxInFlight", cap);
        this.cap.setMax(cap);
        groups.values().forEach(Group::count);
        dispatch(new GrantedPermits());
    }

    private void adjust(String key, UnaryOperator<GroupBounds.Known> change) {
        Objects.requireNonNull(key, "groupKey");
        for (; ; ) {
            requireRunning(key);
            Group group = groupOf(key);
            GrantedPermits grants = new GrantedPermits();
            if (group.adjust(change, grants)) {
                lookUp(group);
                dispatch(grants);
                return;
            }
            forget(group);
        }
    }

    /**
     * Pauses a group: none of its tasks starts until it is resumed, those that run go on. Submitted tasks wait, as far as
     * there is room. A paused group is not forgotten.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @throws IllegalStateException if this executor is shut down
     */
    public void pauseGroup(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        for (; ; ) {
            requireRunning(groupKey);
            Group group = groupOf(groupKey);
            if (group.pauseOrResume(true, new GrantedPermits())) {
                lookUp(group);
                dispatch(new GrantedPermits()); // the cap may have kept slots for this group
                return;
            }
            forget(group);
        }
    }

    /**
     * Resumes a paused group: as many of its waiting tasks start at once as may.
     *
     * @param groupKey the key of the group; one that is not paused, or not known, is left alone
     */
    public void resumeGroup(String groupKey) {
        Group group = groups.get(Objects.requireNonNull(groupKey, "groupKey"));
        if (group != null) {
            GrantedPermits grants = new GrantedPermits();
            group.pauseOrResume(false, grants);
            dispatch(grants);
        }
    }

    // Ending.

    /**
     * Forgets a group: its waiting tasks are rejected, its limits are looked up again for the next task, changes made by hand
     * are lost. Running tasks go on, and count against the limits that are found next. A task that is submitted meanwhile
     * is in the old group or in the new one, never between.
     *
     * @param groupKey the key of the group; one that is not known is left alone
     */
    public void evictGroup(String groupKey) {
        Group group = groups.get(Objects.requireNonNull(groupKey, "groupKey"));
        if (group != null) {
            end(List.of(group), RejectionReason.EVICTED + ": the group was evicted", run -> {});
        }
    }

    /**
     * Shuts a group down at once: its waiting tasks are rejected, its running ones interrupted. The key can be used again; new
     * tasks start as the interrupted ones end.
     *
     * @param groupKey the key of the group; one that is not known is left alone
     */
    public void shutdownGroup(String groupKey) {
        Group group = groups.get(Objects.requireNonNull(groupKey, "groupKey"));
        if (group != null) {
            end(group, RejectionReason.SHUTDOWN + ": the group was shut down");
        }
    }

    /**
     * Shuts a group down when its accepted tasks have ended, at a moment at the latest: until then new tasks for its key are
     * rejected. If the time has passed, or the calling thread is interrupted, which stays set, the rest is ended as by
     * {@link #shutdownGroup(String)}.
     *
     * @param groupKey the key of the group; one that is not known has no tasks
     * @param timeout how long accepted tasks may take
     * @return true if all of them ended in time
     */
    public boolean shutdownGroup(String groupKey, Duration timeout) {
        Deadline deadline = Deadline.after(time, timeout);
        Group group = groups.get(Objects.requireNonNull(groupKey, "groupKey"));
        if (group == null) {
            return true;
        }
        group.close();
        Signal empty = group.untilEmpty();
        if (empty == null || awaitOrInterrupted(empty, deadline)) {
            return true;
        }
        end(
                group,
                RejectionReason.SHUTDOWN + ": the group was shut down after " + MILLISECONDS.convert(timeout) + " ms");
        return false;
    }

    /**
     * Shuts this executor down at once: it takes no more tasks, waiting ones are rejected, running ones interrupted. Nothing
     * starts after this method has returned. Does not wait for the running ones to end.
     */
    public void shutdown() {
        shutdownAfter(Duration.ZERO);
    }

    private void shutdownAfter(Duration waited) {
        boolean first = state.getAndSet(State.SHUTDOWN) != State.SHUTDOWN;
        String reason = RejectionReason.SHUTDOWN + ": the executor was shut down";
        Ended ended = end(groups.values(), reason, run -> run.stop(reason, first));
        if (first) {
            report(new GroupShutdownReport(ended.running(), ended.waiting(), waited));
        }
        terminateIfEmpty();
    }

    /**
     * Shuts this executor down when the accepted tasks have ended, at a moment at the latest: it takes no more tasks, waiting
     * ones start as slots become free. If the time has passed, or the calling thread is interrupted, which stays set, the
     * rest is ended as by {@link #shutdown()}.
     *
     * @param timeout how long accepted tasks may take; one that is too long for a {@code long} of nanoseconds is cut
     * @return true if all of them ended in time, whoever ended them; the last ones' listeners and handles hear of it a moment
     *     after their slots are free, so wait for a handle to see it done
     */
    public boolean shutdown(Duration timeout) {
        long began = time.nanoTime();
        Deadline deadline = Deadline.after(time, timeout);
        state.compareAndSet(State.RUNNING, State.CLOSING);
        groups.values().forEach(Group::retireIfEmpty);
        terminateIfEmpty();
        if (awaitOrInterrupted(terminated, deadline)) {
            if (state.get() == State.CLOSING) {
                report(new GroupShutdownReport(0, 0, Duration.ofNanos(time.nanoTime() - began)));
            }
            return true;
        }
        shutdownAfter(Duration.ofNanos(time.nanoTime() - began));
        return false;
    }

    /**
     * Shuts this executor down as {@link #shutdown(Duration)} does, with the policy's close timeout. Whether its tasks had all
     * ended is in the {@link #shutdownReport()}; if they had not, a warning is logged.
     */
    @Override
    public void close() {
        shutdown(policy.closeTimeout());
    }

    /**
     * Returns how this executor was shut down.
     *
     * @return the report; empty until all accepted tasks have ended or the rest has been interrupted and rejected
     */
    public Optional<GroupShutdownReport> shutdownReport() {
        return Optional.ofNullable(shutdownReport.get());
    }

    /** Publishes the first report of a shutdown; later ones are about what the first has ended. */
    private void report(GroupShutdownReport report) {
        if (shutdownReport.compareAndSet(null, report)) {
            events.shutDown(report);
        }
    }

    private static boolean awaitOrInterrupted(Signal signal, Deadline deadline) {
        try {
            return signal.await(deadline);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Takes out all who wait before it stops what runs: a slot that is given back must not go to them. */
    private Ended end(Collection<Group> ended, String reason, Consumer<GroupRun<?>> stop) {
        List<GroupRun<?>> running = new ArrayList<>();
        List<GroupRun<?>> waited = new ArrayList<>();
        ended.forEach(group -> waited.addAll(group.evict(running::add)));
        running.forEach(stop);
        dispatch(new GrantedPermits()); // the cap may have kept slots for these groups
        waited.forEach(run -> reject(run, reason, false));
        return new Ended(running.size(), waited.size());
    }

    /** The number of tasks that were ended from outside. */
    private record Ended(int running, int waiting) {}

    private void end(Group group, String reason) {
        end(List.of(group), reason, run -> run.stop(reason, true));
    }

    /** Hears that a group has become empty. */
    void emptied(Group group) {
        if (group.isGone()) {
            forget(group);
        } else {
            idleGroups.arm();
        }
    }

    private void forget(Group group) {
        groups.remove(group.key, group);
        terminateIfEmpty();
    }

    private void terminateIfEmpty() {
        if (isShutdown() && groups.isEmpty() && terminated.set()) {
            idleGroups.sweep(); // so that it does not keep what is gone until its alarm rings
        }
    }

    // Watching.

    /**
     * Waits until nothing of a group runs or waits.
     *
     * @param groupKey the key of the group
     * @param timeout how long to wait at most
     * @return true if there was such a moment, false if the time passed first
     * @throws InterruptedException if the calling thread is interrupted
     */
    public boolean awaitIdle(String groupKey, Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(time, timeout);
        Group group = groups.get(Objects.requireNonNull(groupKey, "groupKey"));
        Signal empty = group == null ? null : group.untilEmpty();
        return empty == null || empty.await(deadline);
    }

    /**
     * Waits until nothing runs or waits in any group. Tasks that are submitted meanwhile are waited for, too.
     *
     * @param timeout the longest time to wait; zero or less does not wait
     * @return true if there was a moment at which all groups were empty, false if the time passed first
     * @throws InterruptedException if the calling thread is interrupted
     */
    public boolean awaitIdle(Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(time, timeout);
        for (; ; ) {
            Signal busy = firstBusy();
            if (busy == null) {
                return true;
            }
            if (!busy.await(deadline)) {
                return false;
            }
        }
    }

    /*
     * All groups are empty at one moment if each is empty when it is looked at first, none has been empty anew when it is
     * looked at a second time, and no group was created in between: then each was empty from its first look to its second,
     * and the moment between the last first look and the first second look is one of them.
     */

    /** Returns a signal that is set when some group has become empty, or null if all were empty at one moment. */
    private @Nullable Signal firstBusy() {
        long groupsBefore = created.get();
        Map<Group, Integer> timesEmptied = new HashMap<>();
        for (Group group : groups.values()) {
            Signal busy = group.untilEmpty();
            if (busy != null) {
                return busy;
            }
            timesEmptied.put(group, group.timesEmptied());
        }
        for (Map.Entry<Group, Integer> seen : timesEmptied.entrySet()) {
            Signal busy = seen.getKey().untilEmpty();
            if (busy != null) {
                return busy;
            }
            if (seen.getKey().timesEmptied() != seen.getValue()) {
                return ALREADY;
            }
        }
        return created.get() == groupsBefore ? null : ALREADY;
    }

    /**
     * Returns what a group looks like now.
     *
     * @param groupKey the key of the group
     * @return its numbers, or empty if the group is not known
     */
    public Optional<GroupStats> groupStats(String groupKey) {
        Objects.requireNonNull(groupKey, "groupKey");
        idleGroups.sweep();
        Group group = groups.get(groupKey);
        return group == null ? Optional.empty() : group.stats();
    }

    /**
     * Returns what the whole looks like now.
     *
     * @return the sums over all groups
     */
    public GroupExecutorStats stats() {
        idleGroups.sweep();
        int active = 0;
        int[] runningAndWaiting = new int[2];
        for (Group group : groups.values()) {
            active += group.isActive() ? 1 : 0;
            group.addTo(runningAndWaiting);
        }
        return new GroupExecutorStats(active, runningAndWaiting[0], runningAndWaiting[1], cap.used(), cap.max());
    }

    /**
     * Returns the keys of the groups that are known now, those included that are idle and not forgotten yet.
     *
     * @return an unmodifiable copy
     */
    public Set<String> activeGroupKeys() {
        idleGroups.sweep();
        Set<String> keys = new HashSet<>();
        for (Group group : groups.values()) {
            if (group.isActive()) {
                keys.add(group.key);
            }
        }
        return Set.copyOf(keys);
    }

    /**
     * Says what a task waits for. Takes time in proportion to the tasks before it in its group, and to the number of groups
     * if it waits for the global cap.
     *
     * @param handle a handle that this executor returned
     * @return the one thing it waits for, and its place
     * @throws IllegalArgumentException if the handle is not this executor's
     */
    public Explanation explain(TaskHandle<?> handle) {
        if (!(handle instanceof GroupRun<?> run) || run.group().owner != this) {
            throw new IllegalArgumentException("handle must be one that this executor returned, was " + handle);
        }
        Explanation explanation = run.group().explain(run);
        if (explanation.waitingFor() != Explanation.WaitReason.GLOBAL_CAP) {
            return explanation;
        }
        long tag = run.group().tagAtCap();
        long before = groups.values().stream()
                .filter(group -> group != run.group() && group.isBeforeAtCap(tag))
                .count();
        return new Explanation(explanation.waitingFor(), explanation.place(), (int) before);
    }

    /**
     * Tells whether this executor takes no more tasks.
     *
     * @return true once it is shut down, at once or gracefully
     */
    public boolean isShutdown() {
        return !isRunning();
    }

    /**
     * Returns the rules.
     *
     * @return the policy that this executor was made with
     */
    public GroupPolicy policy() {
        return policy;
    }

    @Override
    public String toString() {
        return "group executor, " + state.get() + ", " + groups.size() + " groups, " + cap;
    }

    // What groups and runs share.

    TimeSource time() {
        return time;
    }

    Events events() {
        return events;
    }

    FairCap cap() {
        return cap;
    }

    IdleGroups idleGroups() {
        return idleGroups;
    }

    ConcurrentHashMap<Group, Signal> watched() {
        return watched;
    }

    ConcurrentHashMap<Thread, TaskRun<?>> waits() {
        return waits;
    }

    /** Notes that a thread waits for a run while the cap is full: the last of those that fill it finds that none can go on. */
    boolean noteWaitForCap(Thread waiter, GroupRun<?> run) {
        if (cap.used() < cap.max() || run.comesToAnEnd() || !run.group().keepsBack(run)) {
            return false;
        }
        waits.put(waiter, run);
        if (new Standstill(groups.values(), cap, waits).includes(waiter)) {
            waits.remove(waiter, run);
            throw new IllegalStateException("task \"" + run.taskId() + "\" in group \"" + run.groupKey()
                    + "\" would never begin: " + cap + ", and each of the tasks that hold them waits for another one;"
                    + " raise globalMaxInFlight, or do not wait");
        }
        return true;
    }

    boolean throwsRejections() {
        return policy.rejectionHandler() == null && policy.rejectionPolicy() != RejectionPolicy.DISCARD;
    }

    private boolean isRunning() {
        return state.get() == State.RUNNING;
    }

    private long submitNanos() {
        return GroupRun.submitNanos(time, events);
    }

    private <T> Callable<? extends T> carried(Callable<? extends T> task, @Nullable EnclosingScope enclosure) {
        return propagation.carry(task, TaskContext.current().within(enclosure));
    }

    /** Fills in what the submitter knows: its context, and the policy's queue timeout if the task has none of its own. */
    private <T> TaskSpec<T> complete(TaskSpec<T> spec, @Nullable EnclosingScope enclosure) {
        Duration timeout = spec.queueTimeout() != null ? spec.queueTimeout() : policy.queueTimeout();
        return new TaskSpec<>(
                spec.name(),
                carried(spec.callable(), enclosure),
                spec.priority(),
                spec.cost(),
                timeout,
                spec.retry(),
                spec.timeout());
    }

    private void requireRunning(String groupKey, String taskId) {
        if (!isRunning()) {
            throw new IllegalStateException(
                    "executor is shut down; task \"" + taskId + "\" for group \"" + groupKey + "\" came too late");
        }
    }

    private void requireRunning(String groupKey) {
        if (!isRunning()) {
            throw new IllegalStateException("executor is shut down; group \"" + groupKey + "\" cannot be changed");
        }
    }

    private static void requireTask(String groupKey, String taskId, Callable<?> task) {
        Objects.requireNonNull(groupKey, "groupKey");
        Objects.requireNonNull(taskId, "taskId");
        Objects.requireNonNull(task, "task");
    }

    private static void requireAtLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, was " + value);
        }
    }
}
