package dev.raddle.group;

import dev.raddle.kernel.CapDeadlockDetector;
import dev.raddle.kernel.CapturedContext;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.Entry;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.Propagation;
import dev.raddle.kernel.Recorder;
import dev.raddle.kernel.StackRoom;
import dev.raddle.kernel.TaskRun;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.kernel.TimerUse;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.OwnerChange;
import dev.raddle.task.Rejection;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskListener;
import dev.raddle.task.TaskSpec;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** Admits and starts the runs of all groups of a {@link GroupExecutor}. */
final class GroupEngine implements Function<String, Group> {

    /*
     * Overview.
     *
     * The stages of a task: submit ─► admit (Group, a gate) ─► place (Scheduler) ─► run, settle (GroupRun, a TaskRun).
     *
     * The decisions are made in the group, under its lock, and in the cap, by its combiner. Every method that may allow
     * runs to start collects these runs in GrantedPermits and starts them in dispatch(), outside the lock and the
     * combiner. dispatch() makes the cap serve its requests, starts the granted runs, and repeats both if a start
     * failed, because a failed start frees slots. It is a loop, not a recursion, so a million starts that all fail do
     * not exhaust the stack. A run that its scheduler may execute in the calling thread is started through that
     * thread's Dispatch, so a million of these do not exhaust the stack either.
     *
     * The state only increases: RUNNING, CLOSING (new tasks are refused, accepted tasks may finish), SHUTDOWN (waiting
     * tasks are rejected, running tasks interrupted). It is written before the groups are visited, and a group reads it
     * under its lock when a task enters. So a task either entered before its group was visited, and is found there, or
     * is refused. From CLOSING on, a group is retired as soon as it is empty. When the map is empty, `terminated` is
     * set, and the session of the permit source is closed.
     */

    enum State {
        RUNNING,
        CLOSING,
        SHUTDOWN
    }

    private static final Duration SHORTEST_WAIT = Duration.ofMillis(100); // for a report of tasks that never began
    private static final int MOST_QUIET_TICKS = 200; // ten seconds

    final GroupPolicy policy;
    final TimeSource time;
    final @Nullable GuardedListener events; // null if the policy has no listener
    final OffloadExecutor offloadExecutor; // of user code that must delay neither an alarm nor a task
    final FairCap cap;
    final IdleGroups idleGroups;
    final RateLimits rateLimits = new RateLimits();
    final GroupAlarms alarms = new GroupAlarms(this);
    private final @Nullable SchedulerLeases leases; // null if all groups use virtual threads
    final @Nullable Scheduler onlyScheduler; // null if the policy has a scheduler function
    final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader(); // that of the creator
    final ExceptionSink sink;
    final boolean throwsRejections; // whether a wait for a rejected task throws
    final CarrierHandoff<GroupRun<?>> carrierHandoff = new CarrierHandoff<>();
    final ConcurrentHashMap<String, Group> groups = new ConcurrentHashMap<>();

    /** Maps threads to the runs that they await without a timeout: those of the same group; with a cap, all. */
    final ConcurrentHashMap<Thread, TaskRun<?>> awaitedRuns = new ConcurrentHashMap<>();

    final AtomicLong groupsCreated = new AtomicLong(); // so that awaitIdle notices short-lived groups
    final AtomicReference<State> state = new AtomicReference<>(State.RUNNING);
    final Signal terminated = new Signal();
    final AtomicReference<@Nullable GroupShutdownReport> shutdownReport = new AtomicReference<>();

    final @Nullable PermitExchange permits; // null if the policy has no permit source

    final boolean reuseThreads;
    private final boolean measuresWaiting; // whether a listener receives the time that tasks wait
    private final @Nullable Duration queueTimeout; // of tasks that have none of their own
    private final Propagation propagation;
    private final boolean propagatesNothing;
    private final boolean adapts; // whether groups may have adaptive limits
    final boolean breaks; // whether groups may have circuit breakers
    private volatile int quietTicks = MOST_QUIET_TICKS; // of the clock, since a task with such a limit has ended
    volatile boolean usesRates; // whether any group has ever had a rate, or the cap has one
    private volatile GroupBounds.@Nullable Known lastBounds; // shared, because most groups have equal limits

