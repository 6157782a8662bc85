package dev.raddle.group;

import static java.util.concurrent.TimeUnit.MILLISECONDS;

import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.RateLimit;
import dev.raddle.kernel.StackRoom;
import dev.raddle.task.NamedTask;
import dev.raddle.task.Outcome;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.OwnerChange.Kind;
import dev.raddle.task.Rate;
import dev.raddle.task.Rejection;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiPredicate;
import java.util.function.Function;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
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
 * <p>A task that finds no free slot waits in its group's queue, without a thread, in order of priority and arrival.
 * Limits are exact: at no instant do more tasks run than a group's limit and the global cap allow, even if tasks are
 * submitted or cancelled, groups evicted or limits changed at the same time. A group is created by its first task and
 * removed when it has been idle for some time.
 *
 * <p>All methods may be called by any thread, including from tasks, listeners, resolvers and handlers. None of these is
 * ever called under a lock.
 */
public final class GroupExecutor implements AutoCloseable {

    private static final String NO_KEY = "groupKey must not be null: each task belongs to the group of its key";

    final GroupEngine engine;
    private final AtomicLong ids = new AtomicLong(); // of tasks that were submitted without one

    private GroupExecutor(GroupPolicy policy) {
        this.engine = new GroupEngine(policy, policy.listeners());
        if (engine.permits != null) {
            engine.permits.open();
        }
    }

    /**
     * Creates an executor that runs each task on a fresh virtual thread, unless the policy names another scheduler.
     *
     * @param policy the policy
     * @return a new executor, to be closed by its owner
     * @throws RuntimeException if the policy has a permit source whose {@link PermitSource#open} throws it
     */
    public static GroupExecutor newVirtualThreadExecutor(GroupPolicy policy) {
        return new GroupExecutor(Objects.requireNonNull(policy, "policy"));
    }

    // Submitting.

    /**
     * Submits a task to a group. Never blocks, except that the calling thread executes a {@link RejectionHandler}, and
     * under {@link RejectionPolicy#CALLER_RUNS} a task that is not admitted.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param taskId the id of the task in results and events; need not be unique
     * @param task the callable
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, String taskId, Callable<T> task) {
        requireKey(groupKey, taskId);
        Objects.requireNonNull(taskId, "taskId");
        Objects.requireNonNull(task, "task");
        requireRunning(groupKey, taskId);
        return engine.submit(groupKey, taskId, task, null, null);
    }

    /**
     * Submits a task with options of its own. Otherwise behaves as {@link #submit(String, String, Callable)}.
     *
     * {@snippet :
     * executor.submit("tenant-a", TaskSpec.named("mail-7", () -> mailer.send(mail)).priority(5).cost(2));
     * }
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param spec the task and its options; its name is the task's id
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, TaskSpec<T> spec) {
        Objects.requireNonNull(spec, "spec");
        requireKey(groupKey, spec.name());
        requireRunning(groupKey, spec.name());
        return engine.submit(groupKey, spec.name(), spec.callable(), spec, null);
    }

    /**
     * Submits a task without an id. Otherwise behaves as {@link #submit(String, String, Callable)}. This executor
     * numbers such tasks: {@code task-1}, {@code task-2} and so on.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param task the callable
     * @return the task's handle, also if it is rejected
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> TaskHandle<T> submit(String groupKey, Callable<T> task) {
        Objects.requireNonNull(groupKey, NO_KEY);
        Objects.requireNonNull(task, "task");
        return submit(groupKey, nextId(), task);
    }

    /**
     * Submits a task without a value and without an id. Otherwise behaves as {@link #submit(String, Callable)}.
     *
     * @param groupKey the key of the group
     * @param task the runnable; an exception that it throws is the error of the task
     * @return the task's handle, whose value is null
     * @throws IllegalStateException if this executor is shut down
     */
    public TaskHandle<Void> submit(String groupKey, Runnable task) {
        return submit(groupKey, TaskSpec.callable(task));
    }

    private String nextId() {
        return "task-" + ids.incrementAndGet();
    }

