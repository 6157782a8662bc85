package dev.raddle.scope;

import dev.raddle.kernel.Dispatch;
import dev.raddle.kernel.EnclosingScope;
import dev.raddle.kernel.GrantedPermits;
import dev.raddle.kernel.Permit;
import dev.raddle.kernel.StackRoom;
import dev.raddle.kernel.TimeLimit;
import dev.raddle.task.CancelledException;
import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskContext;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
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

    private static final AtomicLongFieldUpdater<ScopeTasks> LAST_ID =
            AtomicLongFieldUpdater.newUpdater(ScopeTasks.class, "lastId");

    final EnclosingScope enclosure; // the scope itself, in contexts
    final ScopeSettings settings;
    final ScopeGate gate;

    @SuppressWarnings("UnusedVariable") // by LAST_ID
    private volatile long lastId;

    private volatile @Nullable Set<ScopeRun<?>> scheduled; // null until used; created under this
    private volatile @Nullable RunSettings recent; // most tasks have the same settings and context as the one before

    ScopeTasks(EnclosingScope enclosure, ScopeSettings settings) {
        this.enclosure = enclosure;
        this.settings = settings;
        this.gate = new ScopeGate(settings.name);
    }

    // Submitting.

    void requireOpen(String what) {
        if (gate.ended) {
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
                : timedSettings(ScopeRun.nameOf(name, id), rank, retry, timeout);
        ScopeRun<T> run = new ScopeRun<>(this, id, name, callable, own, settings.time.nanoTime());
        submit(run);
        return run;
    }

    long nextId() {
        return LAST_ID.incrementAndGet(this);
    }

    /** Submits a task with the settings of this scope. */
    <T> ScopeRun<T> submit(@Nullable String name, Callable<? extends T> callable) {
        return submit(name, callable, settings.options.defaultRank, settings.options.defaultRetry, null);
    }

    /** Returns the settings of a task that has those of this scope. */
    RunSettings defaultSettings() {
        return settings(settings.options.defaultRank, settings.options.defaultRetry);
    }

    private RunSettings settings(int rank, @Nullable RetryPolicy retry) {
        RunSettings last = recent;
        if (last == null
                || last.submittedIn != TaskContext.current()
                || last.loader != Thread.currentThread().getContextClassLoader()
                || last.rank != rank
                || last.retry != retry) {
            last = capture(rank, retry, null, enclosure);
            if (settings.options.propagation.isPlain()) {
                recent = last; // there is nothing else to capture
            }
        }
        return retry == null ? last : limited(last);
    }

    /** Returns the given settings with the time that this scope has left, which bounds the attempts. */
    RunSettings limited(RunSettings given) {
        TimeLimit limit = given.retry == null ? null : TimeLimit.of(settings.time, null, enclosure);
        return limit == null ? given : given.within(limit);
    }

    private RunSettings timedSettings(String task, int rank, @Nullable RetryPolicy retry, Duration timeout) {
        TimeLimit limit = Objects.requireNonNull(TimeLimit.of(settings.time, timeout, enclosure));
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
                settings.options.propagation.capture(current.ofTask(inside)),
                Thread.currentThread().getContextClassLoader());
    }

    /** Counts a run, notifies the listener of its submission and admits it. */
    void submit(ScopeRun<?> run) {
        StackRoom.ensure(); // a counted run must be admitted or ended
        boolean counted = settings.events != null || run.isTimed(); // it may end before it is admitted
        if (counted) {
            countSubmission(run);
            run.arm();
        }
        admit(run, counted);
    }

    /** Counts a run that is admitted later, and notifies the listener of its submission. */
    void countSubmission(ScopeRun<?> run) {
        gate.countSubmission();
        if (settings.events != null) {
            settings.events.notifySubmitted(run);
        }
    }

    /** Admits a run to the gate, and places it if the gate holds it. */
    void admit(ScopeRun<?> run, boolean counted) {
        switch (gate.admit(run, counted)) {
            case HELD -> {
                if (settings.options.onVirtualThreads) {
                    place(run);
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

    /** Places a granted run. If that fails, places the runs that are granted instead. */
    void place(ScopeRun<?> run) {
        Throwable refusal = run.place(settings.options);
        if (refusal != null) {
            GrantedPermits grants = new GrantedPermits();
            run.failBeforeStart(refusal, grants);
            dispatch(grants);
        }
    }

    /** Places the granted runs, and those that are granted meanwhile. */
    void dispatch(GrantedPermits grants) {
        for (Permit granted; (granted = grants.poll()) != null; ) {
            ScopeRun<?> run = (ScopeRun<?>) granted;
            if (!settings.options.onVirtualThreads) {
                Dispatch.start(run);
                continue;
            }
            Throwable refusal = run.place(settings.options);
            if (refusal != null) {
                run.failBeforeStart(refusal, grants);
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
        if (cause == null) {
            arm.run();
        } else {
            run.cancel(cause, Runnable::run);
        }
    }

    void unschedule(ScopeRun<?> run) {
        scheduled().remove(run);
    }

    /** Returns whether a task was scheduled for later. */
    boolean hasScheduled() {
        return scheduled != null;
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

    // Cancelling.

    /** Cancels all tasks. The gate is closed. The notifier calls user code. */
    void cancelAll(CancelledException cause, Executor notifier) {
        cancelExcept(null, cause, notifier);
    }

    /** Cancels all other tasks because one has failed. */
    void cancelOthers(ScopeRun<?> failed, CancelledException cause) {
        cancelExcept(failed, cause, Runnable::run);
    }

    /**
     * Takes all runs and cancels them, the last one first. So waiting runs are cancelled before placed ones, whose
     * permits they would be granted.
     */
    private void cancelExcept(@Nullable ScopeRun<?> failed, CancelledException cause, Executor notifier) {
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