    GroupEngine(GroupPolicy policy, @Nullable TaskListener listener) {
        this.policy = policy;
        this.time = policy.timeSource();
        this.sink = policy.exceptionSink();
        TimerUse.begin(time);
        this.events = GuardedListener.of(listener, sink, "group");
        this.propagation = policy.propagation();
        this.propagatesNothing = propagation.isPlain();
        this.adapts = policy.adaptsLimits();
        this.breaks = policy.hasBreakers();
        this.leases = policy.hasSchedulers() ? new SchedulerLeases(sink) : null;
        this.offloadExecutor = new OffloadExecutor(sink, time);
        this.cap = new FairCap(
                policy.globalMaxInFlight(),
                policy.globalQueueThreshold(),
                rateLimits.of(policy.globalRate()),
                time.nanoTime());
        this.usesRates = policy.hasRates();
        this.idleGroups = new IdleGroups(this);
        this.onlyScheduler = policy.hasSchedulers() ? null : Scheduler.virtualThreads();
        this.measuresWaiting = policy.taskListener() != null;
        this.reuseThreads = policy.reuseThreads();
        this.queueTimeout = policy.queueTimeout();
        PermitSource source = policy.permits();
        this.permits = source == null ? null : new PermitExchange(this, source);
        this.throwsRejections =
                policy.rejectionHandler() == null && policy.rejectionPolicy() != RejectionPolicy.DISCARD;
        TimerUse.retain(time); // until this is terminated
    }

    boolean isShutdown() {
        return state.get() != State.RUNNING;
    }

    // Submission.

    /**
     * Creates the run of a task, in the calling thread's context, and lets it enter its group.
     *
     * @param spec the options of the task, or null if it has none
     * @param caller the thread that runs the task, or null for the group's scheduler
     */
    <T> GroupRun<T> submit(
            String key,
            String id,
            Callable<? extends T> task,
            @Nullable TaskSpec<?> spec,
            @Nullable CallerThread caller) {
        StackRoom.ensure();
        TaskContext context = TaskContext.current();
        EnclosingScope scope = EnclosingScope.innermost(context);
        boolean isOutermost = scope == null && context.isEmpty();
        Callable<? extends T> carried = isOutermost && propagatesNothing ? task : carry(task, context, scope);
        long submitted = submitNanos();
        ClassLoader submitters = Thread.currentThread().getContextClassLoader();
        boolean isPlain =
                spec == null && scope == null && caller == null && queueTimeout == null && submitters == loader;
        RunSettings settings =
                isPlain ? null : settings(spec == null ? TaskSpec.named(id, task) : spec, scope, caller, submitters);
        GroupRun<T> run = new GroupRun<>(groupOf(key), id, carried, submitted, settings);
        if (caller != null) {
            run.whenSettled(caller.grantedOrSettled()::set);
        }
        if (events != null) {
            events.onSubmitted(run);
        }
        enter(run);
        return run;
    }

    private <T> Callable<? extends T> carry(
            Callable<? extends T> task, TaskContext context, @Nullable EnclosingScope scope) {
        boolean hidesFence = permits != null && (scope != null || !context.isEmpty());
        return propagation.carry(hidesFence ? TaskContext.withOwnFence(task) : task, context, scope);
    }