    /**
     * Submits tasks and waits for all of them. A task that fails or is rejected does not keep the other tasks from
     * running.
     *
     * <p>If the calling thread is interrupted, this method cancels and interrupts the tasks whose results it has not
     * collected yet, waits until no callable runs any more, returns the results, and sets the thread's interrupt status
     * again.
     *
     * <p>A task that calls this method holds its own slots, of its group and of the global cap, while it waits. If
     * tasks that wait in the same way hold all slots of the group, or all slots of the cap, this method throws. To
     * avoid this, raise the limit so that the awaited tasks have slots, or call this method outside of tasks.
     *
     * @param <T> the type of the values
     * @param tasks the tasks to submit, in this order
     * @return the results, in the order of the tasks; that of a rejected task has status REJECTED
     * @throws IllegalStateException if this executor is shut down; or if the caller is a task and the submitted tasks
     *     could never begin, because tasks that wait in the same way hold every slot of their group or of the cap; the
     *     submitted tasks are then cancelled
     */
    public <T> List<GroupResult<T>> executeAll(List<GroupTask<T>> tasks) {
        return GroupBatch.submit(engine, tasks).collect(null);
    }

    /**
     * Submits tasks and waits until all of them have ended or a timeout has passed. When the timeout passes, the tasks
     * that have not ended are cancelled and interrupted, and this method does not wait until they return. It waits only
     * for a listener that is being notified of a start, and for a rejection handler. Otherwise behaves as
     * {@link #executeAll(List)}.
     *
     * {@snippet :
     * List<GroupResult<Quote>> quotes = executor.executeAll(requests, Duration.ofMillis(200));
     * }
     *
     * @param <T> the type of the values
     * @param tasks the tasks to submit, in this order
     * @param timeout the longest time to wait, from the call on; with zero or less, the tasks are submitted and those
     *     that have not ended are cancelled
     * @return the results, in the order of the tasks; that of a task that had not ended has status CANCELLED and a
     *     {@link TimeoutException}
     * @throws IllegalStateException if this executor is shut down
     */
    public <T> List<GroupResult<T>> executeAll(List<GroupTask<T>> tasks, Duration timeout) {
        GroupBatch.TimeBound bound = new GroupBatch.TimeBound(Deadline.after(engine.time, timeout), timeout);
        return GroupBatch.submit(engine, tasks).collect(bound);
    }

    /**
     * Calls a task in the calling thread, under the limits of a group. The task waits in the group's queue like every
     * other task, and runs when its slots are granted. Its id is its name if it is a {@link NamedTask}.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param task the callable
     * @return the value that the task returned
     * @throws RejectedTaskException if the task was rejected
     * @throws InterruptedException if the calling thread was interrupted while the task waited, which then leaves the
     *     queue; or if the task threw it
     * @throws IllegalStateException if this executor is shut down; or if the caller is a task of the same group and
     *     tasks that wait in the same way hold every slot
     * @throws Exception the exception that the task threw
     */
    public <T> T call(String groupKey, Callable<T> task) throws Exception {
        return call(groupKey, nameOf(task), task, null);
    }

    /**
     * Calls a task in the calling thread, with options. Otherwise behaves as {@link #call(String, Callable)}.
     *
     * {@snippet :
     * Page page = executor.call("a", TaskSpec.named("page", () -> fetch(uri)).priority(5).timeout(ofSeconds(2)));
     * }
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param spec the task and its options; its name is the task's id
     * @return the value that the task returned
     * @throws RejectedTaskException if the task was rejected
     * @throws InterruptedException as {@link #call(String, Callable)} does
     * @throws IllegalStateException as {@link #call(String, Callable)} does
     * @throws dev.raddle.task.TaskTimeoutException if the timeout of the task passed
     * @throws Exception the exception that the task threw
     */
    public <T> T call(String groupKey, TaskSpec<T> spec) throws Exception {
        return call(groupKey, spec.name(), spec.callable(), spec);
    }

    private <T> T call(String groupKey, String id, Callable<? extends T> task, @Nullable TaskSpec<?> spec)
            throws Exception {
        Outcome<T> outcome = callWhenGranted(groupKey, id, task, spec, false);
        if (outcome instanceof Outcome.Rejected<T> rejected) {
            throw new RejectedTaskException(groupKey, id, rejected.rejection());
        }
        return valueOf(outcome);
    }

