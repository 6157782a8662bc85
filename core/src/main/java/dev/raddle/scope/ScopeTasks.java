package dev.raddle.scope;

import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.GuardedListener;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.kernel.TimerUse;
import dev.raddle.lock.Fields;
import dev.raddle.task.CancellationToken.Registration;
import dev.raddle.task.CancelledException;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.Scheduler;
import dev.raddle.task.TaskContext;
import dev.raddle.task.TaskListener;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
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
import org.jspecify.annotations.Nullable;

/** The tasks of one scope: submits, admits and starts them, and cancels those that have not ended. */
final class ScopeTasks {

    /*
     * Overview.
     *
     * The path of a task is: submit ─► list (PendingRuns) ─► admit (ScopeGate, if there is a limit) ─► place
     * (Scheduler) ─► run, settle (ScopeRun). A task that is submitted when the scope is closed is cancelled by its
     * submitter. It may end at any point of the path: it is never placed then, and leaves the gate that it has entered.
     *
     * A task scheduled for later is listed at once, and admitted when its time comes. A periodic job is never listed;
     * it is in the set `jobs`, and submits a task for each round. A job is added to the set before its submitter reads
     * whether the scope is closed, and the scope is closed before the set is read, so no job is missed.
     */

    private static final AtomicLong IDS = new AtomicLong();
    private static final VarHandle LAST_ID = Fields.handle(MethodHandles.lookup(), "lastId", long.class);

    final long id = IDS.incrementAndGet(); // of the scope
    final String name; // of the scope
    final ScopeNode enclosure; // the scope itself, in contexts
    final PendingRuns pending;
    volatile boolean ended; // whether close() has waited for every task; written by the owner

    @Nullable
    ScopeGate gate; // null without a limit; written before the first task is submitted

    ScopeSettings options; // written by the owner before the first task is submitted, like those below
    TimeSource time;

    ExceptionSink sink;
    boolean onVirtualThreads; // of the JDK's own scheduler, one for each task

    @Nullable
    GuardedListener events; // null without hook and listener

    @Nullable
    HookListener hook; // the part of `events` that notifies the hook; null without one

    private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader(); // that of the owner
    volatile boolean begun; // whether a task was submitted, so that the options are final; written under this

    @SuppressWarnings("UnusedVariable") // by LAST_ID
    private volatile long lastId;

    volatile @Nullable Set<PeriodicRun> jobs; // null until used; created under this

    /** What running tasks have registered at tokens, by their threads; null until used; created under this. */
    volatile @Nullable Map<Thread, Set<Registration>> registrations;

    private volatile @Nullable RunSettings recent; // most tasks have the same settings and context as the one before