    /** Returns the settings of a run that is not plain, or null if it is nevertheless. */
    private @Nullable RunSettings settings(
            TaskSpec<?> spec,
            @Nullable EnclosingScope scope,
            @Nullable Origin origin,
            @Nullable ClassLoader submitters) {
        int priority = spec.priorityOr(0);
        TimeLimit limit = spec.timeout() == null && scope == null ? null : TimeLimit.of(time, spec.timeout(), scope);
        Duration longest = spec.queueTimeout() == null ? queueTimeout : spec.queueTimeout();
        RetryPolicy retry = spec.retry() == null || spec.retry().hasNoEffect() ? null : spec.retry();
        boolean isPlain = priority == 0 && spec.cost() == 1 && retry == null && submitters == loader;
        return isPlain && limit == null && longest == null && origin == null
                ? null
                : new RunSettings(priority, spec.cost(), retry, longest, limit, origin, submitters);
    }

    /** Returns the moment of a submission, or NOT_MEASURED if nothing reports how long tasks wait. */
    private long submitNanos() {
        return measuresWaiting || Recorder.isOn() ? time.nanoTime() : TaskRun.NOT_MEASURED;
    }

    /** Lets a task of another API enter a group, and returns its run. */
    GroupRun<Object> place(String key, Runnable task, PlacedTask placed) {
        StackRoom.ensure();
        Objects.requireNonNull(task, "task");
        if (isShutdown()) {
            throw new RejectedTaskException(
                    key, PlacedTask.nameOf(task), rejection(Rejection.Reason.SHUTDOWN, "the executor is shut down"));
        }
        GroupRun<Object> run = newPlacedRun(key, task, placed);
        enter(run);
        return run;
    }

    /** Returns a run that was reported to the listener, created in the submitter's context if that can be observed. */
    private GroupRun<Object> newPlacedRun(String key, Runnable task, PlacedTask placed) {
        if (task instanceof Scheduler.Placeable placeable && !(propagatesNothing && events == null)) {
            try {
                return placeable.inSubmittersContext(() -> newPlacedRunInContext(key, task, placed));
            } catch (Throwable failure) {
                sink.report("context of task " + UserCode.textOf(task) + ", placed in a group", failure);
            }
        }
        return newPlacedRunInContext(key, task, placed);
    }

    private GroupRun<Object> newPlacedRunInContext(String key, Runnable task, PlacedTask placed) {
        CapturedContext context = task instanceof Scheduler.Placeable
                ? propagation.capture(null)
                : propagation.capture(TaskContext.current().within(EnclosingScope.innermost()));
        int priority = task instanceof Scheduler.Placeable placeable ? placeable.priority() : 0;
        ClassLoader submitters = Thread.currentThread().getContextClassLoader();
        RunSettings settings = new RunSettings(priority, 1, null, queueTimeout, null, placed, submitters);
        String name = PlacedTask.nameOf(task);
        long submitted = submitNanos();
        GroupRun<Object> run = new GroupRun<>(groupOf(key), name, context.around(placed), submitted, settings);
        if (events != null) {
            events.onSubmitted(run);
        }
        return run;
    }

    // Admission.

    /** Lets a run, which was reported to the listener, enter its group. */
    private void enter(GroupRun<?> run) {
        RunSettings settings = run.settings;
        if (settings != null) {
            run.armTimeLimit(settings);
        }
        Group group = run.group;
        Entry entry = group.admit(run);
        while (entry == Entry.RETIRED) {
            remove(group);
            Group next = groupOf(group.key);
            group.moveTo(run, next);
            group = next;
            entry = group.admit(run);
        }
        if (entry == Entry.HELD) {
            run.start(null);
        } else if (entry == Entry.UNRESOLVED) {
            lookUp(group);
            onQueued(run, settings);
        } else {
            afterEntry(entry, group, run, settings);
        }
    }

    private void afterEntry(Entry entry, Group group, GroupRun<?> run, @Nullable RunSettings settings) {
        switch (entry) {
            case WAITING -> onQueued(run, settings);
            case THROTTLED -> {
                alarms.proceedOrArm(group);
                onQueued(run, settings);
            }
            case CLOSED -> {
                group.retireIfEmpty();
                run.reject(rejection(Rejection.Reason.SHUTDOWN, "the group or the executor is being shut down"), false);
            }
            case ENDED -> {
                group.retireIfEmpty();
                if (settings != null) {
                    settings.disarmTimeLimit();
                }
            }
            default -> {} // it is rejected
        }
    }