    /**
     * Calls a task as {@link #call} does, if its slots are granted within a timeout. The rejection policy and handler
     * do not apply.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param timeout the longest time to wait for the slots; zero or less does not wait
     * @param task the callable
     * @return the value that the task returned; empty if it returned null, or was rejected: because the timeout passed,
     *     the queue was full, the breaker open, or the group evicted or shut down
     * @throws InterruptedException if the calling thread was interrupted while the task waited; or if the task threw it
     * @throws IllegalStateException as {@link #call} does
     * @throws Exception the exception that the task threw
     */
    public <T> Optional<T> tryCall(String groupKey, Duration timeout, Callable<T> task) throws Exception {
        return tryCall(groupKey, timeout, TaskSpec.named(nameOf(task), task));
    }

    /**
     * Calls a task with options, if its slots are granted within a timeout. Otherwise behaves as
     * {@link #tryCall(String, Duration, Callable)}.
     *
     * @param <T> the type of the value
     * @param groupKey the key of the group
     * @param timeout the longest time to wait for the slots, which replaces the task's queue timeout
     * @param spec the task and its options; its name is the task's id
     * @return the value that the task returned; empty as for {@link #tryCall(String, Duration, Callable)}
     * @throws InterruptedException as {@link #tryCall(String, Duration, Callable)} does
     * @throws IllegalStateException as {@link #call(String, Callable)} does
     * @throws dev.raddle.task.TaskTimeoutException if the timeout of the task passed
     * @throws Exception the exception that the task threw
     */
    public <T> Optional<T> tryCall(String groupKey, Duration timeout, TaskSpec<T> spec) throws Exception {
        Duration wait = timeout.isNegative() ? Duration.ZERO : timeout;
        Outcome<T> outcome = callWhenGranted(groupKey, spec.name(), spec.callable(), spec.queueTimeout(wait), true);
        return outcome instanceof Outcome.Rejected<T> ? Optional.empty() : Optional.ofNullable(valueOf(outcome));
    }

    private <T> Outcome<T> callWhenGranted(
            String groupKey, String id, Callable<? extends T> task, @Nullable TaskSpec<?> spec, boolean isTryCall)
            throws InterruptedException {
        Objects.requireNonNull(groupKey, NO_KEY);
        requireRunning(groupKey, id);
        CallerThread caller = new CallerThread(isTryCall);
        GroupRun<T> run = engine.submit(groupKey, id, task, spec, caller);
        return run.runWhenGranted(caller);
    }

    @SuppressWarnings("NullAway") // the caller's T determines whether the value may be null
    private static <T> T valueOf(Outcome<T> outcome) throws Exception {
        return switch (outcome) {
            case Outcome.Success<T> success -> success.value();
            case Outcome.Failure<T> failure -> throw asThrown(failure.error());
            case Outcome.Cancelled<T> cancelled -> throw asThrown(cancelled.cause());
            case Outcome.Rejected<T> rejected ->
                throw new IllegalStateException(rejected.rejection().text());
            case Outcome.Skipped<T> skipped -> throw new IllegalStateException(skipped.reason());
        };
    }

    private static Exception asThrown(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return thrown instanceof Exception exception ? exception : new IllegalStateException(thrown);
    }

    private GroupMonitor monitor() {
        return new GroupMonitor(engine);
    }

    private static String nameOf(Callable<?> task) {
        Objects.requireNonNull(task, "task");
        return task instanceof NamedTask named
                ? UserCode.nameOf(named::name, task)
                : "call-" + Thread.currentThread().threadId();
    }

    /**
     * Returns a scheduler that places tasks in a group: they obey its limits, wait in its queue, and leave it when they
     * are withdrawn. Scopes and flows use it to run their tasks in a group. Such a task sees the policy's contexts as
     * its submitter does, and its id is the name that it has in its scope or flow; the id of a plain {@link Runnable}
     * is the name of its class.
     *
     * @param groupKey the key of the group
     * @return a new scheduler; an exception thrown by a plain {@link Runnable} is reported to the policy's sink
     */
    public Scheduler scheduler(String groupKey) {
        return new GroupScheduler(engine, Objects.requireNonNull(groupKey, NO_KEY));
    }

