package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import dev.raddle.time.Deadline;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.Executors;
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
     * closed before the set is read, so no task is missed. A thread that cancels all tasks without closing the gate
     * reads the set first, and then the gate.
     */

    private static final AtomicLongFieldUpdater<ScopeTasks> LAST_ID =
            AtomicLongFieldUpdater.newUpdater(ScopeTasks.class, "lastId");

    final EnclosingScope enclosure; // the scope itself, in contexts
    final ScopeSettings settings;
    final ScopeEvents events;
    final ScopeGate gate;
    volatile boolean closed; // written by the owner when every task has ended

    @SuppressWarnings("UnusedVariable") // by LAST_ID
    private volatile long lastId;

    private volatile @Nullable Set<ScopeRun<?>> scheduled; // null until used; created under this
    private volatile @Nullable RunSettings recent; // most tasks have the same settings and context as the one before

    ScopeTasks(EnclosingScope enclosure, ScopeSettings settings) {
        this.enclosure = enclosure;
        this.settings = settings;
        this.events = new ScopeEvents(settings);
        this.gate = new ScopeGate(settings.name);
    }

    // Submitting.

    void requireOpen(String what) {
        if (closed) {
            throw closedException(what);
        }
    }

    IllegalStateException closedException(String what) {
        return new IllegalStateException(
                "scope \"" + settings.name + "\" is closed, " + what + " came too late; submit inside its try block");
    }

    /**
     * Submits a task.
     *
     * @param name the name, or null to name it by its number
     * @param retry the retry policy, or null for one attempt
     * @param timeout the task's own timeout, or null
     */
    <T> ScopeRun<T> submit(
            @Nullable String name,
            Callable<? extends T> callable,
            int rank,
            @Nullable RetryPolicy retry,
            @Nullable Duration timeout) {
        long id = nextId();
        RunSettings own = timeout == null
                ? settings(rank, retry)
                : timedSettings(name == null ? "task-" + id : name, rank, retry, timeout);
        ScopeRun<T> run = new ScopeRun<>(this, id, name, callable, own, settings.time.nanoTime());
        submit(run);
        return run;
    }

    /** Submits a task with the settings of this scope. */
    <T> ScopeRun<T> submit(@Nullable String name, Callable<? extends T> callable) {
        return submit(name, callable, settings.options.defaultRank, settings.options.defaultRetry, null);
    }

    long nextId() {
        return LAST_ID.incrementAndGet(this);
    }

    /** Returns the settings of a task that has those of this scope. */
    RunSettings defaultSettings() {
        return settings(settings.options.defaultRank, settings.options.defaultRetry);
    }

    private RunSettings settings(int rank, @Nullable RetryPolicy retry) {
        RunSettings captured = capturedSettings(rank, retry);
        return retry == null ? captured : limited(captured);
    }

    /** Returns the given settings with the time that this scope has left, which bounds the attempts. */
    RunSettings limited(RunSettings given) {
        TimeLimit limit = given.retry() == null ? null : TimeLimit.of(settings.time, null, enclosure);
        return limit == null ? given : given.within(limit);
    }

    private RunSettings timedSettings(String task, int rank, @Nullable RetryPolicy retry, Duration timeout) {
        TimeLimit limit = Objects.requireNonNull(TimeLimit.of(settings.time, timeout, enclosure));
        return limit.enclosure() != null
                ? capturedSettings(rank, retry).within(limit)
                : capture(rank, retry, limit, new TimedTask(enclosure, task, limit.deadline()));
    }

    /** Captures the calling thread's context for a task without a time limit. */
    private RunSettings capturedSettings(int rank, @Nullable RetryPolicy retry) {
        if (!settings.options.propagation.isPlain()) {
            return capture(rank, retry, null, enclosure);
        }
        RunSettings last = recent;
        if (last == null
                || last.submittedIn() != TaskContext.current()
                || last.loader() != Thread.currentThread().getContextClassLoader()
                || last.rank() != rank
                || last.retry() != retry) {
            last = capture(rank, retry, null, enclosure);
            recent = last;
        }
        return last;
    }

    private RunSettings capture(
            int rank, @Nullable RetryPolicy retry, @Nullable TimeLimit limit, EnclosingScope inside) {
        TaskContext current = TaskContext.current();
        return new RunSettings(
                rank,
                retry,
                limit,
                current,
                settings.options.propagation.capture(current.ofTask(inside)),
                Thread.currentThread().getContextClassLoader());
    }

    /** Counts a run, notifies the listener of its submission and admits it. */
    void submit(ScopeRun<?> run) {
        boolean countsAtOnce = run.isTimed() || settings.options.listener != null; // it may end before it is admitted
        if (countsAtOnce) {
            gate.countSubmission();
            events.notifySubmitted(run);
            run.arm();
        }
        admit(run, !countsAtOnce);
    }

    /** Admits a run to the gate, and places it if the gate holds it. */
    void admit(ScopeRun<?> run, boolean counts) {
        switch (gate.admit(run, counts)) {
            case HELD -> start(run);
            case WAITING -> run.leaveIfEnded();
            case CANCELLED -> {
                CancelledException cause = gate.closeCause();
                run.cancel(cause == null ? new CancelledException("scope was closed") : cause, Runnable::run);
                run.leftScope();
            }
        }
    }

    private void start(ScopeRun<?> run) {
        if (settings.options.onVirtualThreads) {
            GrantedPermits grants = new GrantedPermits();
            run.place(settings.options.scheduler, grants);
            dispatch(grants);
        } else {
            Dispatch.start(run);
        }
    }

    /** Places the granted runs, and those that are granted meanwhile. */
    void dispatch(GrantedPermits grants) {
        for (Permit granted; (granted = grants.poll()) != null; ) {
            ScopeRun<?> run = (ScopeRun<?>) granted;
            if (settings.options.onVirtualThreads) {
                run.place(settings.options.scheduler, grants);
            } else {
                Dispatch.start(run);
            }
        }
    }

    // Scheduling.

    /** Submits a task after a delay. */
    <T> ScheduledRun<T> schedule(Duration delay, Callable<? extends T> callable) {
        Deadline moment = Deadline.after(settings.time, delay);
        ScheduledRun<T> run = new ScheduledRun<>(this, nextId(), callable, moment);
        gate.countSubmission();
        events.notifySubmitted(run);
        schedule(run, run::schedule);
        return run;
    }

    /** Begins a periodic job. */
    PeriodicRun schedulePeriodic(Duration delay, Duration period, Runnable job, boolean fixedRate) {
        PeriodicRun run = new PeriodicRun(this, nextId(), job, Deadline.after(settings.time, delay), period, fixedRate);
        schedule(run, run::schedule);
        return run;
    }

    private void schedule(ScopeRun<?> run, Runnable arm) {
        scheduled().add(run);
        CancelledException cause = gate.closeCause();
        if (cause == null) {
            arm.run();
        } else {
            run.cancel(cause, Runnable::run);
        }
    }

    void unschedule(ScopeRun<?> run) {
        scheduled().remove(run);
    }

    private Set<ScopeRun<?>> scheduled() {
        Set<ScopeRun<?>> all = scheduled;
        if (all != null) {
            return all;
        }
        synchronized (this) {
            if (scheduled == null) {
                scheduled = ConcurrentHashMap.newKeySet();
            }
            return scheduled;
        }
    }

    /** Submits the task of one round of a job. */
    ScopeRun<?> submitRound(PeriodicRun periodic, Runnable job, long due) {
        ScopeRun<Object> round = new ScopeRun<>(
                this, nextId(), periodic.name(), Executors.callable(job), limited(periodic.settings()), due);
        submit(round);
        return round;
    }

    // Cancelling.

    /** Cancels all tasks. The gate is closed. The notifier calls user code. */
    void cancelAll(CancelledException cause, Executor notifier) {
        // Waiting runs are last in the list. They are cancelled first, so that they are not granted released permits.
        gate.takeAll().reversed().forEach(run -> run.cancel(cause, notifier));
        Set<ScopeRun<?>> later = scheduled;
        if (later != null) {
            later.forEach(run -> run.cancel(cause, notifier));
        }
    }

    /** Cancels all other tasks because one has failed. */
    void cancelOthers(ScopeRun<?> failed, CancelledException cause) {
        Set<ScopeRun<?>> known = scheduled;
        List<ScopeRun<?>> all = known == null ? new ArrayList<>() : new ArrayList<>(known); // read before the gate
        all.addAll(gate.takeAll().reversed());
        for (ScopeRun<?> run : all) {
            if (run != failed) {
                run.cancel(cause, Runnable::run);
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
                .filter(run -> !run.isDone() && !(run instanceof PeriodicRun))
                .sorted(Comparator.comparingLong(ScopeRun::id))
                .map(ScopeRun::name)
                .toList();
    }
}