    private void onQueued(GroupRun<?> run, @Nullable RunSettings settings) {
        alarms.armAgain();
        if (cap.hasWork()) {
            serveBeforeWaiting(run, settings);
        } else if (settings != null) {
            run.armQueueTimeout(settings);
        }
    }

    /**
     * Makes the cap serve its requests before the run's queue timeout begins. A slot of the cap is free, and a run with
     * a queue timeout of zero must not be rejected before the cap has decided whether to grant it that slot: if another
     * thread is making that decision, this one waits for it.
     */
    private void serveBeforeWaiting(GroupRun<?> run, @Nullable RunSettings settings) {
        GrantedPermits grants = new GrantedPermits();
        if (settings == null || !Duration.ZERO.equals(settings.queueTimeout)) {
            serve(grants, false);
        } else {
            readTime(grants, false);
            while (cap.serveInTurn(grants)) {
                dispatch(grants);
            }
        }
        try {
            if (settings != null) {
                run.armQueueTimeout(settings);
            }
        } finally {
            dispatch(grants);
        }
    }

    Rejection rejection(Rejection.Reason reason, String detail) {
        return Rejection.of(reason, detail).by(policy.name());
    }

    Group groupOf(String key) {
        Group group = groups.get(key);
        return group != null ? group : groups.computeIfAbsent(key, this);
    }

    /** Returns a new group. */
    @Override
    public Group apply(String key) {
        groupsCreated.incrementAndGet();
        if (permits != null) {
            return permits.newGroup(key);
        }
        return breaks ? BreakerGroup.create(key, this) : new Group(key, this);
    }

    /** Looks the limits of a group up, unless they are known or another thread does. */
    void lookUp(Group group) {
        GroupBounds.Pending lookup = group.beginLookup();
        if (lookup == null) {
            return;
        }
        GroupBounds.Known found = canonical(GroupBounds.Known.resolve(policy, group.key, rateLimits));
        if (leases != null) {
            leases.take(group, found.scheduler());
        }
        GrantedPermits grants = new GrantedPermits();
        Map<GroupRun<?>, Refusal> refused = group.endLookup(lookup, found, grants);
        dispatch(grants);
        for (Map.Entry<GroupRun<?>, Refusal> each : refused.entrySet()) {
            each.getKey().reject(each.getValue().of(each.getKey(), ""), true);
        }
    }

    private GroupBounds.Known canonical(GroupBounds.Known found) {
        GroupBounds.Known last = lastBounds;
        if (last != null && last.equals(found)) {
            return last;
        }
        lastBounds = found;
        return found;
    }

    // Starting.

    /** Starts the granted runs, and those that the cap grants, until none is left. */
    void dispatch(GrantedPermits grants) {
        dispatch(grants, null);
    }

    private @Nullable GroupRun<?> dispatch(GrantedPermits grants, @Nullable Group sameGroup) {
        if (grants.isEmpty() && !cap.isActive()) {
            return null;
        }
        GroupRun<?> following = null;
        boolean more = false;
        do {
            boolean unserved = serve(grants, more);
            more = (usesRates && alarms.proceedOrArm(grants)) || unserved;
            for (Permit granted; (granted = grants.poll()) != null; ) {
                GroupRun<?> run = (GroupRun<?>) granted;
                if (following == null && run.group == sameGroup && run.mayRunNext()) {
                    run.leftQueue();
                    following = run;
                } else {
                    more |= !start(run, grants);
                }
            }
        } while (more);
        return following;
    }

    /**
     * Lets the cap serve at the current time.
     *
     * @param again whether runs were started since the time was read, which may have taken long
     * @return true if it may have more to grant
     */
    private boolean serve(GrantedPermits grants, boolean again) {
        readTime(grants, again);
        boolean more = cap.serve(grants);
        if (!grants.isEmpty() && cap.max() != FairCap.UNLIMITED) {
            watchForStops();
        }
        if (usesRates && cap.isThrottled()) {
            alarms.armCap();
        }
        return more;
    }