    // Changing limits.

    /**
     * Changes how many tasks of a group run at once. A higher limit takes effect at once, a lower one as running tasks
     * end. The change holds until the group is evicted or shut down. Until then the group is not removed, even if it is
     * idle. An adaptive limit stays at the given one until {@link #resumeAdaptive}.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param limit the new limit, at least 1
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if this executor is shut down
     */
    public void setMaxConcurrency(String groupKey, int limit) {
        requireAtLeastOne("maxConcurrency of group \"" + groupKey + "\"", limit);
        adjust(groupKey, Kind.LIMIT, GroupExecutor::limitOf, limitText(limit), known -> known.withConcurrency(limit));
    }

    /**
     * Lets the limit of a group adapt again, from the current one on, after {@link #setMaxConcurrency} has stopped it.
     * Has no effect if the limit adapts, or if the policy has no adaptive limit for the group. The group may be removed
     * again when it is idle, unless it was changed in other ways, too.
     *
     * @param groupKey the key of the group
     * @throws IllegalStateException if this executor is shut down
     */
    public void resumeAdaptive(String groupKey) {
        AdaptiveLimit limit = engine.policy.resolveAdaptiveLimit(groupKey);
        if (limit != null && engine.groups.containsKey(groupKey)) {
            change(groupKey, (group, grants) -> group.adjust(known -> known.withAdaptation(limit), grants));
        } else {
            requireRunning(groupKey);
        }
    }

    /**
     * Changes a group's share of the global cap. The change holds as long as that of {@link #setMaxConcurrency} does.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param weight the new weight, at least 1
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if this executor is shut down
     */
    public void setWeight(String groupKey, int weight) {
        requireAtLeastOne("weight of group \"" + groupKey + "\"", weight);
        String text = Integer.toString(weight);
        adjust(
                groupKey,
                Kind.WEIGHT,
                known -> Integer.toString(known.weight()),
                text,
                known -> known.withWeight(weight));
    }

    /**
     * Changes how many tasks of a group may start per time. The change takes effect at once, and what has been used of
     * the last rate stays used: if five of a burst are missing, five of the new burst are, or all of a smaller one. No
     * rate at all forgets that. The change holds as long as that of {@link #setMaxConcurrency} does.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param rate the new rate, or null for none
     * @throws IllegalStateException if this executor is shut down
     */
    public void setRate(String groupKey, @Nullable Rate rate) {
        engine.usesRates = true; // first, so that each decision under the rate reads the clock
        RateLimit limit = engine.rateLimits.of(rate);
        adjust(groupKey, Kind.RATE, GroupExecutor::rateOf, rateText(limit), known -> known.withRate(limit));
    }

    /**
     * Keeps the tasks of a group from starting for some time, for example because the server that they call has asked
     * for that ({@code Retry-After}). Running tasks go on, submitted ones wait while the queue is not full, and are
     * rejected otherwise. If the group is already on hold for longer, this method has no effect. A group on hold is not
     * removed.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param time the length of the hold, not negative
     * @throws IllegalArgumentException if the time is negative
     * @throws IllegalStateException if this executor is shut down
     */
    public void holdGroup(String groupKey, Duration time) {
        Objects.requireNonNull(groupKey, NO_KEY);
        if (time.isNegative()) {
            throw new IllegalArgumentException(
                    "the hold of group \"" + groupKey + "\" must not be negative, was " + time);
        }
        AtomicReference<@Nullable Duration> left = new AtomicReference<>();
        change(groupKey, (group, grants) -> {
            left.set(engine.alarms.hold(group, time));
            return !group.isRetired();
        });
        Duration before = left.get();
        if (before != null) {
            changed(groupKey, Kind.HOLD, before.isZero() ? null : holdText(before), holdText(time));
        }
    }