    /**
     * Creates an open scope's tasks, of which there are none yet.
     *
     * @param name the name of the scope, or null to name it by its number
     * @param outer the deadline of the enclosing scope, or null
     */
    ScopeTasks(ScopeNode enclosure, @Nullable String name, ScopeSettings options, @Nullable Deadline outer) {
        this.enclosure = enclosure;
        this.name = name == null ? "scope-" + id : name;
        this.pending = new PendingRuns(this.name, enclosure.owner);
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
    void configure(ScopeSettings changed, @Nullable Deadline set) {
        TimeSource asked = changed.time;
        if (asked != null) {
            if (set != null && set.time() != asked) {
                throw new IllegalStateException("scope \"" + name + "\" has a deadline on " + set.time()
                        + "; call withTimeSource before withDeadline, and inside a scope with a deadline not at all");
            }
            time = asked;
        }
        TimerUse.begin(time);
        options = changed;
        sink = changed.propagation.sink();
        onVirtualThreads = changed.scheduler == Scheduler.virtualThreads();
        TaskListener listener = changed.listener;
        hook = changed.hook == null ? null : new HookListener(changed.hook, id, name, changed);
        TaskListener both = hook == null ? listener : listener == null ? hook : hook.and(listener);
        events = GuardedListener.of(both, sink, "scope");
    }

    /** Records that a task is submitted. Returns true to exactly one caller. */
    synchronized boolean begin() {
        boolean first = !begun;
        int limit = options.concurrencyLimit;
        if (first && limit != Integer.MAX_VALUE) {
            gate = new ScopeGate(name, limit);
        }
        begun = true;
        return first;
    }

    /** Calls user code, and reports what it throws to the sink. */
    void guard(String source, Runnable userCode) {
        sink.guard(() -> source + " in scope \"" + name + "\"", userCode);
    }

    /** Returns an executor for user code that an alarm makes necessary. */
    OffloadExecutor offload() {
        return new OffloadExecutor(sink, time, loader, true);
    }

    // Submitting.

    void requireOpen(String what) {
        if (ended) {
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
        return (long) LAST_ID.getAndAdd(this, 1L) + 1;
    }

    /** Submits a task with the settings of this scope. */
    <T> ScopeRun<T> submit(@Nullable String task, Callable<? extends T> callable) {
        return submit(task, callable, options.priority.rank(), options.retry, null);
    }

    /** Returns the settings of a task that has those of this scope. */
    RunSettings defaultSettings() {
        return settings(options.priority.rank(), options.retry);
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

    /** Submits a run. If its alarm cannot be armed, throws before that has an effect. */
    void submit(ScopeRun<?> run) {
        run.armLimit();
        if (add(run)) {
            admit(run);
        }
    }

    /**
     * Counts and lists a run, and notifies the listener of its submission. Returns false if the scope is closed; the
     * run is cancelled then.
     */
    boolean add(ScopeRun<?> run) {
        pending.count();
        if (events != null) {
            events.onSubmitted(run);
        }
        boolean isOpen = pending.list(run); // after the listener was notified: another thread may end it now
        if (!isOpen) {
            run.cancel(Objects.requireNonNull(pending.closeCause()), Runnable::run);
        }
        run.listed();
        return isOpen;
    }

    /** Lets a run enter the gate, if there is one, and starts it unless it waits there or was ended. */
    void admit(ScopeRun<?> run) {
        if (gate == null || gate.admit(run)) {
            run.start(null);
        }
    }

    /** Starts the granted runs, and those that are granted meanwhile. */
    void dispatch(GrantedPermits grants) {
        for (Permit granted; (granted = grants.poll()) != null; ) {
            ((ScopeRun<?>) granted).start(grants);
        }
    }

    // Scheduling.

    /** Returns the moment after a delay, which is the present one if the delay is negative. */
    Deadline momentAfter(Duration delay) {
        return Deadline.after(time, delay.isNegative() ? Duration.ZERO : delay);
    }

    /** Submits a task that is admitted after a delay. Until then it is only counted and listed. */
    <T> ScopeRun<T> schedule(Duration delay, Callable<? extends T> callable) {
        Deadline moment = momentAfter(delay);
        ScopeRun<T> run = new ScopeRun<>(this, nextId(), null, callable, defaultSettings(), moment.nanoTime());
        run.arm(moment, () -> {
            if (!run.isDecided()) {
                admit(run);
            }
        });
        add(run);
        return run;
    }

    /**
     * Adds a periodic job, or cancels it if the scope is closed.
     *
     * @param arm the action that arms the alarm of its first round
     */
    void schedule(PeriodicRun job, Runnable arm) {
        jobs().add(job);
        CancelledException cause = pending.closeCause();
        if (cause != null) {
            job.cancel(cause, Runnable::run);
            return;
        }
        try {
            arm.run();
        } catch (Throwable failure) {
            job.cancel(failure, Runnable::run);
            throw failure;
        }
    }

    void unschedule(PeriodicRun job) {
        jobs().remove(job);
    }

    private synchronized Set<PeriodicRun> jobs() {
        Set<PeriodicRun> all = jobs == null ? ConcurrentHashMap.newKeySet() : jobs;
        jobs = all;
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
        return registrations().remove(runner);
    }

    /** Ends the registrations of the task that a thread has run, and restores those of the task around it. */
    void endRegistrations(Thread runner, @Nullable Set<Registration> outer) {
        Set<Registration> own = registrations().remove(runner);
        if (own != null) {
            own.forEach(Registration::close);
        }
        if (outer != null) {
            registrations().put(runner, outer);
        }
    }

    // Cancelling.

    /**
     * Cancels all runs, the last one first, and the jobs. The waiting runs leave the gate before, so that they are not
     * granted the permits of those that are cancelled.
     *
     * @param failed the failed task because of which the others are cancelled; null if the scope is closed
     * @param notifier the executor that calls user code
     */
    void cancelAllExcept(@Nullable ScopeRun<?> failed, CancelledException cause, Executor notifier) {
        if (gate != null) {
            gate.removeWaiting();
        }
        List<ScopeRun<?>> all = pending.unfinished();
        Set<PeriodicRun> periodic = jobs;
        if (periodic != null) {
            all.addAll(periodic);
        }
        for (ScopeRun<?> run : all) {
            if (run != failed) {
                run.cancel(cause, notifier);
            }
        }
    }

    // Inspecting.

    /** Returns the unfinished tasks in order of submission, and then the jobs. */
    List<ScopeRun<?>> unfinished() {
        List<ScopeRun<?>> all = new ArrayList<>(pending.unfinished().reversed());
        Set<PeriodicRun> periodic = jobs;
        if (periodic != null) {
            all.addAll(periodic);
        }
        return all;
    }

    /**
     * Returns the names of the unfinished tasks in order of submission. A periodic job is listed as its current round.
     */
    List<String> pendingNames() {
        return unfinished().stream()
                .filter(run -> !run.isDone() && run.isTask())
                .sorted(Comparator.comparingLong(ScopeRun::id))
                .map(ScopeRun::name)
                .toList();
    }
}