    private void readTime(GrantedPermits grants, boolean again) {
        boolean isNeeded = grants.now() == GrantedPermits.NO_TIME
                ? usesRates || cap.isActive()
                : (usesRates || again) && cap.hasWork();
        if (isNeeded) {
            grants.setNow(time.nanoTime());
        }
    }

    private void watchForStops() {
        if (!cap.clock().isWatched()) {
            cap.clock().watch(time, this::needsTicks);
        }
    }

    private boolean needsTicks() {
        int quiet = quietTicks;
        quietTicks = Math.min(quiet + 1, MOST_QUIET_TICKS);
        boolean chargesTime = cap.max() != FairCap.UNLIMITED && cap.used() > 0;
        return !isShutdown() && (chargesTime || quiet < MOST_QUIET_TICKS);
    }

    /** Starts a granted run; returns false if that failed and other runs may have been granted. */
    private boolean start(GroupRun<?> run, GrantedPermits grants) {
        run.group.reportDemand(); // the cap may have granted it
        return run.start(grants);
    }

    /**
     * Releases the permit of a run and starts the runs that this allows. If the run makes the window of an adaptive
     * limit full, decides about that afterwards.
     *
     * @return a run of the same group that the calling thread is to run next, if threads are reused; else null
     */
    @Nullable
    TaskRun<?> release(GroupRun<?> run, long ranNanos, long grantedNanos, long nowNanos) {
        Group group = run.group;
        Adaptation adaptation = adapts ? group.adaptation() : null;
        Adaptation.Kind kind = adaptation == null || wasStopped(nowNanos - ranNanos, nowNanos)
                ? null
                : kindOf(run, adaptation.plan, ranNanos);
        GrantedPermits grants = new GrantedPermits();
        BreakerGroup.Change broken = breaks ? ((BreakerGroup) group).recordEnd(run, ranNanos, nowNanos, grants) : null;
        boolean decides = group.release(run, ranNanos, grantedNanos, nowNanos, grants, adaptation, kind);
        if (Thread.currentThread().isVirtual()) { // starts the handed-off runs on its carrier
            for (GroupRun<?> waiting; (waiting = carrierHandoff.poll()) != null; ) {
                start(waiting, grants);
            }
        }
        boolean mayReuse = reuseThreads && !decides && run.mayRunNext(); // an algorithm may wait for the next run
        TaskRun<?> next = dispatch(grants, mayReuse ? group : null);
        if (decides && adaptation != null) {
            decide(run, adaptation, nowNanos);
        }
        if (broken != null) {
            apply(broken, true);
        }
        return next;
    }

    /** Does what a change of a breaker makes necessary: rejects the drained runs, arms the alarm, notifies. */
    void apply(BreakerGroup.Change change, boolean isAdaptive) {
        if (!change.refused().isEmpty()) {
            offloadExecutor.execute(() ->
                    change.refused().forEach((run, refusal) -> run.reject(refusal.of(run, ""), false)));
        }
        if (change.after() == CircuitBreaker.State.OPEN) {
            alarms.proceedOrArm(change.group());
        }
        String before = change.before().toString();
        String after = change.after().toString();
        if (!before.equals(after)) {
            changed(new OwnerChange(change.group().key, OwnerChange.Kind.BREAKER, isAdaptive, before, after));
        }
    }

    // Adaptive limits.

    /** Returns whether the process was stopped while a task ran, which then says nothing about its callee. */
    private boolean wasStopped(long start, long now) {
        if (quietTicks != 0) {
            quietTicks = 0;
        }
        watchForStops();
        return cap.clock().wasStopped(start, now);
    }