    /**
     * Opens the circuit breaker of a group for some time, for example because its callee is known to be down. After
     * that time it is half-open, as after an opening by failures. Running tasks go on, and no longer count.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @param time the time until the first probe, positive
     * @throws IllegalArgumentException if the time is not positive, or the policy has no breaker for the group
     * @throws IllegalStateException if this executor is shut down
     */
    public void openBreaker(String groupKey, Duration time) {
        CircuitBreaker plan = engine.policy.resolveBreaker(Objects.requireNonNull(groupKey, NO_KEY));
        if (plan == null || !time.isPositive()) {
            throw new IllegalArgumentException(
                    plan == null
                            ? "group \"" + groupKey + "\" has no breaker"
                            : "the time for the breaker of group \"" + groupKey + "\" must be positive, was " + time);
        }
        change(groupKey, (group, grants) -> {
            BreakerGroup.Change change = ((BreakerGroup) group).openByCall(plan, time, grants);
            if (change != null) {
                engine.apply(change, false);
            }
            return change != null;
        });
    }

    /**
     * Closes the circuit breaker of a group, and forgets how its tasks have ended. Waiting tasks start as the other
     * limits allow.
     *
     * @param groupKey the key of the group; if that group is unknown or has no breaker, this method has no effect
     */
    public void resetBreaker(String groupKey) {
        if (engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY)) instanceof BreakerGroup group) {
            GrantedPermits grants = new GrantedPermits();
            BreakerGroup.Change change = group.reset(grants);
            engine.dispatch(grants);
            if (change != null) {
                engine.apply(change, false);
            }
        }
    }

    /**
     * Changes how many slots may be taken in all groups together, or introduces such a cap. A higher cap takes effect
     * at once, a lower one as running tasks end.
     *
     * @param cap the new cap, at least 1
     * @throws IllegalArgumentException if it is less than 1
     */
    public void setGlobalMaxInFlight(int cap) {
        requireAtLeastOne("globalMaxInFlight", cap);
        int before = engine.cap.max();
        engine.cap.setMax(cap);
        GrantedPermits grants = new GrantedPermits();
        engine.groups.values().forEach(group -> group.recountForCap(grants));
        engine.dispatch(grants);
        if (before != cap) {
            changed(null, Kind.LIMIT, limitText(before), limitText(cap));
        }
    }

    /**
     * Returns how many slots may be taken in all groups together.
     *
     * @return the cap in force, or {@link Integer#MAX_VALUE} if there is none
     */
    public int globalMaxInFlight() {
        return engine.cap.max();
    }

    /** Changes the limits of a group, and notifies the listener unless the value was the same before. */
    private void adjust(
            String key,
            Kind kind,
            Function<GroupBounds.Known, @Nullable String> value,
            @Nullable String after,
            UnaryOperator<GroupBounds.Known> change) {
        AtomicReference<GroupBounds.@Nullable Known> before = new AtomicReference<>(); // null until they are looked up
        change(
                key,
                (group, grants) -> group.adjust(
                        known -> {
                            before.set(known);
                            return change.apply(known);
                        },
                        grants));
        GroupBounds.Known known = before.get();
        String text = known == null ? null : value.apply(known);
        if (known == null || !Objects.equals(text, after)) {
            changed(key, kind, text, after);
        }
    }

    private static String limitOf(GroupBounds.Known known) {
        return limitText(known.concurrency());
    }

    private static String limitText(int limit) {
        return limit == Integer.MAX_VALUE ? "unlimited" : Integer.toString(limit);
    }

    private static String holdText(Duration time) {
        return MILLISECONDS.convert(time) + " ms";
    }

    private static @Nullable String rateOf(GroupBounds.Known known) {
        return rateText(known.rate());
    }

    private static @Nullable String rateText(@Nullable RateLimit limit) {
        return limit == null ? null : limit.rate().toString();
    }

    private void changed(@Nullable String key, Kind kind, @Nullable String before, @Nullable String after) {
        engine.changed(new OwnerChange(key, kind, false, before, after));
    }

    /** Changes a group, which is created if there is none, and starts what the change allows. */
    private void change(String key, BiPredicate<Group, GrantedPermits> change) {
        Objects.requireNonNull(key, "groupKey");
        for (; ; ) {
            requireRunning(key);
            Group group = engine.groupOf(key);
            GrantedPermits grants = new GrantedPermits();
            if (change.test(group, grants)) {
                engine.lookUp(group);
                engine.dispatch(grants);
                return;
            }
            engine.remove(group);
        }
    }

    /**
     * Pauses a group: none of its tasks starts until the group is resumed. Running tasks go on. Submitted tasks wait
     * while the queue is not full, and are rejected otherwise. A paused group is not removed.
     *
     * @param groupKey the key of the group, which need not have had a task
     * @throws IllegalStateException if this executor is shut down
     */
    public void pauseGroup(String groupKey) {
        AtomicBoolean wasPaused = new AtomicBoolean();
        change(
                groupKey,
                (group, grants) -> group.pauseOrResume(true, wasPaused, grants)); // the cap may have kept slots
        if (!wasPaused.get()) {
            changed(groupKey, Kind.PAUSE, null, "paused");
        }
    }

    /**
     * Resumes a paused group: its waiting tasks start at once, as many as the limits allow.
     *
     * @param groupKey the key of the group; if that group is unknown or not paused, this method has no effect
     */
    public void resumeGroup(String groupKey) {
        Group group = engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY));
        if (group != null) {
            AtomicBoolean wasPaused = new AtomicBoolean();
            GrantedPermits grants = new GrantedPermits();
            group.pauseOrResume(false, wasPaused, grants);
            engine.dispatch(grants);
            if (wasPaused.get()) {
                changed(groupKey, Kind.PAUSE, null, "resumed");
            }
        }
    }

    // Ending.

    /**
     * Evicts a group: its waiting tasks are rejected, its limits are looked up again for the next task, and changes
     * made at run time are discarded. Running tasks go on, and count against the limits that are looked up next. What
     * has started still counts against the rate that is looked up next; until then it flows back at the old one. A
     * task that is submitted concurrently is admitted either wholly before the eviction or wholly after it. A group
     * that is being {@linkplain #shutdownGroup(String, Duration) shut down} stays closed.
     *
     * @param groupKey the key of the group; if that group is unknown, this method has no effect
     */
    public void evictGroup(String groupKey) {
        StackRoom.ensure();
        Group group = engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY));
        if (group != null) {
            engine.stop(
                    List.of(group),
                    null,
                    engine.rejection(Rejection.Reason.EVICTED, "the group was evicted"),
                    run -> {});
            changed(groupKey, Kind.EVICTION, null, null);
        }
    }

    /**
     * Shuts a group down at once: its waiting tasks are rejected, its running ones interrupted. The key can be used
     * again, unless {@link #shutdownGroup(String, Duration)} waits; new tasks start as the interrupted ones end.
     *
     * @param groupKey the key of the group; if that group is unknown, this method has no effect
     */
    public void shutdownGroup(String groupKey) {
        StackRoom.ensure();
        Group group = engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY));
        if (group != null) {
            stop(group, null, engine.rejection(Rejection.Reason.SHUTDOWN, "the group was shut down"));
            changed(groupKey, Kind.EVICTION, null, "shut down");
        }
    }

    /**
     * Shuts a group down when its accepted tasks have ended or a timeout has passed. Until then new tasks for its key
     * are rejected. If the timeout passes or the calling thread is interrupted, the remaining tasks are ended as by
     * {@link #shutdownGroup(String)}; the thread's interrupt status stays set. If several calls wait, the key can be
     * used again when the accepted tasks have ended or the last of the calls returns.
     *
     * @param groupKey the key of the group; an unknown group has no tasks
     * @param timeout the longest time to wait for accepted tasks
     * @return true if all accepted tasks ended in time
     */
    public boolean shutdownGroup(String groupKey, Duration timeout) {
        StackRoom.ensure();
        Deadline deadline = Deadline.after(engine.time, timeout);
        Group group = engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY));
        if (group == null) {
            return true;
        }
        Signal empty = group.close();
        boolean isInTime = empty == null || GroupEngine.awaitOrInterrupted(empty, deadline);
        if (!isInTime) {
            stop(
                    group,
                    empty,
                    engine.rejection(
                            Rejection.Reason.SHUTDOWN,
                            "the group was shut down after " + MILLISECONDS.convert(timeout) + " ms"));
        }
        changed(groupKey, Kind.EVICTION, null, "shut down");
        return isInTime;
    }

    /**
     * Shuts this executor down at once: new tasks are refused, waiting tasks rejected, running tasks interrupted. No
     * task starts after this method has returned. Does not wait for running tasks to end, nor for the settlement of a
     * task that will not run: a listener may still be notified of its start, or a timeout has just taken it out of the
     * queue and another thread rejects or settles it.
     */
    public void shutdown() {
        StackRoom.ensure();
        engine.shutdownAfter(Duration.ZERO);
    }

    /**
     * Shuts this executor down when its accepted tasks have ended or a timeout has passed. From the call on, new tasks
     * are refused; waiting tasks start as slots become free. If the timeout passes or the calling thread is
     * interrupted, the remaining tasks are ended as by {@link #shutdown()}; the thread's interrupt status stays set. If
     * all tasks have ended, this method then waits until the policy's permit source has returned the permits, for at
     * most two seconds.
     *
     * @param timeout the longest time to wait for accepted tasks; if it exceeds {@link Long#MAX_VALUE} nanoseconds,
     *     that many are used
     * @return true if all accepted tasks ended in time, even if another call ended them; the last tasks' listeners are
     *     notified and their handles done shortly after their slots are free or they have left the queue, so await a
     *     handle to see it done
     */
    public boolean shutdown(Duration timeout) {
        StackRoom.ensure();
        return engine.shutdown(timeout);
    }

    /**
     * Shuts this executor down as {@link #shutdown(Duration)} does, with the policy's close timeout, and like that may
     * return shortly before the last handles are done. The
     * {@link #shutdownReport()} says whether all tasks had ended; if they had not, a warning is logged.
     */
    @Override
    public void close() {
        shutdown(engine.policy.closeTimeout());
    }

    /**
     * Returns how this executor was shut down.
     *
     * @return the report; empty until all accepted tasks have ended or the rest has been interrupted and rejected
     */
    public Optional<GroupShutdownReport> shutdownReport() {
        return Optional.ofNullable(engine.shutdownReport.get());
    }

    private void stop(Group group, @Nullable Signal closedUntil, Rejection reason) {
        engine.stop(List.of(group), closedUntil, reason, run -> run.stop(reason, true));
    }

    // Monitoring.

    /**
     * Waits until no task of a group runs or waits.
     *
     * @param groupKey the key of the group
     * @param timeout the longest time to wait; zero or less does not wait
     * @return true if there was such a moment, false if the timeout passed first
     * @throws InterruptedException if the calling thread is interrupted
     */
    public boolean awaitIdle(String groupKey, Duration timeout) throws InterruptedException {
        Deadline deadline = Deadline.after(engine.time, timeout);
        Group group = engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY));
        Signal empty = group == null ? null : group.untilEmpty();
        return empty == null || empty.await(deadline);
    }

    /**
     * Waits until no task runs or waits in any group. Tasks that are submitted meanwhile are awaited, too.
     *
     * @param timeout the longest time to wait; zero or less does not wait
     * @return true if there was a moment at which all groups were empty, false if the timeout passed first
     * @throws InterruptedException if the calling thread is interrupted
     */
    public boolean awaitIdle(Duration timeout) throws InterruptedException {
        return GroupMonitor.awaitIdle(Deadline.after(engine.time, timeout), monitor()::firstBusy);
    }

    /**
     * Returns all known groups, as {@link #activeGroupKeys} does, with what keeps their tasks waiting. Each is read
     * when the stream comes to it, in a time that does not depend on the number of its tasks but on that of their
     * different priorities.
     *
     * @return the groups, in no order; groups that come or go meanwhile may be among them or not
     */
    public Stream<GroupState> groups() {
        return monitor().states();
    }

    /**
     * Returns the statistics of a group.
     *
     * @param groupKey the key of the group
     * @return its statistics, or empty if the group is unknown
     */
    public Optional<GroupStats> groupStats(String groupKey) {
        return monitor().stats(Objects.requireNonNull(groupKey, NO_KEY));
    }

    /**
     * Returns the statistics of this executor.
     *
     * @return the sums over all groups
     */
    public GroupExecutorStats stats() {
        return monitor().stats();
    }

    /**
     * Returns the keys of the known groups, including idle ones that have not been removed yet.
     *
     * @return an unmodifiable copy
     */
    public Set<String> activeGroupKeys() {
        return monitor().activeKeys();
    }

    /**
     * Returns tasks of a group that have not ended: first those that hold slots, in the order in which they received
     * them, then those that wait, in the order in which they would start. Locks the group for a time proportional to
     * the number of tasks returned.
     *
     * {@snippet :
     * for (TaskStats task : executor.tasks("payments", 20)) {
     *     if (task.thread() != null) {
     *         log(task.handle().taskId(), task.since(), task.thread().getStackTrace());
     *     }
     * }
     * }
     *
     * @param groupKey the key of the group
     * @param max the largest number of tasks to return, at least 1
     * @return an unmodifiable list; empty if the group is unknown or idle
     */
    public List<TaskStats> tasks(String groupKey, int max) {
        requireAtLeastOne("max", max);
        Group group = engine.groups.get(Objects.requireNonNull(groupKey, NO_KEY));
        return group == null ? List.of() : group.tasks(max);
    }

    /**
     * Returns why a task waits. Takes time proportional to the number of tasks before it in its group and, if it waits
     * for the global cap, to the number of groups.
     *
     * @param handle a handle that this executor returned
     * @return the reason, and the task's place in the queue
     * @throws IllegalArgumentException if another executor returned the handle
     */
    public Explanation explain(TaskHandle<?> handle) {
        if (!(handle instanceof GroupRun<?> run) || run.group.engine != engine) {
            throw new IllegalArgumentException("handle must be one that this executor returned, was " + handle);
        }
        return monitor().explain(run);
    }

    /**
     * Returns why the next task of a group waits.
     *
     * @param groupKey the key of the group
     * @return the reason, and the task's place in the queue; empty if no task of the group waits
     */
    public Optional<Explanation> explainNext(String groupKey) {
        return monitor().explainFirst(Objects.requireNonNull(groupKey, NO_KEY), null);
    }

    /**
     * Returns why a task waits whose handle the caller does not have. Takes time proportional to the number of tasks
     * that wait in the group.
     *
     * @param groupKey the key of the group
     * @param taskId the id of the task; the first one in the queue is explained if several have it
     * @return the reason, and the task's place in the queue; empty if no task with this id waits in the group
     */
    public Optional<Explanation> explain(String groupKey, String taskId) {
        Objects.requireNonNull(taskId, "taskId");
        return monitor().explainFirst(Objects.requireNonNull(groupKey, NO_KEY), taskId);
    }

    /**
     * Returns whether this executor has been shut down.
     *
     * @return true from the first call of a shutdown method or {@link #close()} on
     */
    public boolean isShutdown() {
        return engine.isShutdown();
    }

    /**
     * Returns the policy.
     *
     * @return the policy that this executor was created with
     */
    public GroupPolicy policy() {
        return engine.policy;
    }

    @Override
    public String toString() {
        return "group executor, " + engine.state.get() + ", " + engine.groups.size() + " groups, " + engine.cap;
    }

    private static void requireKey(@Nullable String groupKey, @Nullable String taskId) {
        if (groupKey == null) {
            throw new NullPointerException("groupKey of task \"" + taskId + "\" must not be null");
        }
    }

    private void requireRunning(String groupKey, String taskId) {
        if (engine.isShutdown()) {
            throw new IllegalStateException(
                    "executor is shut down; task \"" + taskId + "\" for group \"" + groupKey + "\" was not submitted");
        }
    }

    private void requireRunning(String groupKey) {
        if (engine.isShutdown()) {
            throw new IllegalStateException("executor is shut down; group \"" + groupKey + "\" cannot be changed");
        }
    }

    static void requireAtLeastOne(String name, int value) {
        if (value < 1) {
            throw new IllegalArgumentException(name + " must be at least 1, was " + value);
        }
    }
}
