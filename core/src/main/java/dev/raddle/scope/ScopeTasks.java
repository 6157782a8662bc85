package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.StackRoom;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.kernel.TimerUse;
import dev.raddle.task.CancellationToken.Registration;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskListener;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicLongFieldUpdater;
import org.jspecify.annotations.Nullable;

/** The tasks of one scope: submits, admits and starts them, and cancels those that have not ended. */
final class ScopeTasks {

    /*
     * Overview.
     *
     * The path of a task is: submit ─► admit (ScopeGate) ─► place (Scheduler) ─► run, settle (ScopeRun). The gate holds
     * every task that has not ended. So it is the list of the tasks to cancel and to wait for; a task enters and leaves
     * it in O(1). A task that is submitted when the gate is closed is cancelled by its submitter.
     *
     * A task scheduled for later is in the set `scheduled`. When its time comes it enters the gate, and leaves the set
     * after that. A task is added to the set before its submitter reads whether the gate is closed, and the gate is
     * closed before the set is read, so no task is missed. A thread that cancels all tasks reads the set first, and
     * then the gate, because it may not have closed the gate.
     */

    private static final AtomicLong IDS = new AtomicLong();
    private static final AtomicLongFieldUpdater<ScopeTasks> LAST_ID =
            AtomicLongFieldUpdater.newUpdater(ScopeTasks.class, "lastId");

    final long id = IDS.incrementAndGet(); // of the scope
    final String name; // of the scope
    final ScopeNode enclosure; // the scope itself, in contexts
    final ScopeGate gate;
    ScopeOptions options; // written by the owner before the first task is submitted, like those below
    TimeSource time;

    @Nullable
    ScopeEvents events; // null without hook and listener

    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader(); // that of the owner
    volatile boolean begun; // whether a task was submitted, so that the options are final; written under this

    @SuppressWarnings("UnusedVariable") // by LAST_ID
    private volatile long lastId;

    volatile @Nullable Set<ScopeRun<?>> scheduled; // null until used; created under this

    /** What running tasks have registered at tokens, by their threads; null until used; created under this. */
    private volatile @Nullable Map<Thread, Set<Registration>> registrations;

    private volatile @Nullable RunSettings recent; // most tasks have the same settings and context as the one before

    /**
     * Creates an open scope's tasks, of which there are none yet.
     *
     * @param name the name of the scope, or null to name it by its number
     * @param outer the deadline of the enclosing scope, or null
     */
    ScopeTasks(ScopeNode enclosure, @Nullable String name, ScopeOptions options, @Nullable Deadline outer) {
        this.enclosure = enclosure;
        this.name = name == null ? "scope-" + id : name;
        this.gate = new ScopeGate(this.name);
        this.time = outer == null ? TimeSource.system() : outer.time();
        this.options = options;
        configure(options, outer);
    }

    // Configuring.

    /**
     * Replaces the options before the first task is submitted.
     *
     * @param set the deadline of the scope, or null
     */
    void configure(ScopeOptions changed, @Nullable Deadline set) {
        TimeSource asked = changed.all.time;
        if (asked != null) {
            if (set != null && set.time() != asked) {
                throw new IllegalStateException("scope \"" + name + "\" has a deadline on " + set.time()
                        + "; call withTimeSource before withDeadline, and inside a scope with a deadline not at all");
            }
            time = asked;
        }
        TimerUse.begin(time);
        options = changed;
        TaskListener listener = changed.all.listener;
        HookListener hook = changed.all.hook == null ? null : new HookListener(changed.all.hook, id, name, changed);
        TaskListener both = hook == null ? listener : listener == null ? hook : hook.and(listener);
        events = both == null ? null : new ScopeEvents(name, changed.all.sink, both, hook);
    }

    /** Records that a task is submitted. Returns true to exactly one caller. */
    synchronized boolean begin() {
        boolean first = !begun;
        begun = true;
        return first;
    }

    /** Runs user code and reports what it throws to the sink. */
    void runGuarded(String source, Runnable userCode) {
        ScopeEvents.runGuarded(name, options.all.sink, source, userCode);
    }

    /** Returns an executor for user code that an alarm makes necessary. */
    OffloadExecutor offload() {
        return new OffloadExecutor(options.all.sink, time, loader, true);
    }

    // Submitting.

    void requireOpen(String what) {
        if (gate.ended) {
            throw closedException(what);
        }
    }