    private Adaptation.@Nullable Kind kindOf(GroupRun<?> run, AdaptiveLimit limit, long ranNanos) {
        try {
            return run.kindFor(limit, ranNanos);
        } catch (Throwable failure) {
            sink.report("dropWhen for group \"" + run.group.key + "\"", failure);
            return null;
        }
    }

    /** Decides about an adaptive limit. The algorithm is user code, and the caller has a task to settle. */
    private void decide(GroupRun<?> decider, Adaptation adaptation, long now) {
        Group group = decider.group;
        GrantedPermits grants = new GrantedPermits();
        LimitChange change = null;
        try {
            int limit = group.limitUnder(adaptation);
            Adaptation.Decision decision = limit == 0 ? null : adaptation.decide(limit, now);
            change = decision == null ? null : group.adapt(adaptation, decision, grants);
        } catch (Throwable failure) {
            sink.report("adaptive limit of group \"" + group.key + "\"", failure);
        } finally {
            adaptation.endDecision(decider); // before runs are started, perhaps in this thread
        }
        dispatch(grants);
        if (change != null) {
            report(change);
        }
    }

    private void report(LimitChange change) {
        Recorder.limitChanged(change.groupKey(), change.before(), change.after(), change.reason());
        String before = Integer.toString(change.before());
        String after = Integer.toString(change.after());
        changed(new OwnerChange(change.groupKey(), OwnerChange.Kind.LIMIT, true, before, after));
        TaskLifecycleListener listener = policy.taskLifecycleListener();
        if (listener != null) {
            sink.guard(
                    () -> "onLimitChanged of the listener, for group \"" + change.groupKey() + "\"",
                    () -> listener.onLimitChanged(change));
        }
    }

    void changed(OwnerChange change) {
        if (events != null) {
            events.onChanged(change);
        }
    }

    /**
     * Records that a thread awaits a run under the cap. The cap need not be full yet, and the limit of the run's group
     * may still be looked up: if the tasks that fill the cap later all wait, the last one of them to call this method
     * finds the deadlock.
     *
     * @throws IllegalStateException if the wait could never end
     */
    void noteWaitForCap(Thread waiter, GroupRun<?> run) {
        awaitedRuns.put(waiter, run);
        if (cap.isFull() && new CapDeadlockDetector(groups.values(), cap, awaitedRuns).isDeadlocked(waiter)) {
            awaitedRuns.remove(waiter, run);
            throw new IllegalStateException("task \"" + run.taskId() + "\" in group \"" + run.groupKey()
                    + "\" would never begin: " + cap + ", and each of the tasks that hold them waits for another one;"
                    + " raise globalMaxInFlight, or do not wait");
        }
    }

    // Ending.

    /** Drains the queues before it stops the running tasks, so that no released slot is granted to a waiting one. */
    Stopped stop(
            Collection<Group> stopped,
            @Nullable Signal closedUntil,
            Rejection reason,
            Consumer<GroupRun<?>> onRunning) {
        List<GroupRun<?>> running = new ArrayList<>();
        List<GroupRun<?>> waited = new ArrayList<>();
        stopped.forEach(group -> group.evict(running, waited, closedUntil));
        running.forEach(onRunning);
        dispatch(new GrantedPermits()); // the cap may have kept slots for these groups
        waited.forEach(run -> run.reject(reason, false));
        return new Stopped(running.size(), waited.size());
    }

    /** The numbers of running and waiting tasks that a shutdown or an eviction has stopped. */
    record Stopped(int running, int waiting) {}

    /** Removes a group that was retired from everything that refers to it. May be called repeatedly. */
    void remove(Group group) {
        group.beforeRemoval();
        groups.remove(group.key, group);
        alarms.disarm(group);
        if (leases != null) {
            leases.end(group);
        }
        terminateIfEmpty();
    }

    /**
     * isEmpty() adds up counters one by one, so while other threads change the map it may overlook an entry. The
     * iterator of a map that has become empty visits its whole table.
     */
    private boolean hasNoGroups() {
        return groups.isEmpty() && !groups.values().iterator().hasNext();
    }