    IllegalStateException closedException(String what) {
        return new IllegalStateException(
                "scope \"" + name + "\" is closed, " + what + " came too late; submit inside its try block");
    }

    /**
     * Submits a task.
     *
     * @param task the name, or null to name it by its number
     * @param retry the retry policy, or null for one attempt
     * @param timeout the task's own timeout, or null
     */
    <T> ScopeRun<T> submit(
            @Nullable String task,
            Callable<? extends T> callable,
            int rank,
            @Nullable RetryPolicy retry,
            @Nullable Duration timeout) {
        long number = nextId();
        RunSettings own = timeout == null
                ? settings(rank, retry)
                : timedSettings(ScopeRun.nameOf(task, number), rank, retry, timeout);
        ScopeRun<T> run = new ScopeRun<>(this, number, task, callable, own, time.nanoTime());
        submit(run);
        return run;
    }

    long nextId() {
        return LAST_ID.incrementAndGet(this);
    }

    /** Submits a task with the settings of this scope. */
    <T> ScopeRun<T> submit(@Nullable String task, Callable<? extends T> callable) {
        return submit(task, callable, options.defaultRank, options.defaultRetry, null);
    }

    /** Returns the settings of a task that has those of this scope. */
    RunSettings defaultSettings() {
        return settings(options.defaultRank, options.defaultRetry);
    }

    private RunSettings settings(int rank, @Nullable RetryPolicy retry) {
        RunSettings last = recent;
        if (last == null
                || last.submittedIn != TaskContext.current()
                || last.loader != Thread.currentThread().getContextClassLoader()
                || last.rank != rank
                || last.retry != retry) {
            last = capture(rank, retry, null, enclosure);
            if (options.propagation.isPlain()) {
                recent = last; // there is nothing else to capture
            }
        }
        return retry == null ? last : limited(last);
    }

    /** Returns the given settings with the time that this scope has left, which bounds the attempts. */
    RunSettings limited(RunSettings given) {
        TimeLimit limit = given.retry == null ? null : TimeLimit.of(time, null, enclosure);
        return limit == null ? given : given.within(limit);
    }

    private RunSettings timedSettings(String task, int rank, @Nullable RetryPolicy retry, Duration timeout) {
        TimeLimit limit = Objects.requireNonNull(TimeLimit.of(time, timeout, enclosure));
        return limit.enclosure() != null
                ? settings(rank, retry).within(limit)
                : capture(rank, retry, limit, new TimedEnclosure(enclosure, task, limit.deadline()));
    }

    private RunSettings capture(
            int rank, @Nullable RetryPolicy retry, @Nullable TimeLimit limit, EnclosingScope inside) {
        TaskContext current = TaskContext.current();
        return new RunSettings(
                rank,
                retry,
                limit,
                current,
                options.propagation.capture(current.ofTask(inside)),
                Thread.currentThread().getContextClassLoader());
    }

    /** Counts a run, notifies the listener of its submission and admits it. */
    void submit(ScopeRun<?> run) {
        StackRoom.ensure(); // a counted run must be admitted or ended
        boolean counted = events != null || run.isTimed(); // it may end before it is admitted
        if (counted) {
            countSubmission(run);
            arm(run);
        }
        admit(run, counted);
    }

    /** Arms the alarm of a counted run, or ends the run if that is impossible. */
    private static void arm(ScopeRun<?> run) {
        try {
            run.arm();
        } catch (Throwable noTime) {
            run.cancel(new CancelledException("the timeout of the task could not be armed", noTime), Runnable::run);
            run.leftScope();
            throw noTime;
        }
    }

    /** Counts a run that is admitted later, and notifies the listener of its submission. */
    void countSubmission(ScopeRun<?> run) {
        gate.countSubmission();
        if (events != null) {
            events.notifySubmitted(run);
        }
    }

    /** Admits a run to the gate, and places it if the gate holds it. */
    void admit(ScopeRun<?> run, boolean counted) {
        switch (gate.admit(run, counted)) {
            case HELD -> {
                if (options.onVirtualThreads) {
                    run.place(null);
                } else {
                    Dispatch.start(run);
                }
            }
            case WAITING -> run.leaveIfEnded();
            case CANCELLED -> {
                CancelledException cause = gate.closeCause();
                run.cancel(cause == null ? new CancelledException("scope was closed") : cause, Runnable::run);
                run.leftScope();
            }
        }
    }