    void terminateIfEmpty() {
        if (isShutdown() && !terminated.isSet() && hasNoGroups() && terminated.set()) {
            try {
                alarms.disarmCap();
                cap.clock().close();
                idleGroups.close();
                if (permits != null) {
                    permits.close();
                }
            } finally {
                TimerUse.release(time);
            }
        }
    }

    /** Lets accepted tasks end until a timeout has passed, then stops the rest; returns whether that was unneeded. */
    boolean shutdown(Duration timeout) {
        long began = time.nanoTime();
        Deadline deadline = Deadline.after(time, timeout);
        state.compareAndSet(State.RUNNING, State.CLOSING);
        for (Group group : groups.values()) {
            group.retireIfEmpty();
        }
        terminateIfEmpty();
        boolean inTime = awaitOrInterrupted(terminated, deadline);
        if (!inTime) {
            shutdownAfter(Duration.ofNanos(time.nanoTime() - began));
        } else if (state.get() == State.CLOSING) {
            report(new GroupShutdownReport(0, 0, Duration.ofNanos(time.nanoTime() - began)));
        }
        if (permits != null && terminated.isSet()) {
            permits.awaitClosed();
        }
        return inTime;
    }

    /** Stops all tasks, after a wait. */
    void shutdownAfter(Duration waited) {
        boolean first = state.getAndSet(State.SHUTDOWN) != State.SHUTDOWN;
        Rejection reason = rejection(Rejection.Reason.SHUTDOWN, "the executor was shut down");
        List<GroupRun<?>> dropped = new ArrayList<>();
        Stopped stopped = stop(groups.values(), null, reason, run -> {
            if (run.stop(reason, first)) {
                dropped.add(run);
            }
        });
        if (!dropped.isEmpty() && waited.compareTo(SHORTEST_WAIT) >= 0) {
            reportDropped(dropped, waited);
        }
        if (first) {
            report(new GroupShutdownReport(stopped.running(), stopped.waiting(), waited));
        }
        terminateIfEmpty();
    }

    /** Reports tasks that a scheduler has accepted and not run, perhaps because it has dropped them. */
    private void reportDropped(List<GroupRun<?>> dropped, Duration waited) {
        GroupRun<?> first = dropped.getFirst();
        String others = dropped.size() == 1 ? "" : ", and " + (dropped.size() - 1) + " more granted tasks never began";
        IllegalStateException failure =
                new IllegalStateException(first + " was accepted by " + UserCode.textOf(schedulerOf(first))
                        + ", which had not run it after " + TimeLimit.text(waited) + others);
        sink.report("shutdown of a group executor", failure);
    }

    private Object schedulerOf(GroupRun<?> run) {
        try {
            return onlyScheduler == null ? run.group.scheduler() : onlyScheduler;
        } catch (Throwable failure) { // of the policy's function
            return "the scheduler of " + run.group;
        }
    }

    /**
     * Publishes the first report of a shutdown and notifies the listener. Later calls only end tasks that the first one
     * has counted. Logs a warning if the executor waited for its tasks and some of them did not end in time; a shutdown
     * that did not wait ended its tasks intentionally. Otherwise no logger is loaded, which takes longer than a task.
     */
    private void report(GroupShutdownReport report) {
        if (!shutdownReport.compareAndSet(null, report)) {
            return;
        }
        TaskLifecycleListener listener = policy.taskLifecycleListener();
        if (listener != null) {
            sink.guard(() -> "onShutdown of the listener", () -> listener.onShutdown(report));
        }
        if (!report.isDrained() && !report.waited().isZero()) {
            sink.guard(
                    () -> "log of the shutdown of a group executor",
                    () -> System.getLogger("dev.raddle")
                            .log(System.Logger.Level.WARNING, "group executor was shut down: " + report));
        }
    }

    static boolean awaitOrInterrupted(Signal signal, Deadline deadline) {
        try {
            return signal.await(deadline);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