    /** Places the granted runs, and those that are granted meanwhile. */
    void dispatch(GrantedPermits grants) {
        for (Permit granted; (granted = grants.poll()) != null; ) {
            ScopeRun<?> run = (ScopeRun<?>) granted;
            if (options.onVirtualThreads) {
                run.place(grants);
            } else {
                Dispatch.start(run);
            }
        }
    }

    // Scheduling.

    /**
     * Adds a task that is admitted later, or cancels it if the gate is closed.
     *
     * @param arm the action that arms the alarm of its admission
     */
    void schedule(ScopeRun<?> run, Runnable arm) {
        scheduled().add(run);
        CancelledException cause = gate.closeCause();
        if (cause != null) {
            run.cancel(cause, Runnable::run);
            return;
        }
        try {
            arm.run();
        } catch (Throwable failure) {
            run.cancel(failure, Runnable::run);
            throw failure;
        }
    }

    void unschedule(ScopeRun<?> run) {
        scheduled().remove(run);
    }

    private synchronized Set<ScopeRun<?>> scheduled() {
        Set<ScopeRun<?>> all = scheduled == null ? ConcurrentHashMap.newKeySet() : scheduled;
        scheduled = all;
        return all;
    }

    // Registrations of tasks.

    /** Returns a registration that ends with the task that the calling thread runs, unless it is closed before. */
    Registration endingWithTask(Registration made) {
        Map<Thread, Set<Registration>> all = registrations();
        Thread runner = Thread.currentThread();
        Set<Registration> own = all.compute(runner, (key, known) -> {
            Set<Registration> with = known == null ? ConcurrentHashMap.newKeySet() : known;
            with.add(made);
            return with;
        });
        return () -> {
            made.close();
            own.remove(made);
            all.computeIfPresent(runner, (key, known) -> known.isEmpty() ? null : known);
        };
    }

    private Map<Thread, Set<Registration>> registrations() {
        Map<Thread, Set<Registration>> all = registrations;
        if (all == null) {
            synchronized (this) {
                all = registrations == null ? new ConcurrentHashMap<>() : registrations;
                registrations = all;
            }
        }
        return all;
    }

    /** Removes the registrations of a thread that begins a task inside another one, and returns them. */
    @Nullable
    Set<Registration> suspendRegistrations(Thread runner) {
        Map<Thread, Set<Registration>> all = registrations;
        return all == null ? null : all.remove(runner);
    }

    /** Ends the registrations of the task that a thread has run, and restores those of the task around it. */
    void endRegistrations(Thread runner, @Nullable Set<Registration> outer) {
        Map<Thread, Set<Registration>> all = registrations;
        Set<Registration> own = all == null ? null : all.remove(runner);
        if (own != null) {
            own.forEach(Registration::close);
        }
        if (outer != null) {
            Objects.requireNonNull(all).put(runner, outer);
        }
    }

    // Cancelling.

    /**
     * Takes all runs and cancels them, the last one first. So waiting runs are cancelled before placed ones, whose
     * permits they would be granted.
     *
     * @param failed the failed task because of which the others are cancelled; null if the gate is closed
     * @param notifier the executor that calls user code
     */
    void cancelAllExcept(@Nullable ScopeRun<?> failed, CancelledException cause, Executor notifier) {
        List<ScopeRun<?>> all = new ArrayList<>();
        Set<ScopeRun<?>> later = scheduled; // read before the gate
        if (later != null) {
            all.addAll(later);
        }
        gate.takeAll(all);
        for (ScopeRun<?> run : all.reversed()) {
            if (run != failed) {
                run.cancel(cause, notifier);
            }
        }
    }

    // Inspecting.

    /** Returns the unfinished tasks: first placed and running ones, then waiting ones, then scheduled ones. */
    List<ScopeRun<?>> pending() {
        List<ScopeRun<?>> all = new ArrayList<>(gate.all());
        Set<ScopeRun<?>> later = scheduled;
        if (later != null) {
            all.addAll(later);
        }
        return all;
    }

    /**
     * Returns the names of the unfinished tasks in order of submission. A periodic job is listed as its current round.
     */
    List<String> pendingNames() {
        return pending().stream()
                .filter(run -> !run.isDone() && run.isTask())
                .sorted(Comparator.comparingLong(ScopeRun::id))
                .map(ScopeRun::name)
                .toList();
    }
}
