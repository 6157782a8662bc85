package dev.raddle.pool;

import dev.raddle.kernel.InterruptWindow;
import dev.raddle.kernel.OffloadExecutor;
import dev.raddle.kernel.TimerUse;
import dev.raddle.pool.Worker.Activity;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The workers of a pool: starts and ends them, and ensures that every queued task has a worker. */
final class Workers {

    /*
     * Overview.
     *
     * The control word holds the run state and the number of counted workers. Both change together, atomically:
     *
     *   RUNNING -> SHUTDOWN          shutdown()
     *   RUNNING, SHUTDOWN -> STOP    stop()
     *   SHUTDOWN, STOP -> TIDYING    tryTerminate(): no worker is counted, no stop() is running, and in SHUTDOWN
     *                                the queue is empty
     *   TIDYING -> TERMINATED        the same thread, after terminated()
     *   workers + 1                  addWorker() and retainIfNeeded(), if the same word has a state that allows it
     *   workers - 1                  nextTask() and removeWorker(), once for each + 1
     *
     * The registry holds the workers themselves. A worker is added to it after it is counted and before its thread
     * starts.
     *
     * Why no task is lost. A submitter puts a task into the queue, then reads the control word again. A worker is
     * uncounted first, then checks the queue, and is counted again if the queue is not empty (retainIfNeeded). So if a
     * task is queued, the submitter sees either a counted worker, which has not yet made its check, or no worker, and
     * then adds one. A worker whose task throws passes its place in the count to its replacement; if no thread is
     * available, it continues itself. A submitter that cannot add a worker takes its own task back. Another submitter
     * may have relied on the worker that could not be added; an alarm retries until its task has a worker
     * (scheduleRescue).
     *
     * Why no task runs twice, or runs and is handed back. The thread that removes a task from the queue owns it: a
     * worker runs it, stop() hands it back, and a submitter that finds the pool shut down removes and rejects its own
     * task. The queue returns each task to one thread only. If the submitter's task is no longer queued, another thread
     * owns it: then it was accepted. A task that was given to a new thread was never queued. In a pool of the builder,
     * stop() takes it from a worker whose thread has not started to run; in a pool of the JDK's constructors it runs,
     * interrupted, as in the JDK.
     *
     * Why the pool terminates. In SHUTDOWN a worker waits only while the queue is not empty and nothing can be taken
     * (delayed tasks); each worker that leaves interrupts one that may be waiting. From STOP on no worker takes a task;
     * one that was taken just before runs, interrupted, as in the JDK.
     *
     * A direct handoff queue cannot hold a task, so a submitter that waits offers its task in the queue's WaiterQueue.
     * A worker that has become idle checks for an offered task before it waits in the queue; a submitter that has
     * offered its task interrupts the idle workers, so that they check again. The second of the two sees what the first
     * has written.
     *
     * Idle workers wait in the queue, whatever its type, until a task comes or their keep-alive has passed. They are
     * notified of changed settings and of shutdown by an interrupt that cannot reach a task (see Worker).
     */

    /** A task that was running when the pool was stopped, and its original, which a future clears when it is done. */
    record StoppedTask(Activity activity, Object original) {
        static StoppedTask of(Activity activity) {
            return new StoppedTask(activity, PooledTask.original(activity.requireTask()));
        }
    }

    private static final Duration RESCUE_DELAY = Duration.ofMillis(100);

    // the interval between checks of a worker that exceeds its keep-alive but must stay for delayed tasks
    private static final long MIN_RECHECK_NANOS = 10_000_000;

    private final HookedExecutor pool;
    private final WorkQueue queue;
    final boolean isDirectHandoff; // the queue accepts a task only while a worker waits for it
    private final boolean scaleBeforeQueueing;
    private final boolean followsJdk;
    private final TimeSource time;
    private final OffloadExecutor elsewhere;
    private final boolean keepsTimer;
    private final Observation observation;
    private final @Nullable ObservedTasks observed;
    private final @Nullable StuckTaskWatchdog watchdog;

    final Control control = new Control();
    final WorkerRegistry registry = new WorkerRegistry();
    final Queue<StoppedTask> endedAfterStop = new ConcurrentLinkedQueue<>(); // at most one for each worker
    private final AtomicInteger stopping = new AtomicInteger(); // the number of threads in stop()
    private final AtomicInteger failedStarts = new AtomicInteger(); // incremented before the worker is uncounted
    private final AtomicInteger idleWorkers = new AtomicInteger(); // maintained only with scaleBeforeQueueing
    private final AtomicBoolean rescueScheduled = new AtomicBoolean(); // an alarm for stranded tasks is set
    final Signal terminated = new Signal();

    volatile int coreThreads;
    volatile int maxThreads;
    volatile long keepAliveNanos;
    volatile boolean coreTimeout;
    volatile ThreadFactory threadFactory;

    Workers(HookedExecutor pool, PoolBuilder plan, WorkQueue queue, Observation observation) {
        this.pool = pool;
        this.queue = queue;
        this.isDirectHandoff = queue instanceof QueueAdapter && queue.remainingCapacity() == 0 && queue.isEmpty();
        this.observation = observation;
        this.observed = observation.tasks;
        this.time = plan.timeSource;
        this.elsewhere = new OffloadExecutor(plan.propagation.sink(), time);
        this.scaleBeforeQueueing = plan.scaleBeforeQueueing;
        this.followsJdk = plan.followsJdk;
        this.coreThreads = plan.coreThreads;
        this.maxThreads = plan.maxThreads;
        this.keepAliveNanos = plan.keepAliveNanos();
        this.coreTimeout = plan.coreTimeout;
        this.threadFactory = plan.factory();
        this.watchdog = plan.stuckAfter == null
                ? null
                : new StuckTaskWatchdog(plan.stuckAfter, time, elsewhere, registry, observation);
        this.keepsTimer = plan.keepsTimer;
        if (keepsTimer) {
            TimerUse.retain(time); // until this is terminated
        }
    }

    // ---- submission

    /** Runs a task in a new worker, or queues it. Returns false if the pool is full or has been shut down. */
    boolean accept(Runnable task) {
        int word = control.get();
        if (Control.workers(word) < coreThreads) {
            if (addWorker(task, true)) {
                return true;
            }
            word = control.get();
        }
        if (Control.state(word) == Control.RUNNING) {
            if (scaleBeforeQueueing && Control.workers(word) < maxThreads && areAllBusy() && addWorker(task, false)) {
                return true;
            }
            if (queue.offer(task)) {
                boolean accepted = ensureWorker(task);
                if (scaleBeforeQueueing) {
                    addWorkerIfTooFew(); // again: the idle worker that was to take the task may have taken another one
                }
                return accepted;
            }
        }
        return addWorker(task, false);
    }

    /**
     * As {@link #accept}, but waits if the pool is full. Returns false if the wait expired, the pool has been shut
     * down, or no worker is left that could free capacity.
     */
    boolean awaitAccept(Runnable task, WaiterQueue.Waiter waiter) throws InterruptedException {
        BlockedSubmission submission = new BlockedSubmission(task);
        queue.putters().awaitUntil(waiter, submission::attempt, submission::mayLeaveRoom, this::interruptIdleWorkers);
        return submission.accepted || waiter.isTaken();
    }

    /** A submission that waits until the pool accepts its task. Used by the submitter's thread. */
    private final class BlockedSubmission {
        private final Runnable task;
        private boolean accepted;
        private boolean mustWait;

        BlockedSubmission(Runnable task) {
            this.task = task;
        }

        /**
         * Returns false if the submitter must wait until a worker ends or frees capacity. If the worker for which the
         * pool was full has ended since, the attempt is made again, unless a worker could not be started: then none is
         * left to wait for.
         */
        boolean attempt() {
            mustWait = false;
            while (true) {
                int failures = failedStarts.get();
                accepted = accept(task);
                if (accepted || control.state() != Control.RUNNING) {
                    return true;
                }
                if (control.workers() != 0) {
                    mustWait = true;
                    return false;
                }
                if (failedStarts.get() != failures) {
                    return true;
                }
            }
        }

        /** Returns whether another submitter may succeed, or has no worker to wait for. */
        boolean mayLeaveRoom() {
            return queue.remainingCapacity() > 0 || (!mustWait && control.workers() < maxThreads);
        }
    }

    /**
     * Returns a waiter for the calling thread. With a direct handoff queue, an idle worker may take the task from it.
     */
    WaiterQueue.Waiter waiterFor(Runnable task, @Nullable Deadline deadline) {
        return new WaiterQueue.Waiter(isDirectHandoff ? task : null, deadline);
    }

    private boolean areAllBusy() {
        int idle = idleWorkers.get();
        return idle == 0 || (!queue.isEmpty() && idle <= queue.size());
    }

    /**
     * With scaleBeforeQueueing, adds a worker if more tasks are queued than workers are idle. Called by a submitter
     * that has queued its task because a worker was idle, and by a worker that has been idle and now has a task: each
     * after its own change, so the later of the two sees both.
     */
    private void addWorkerIfTooFew() {
        if (control.workers() < maxThreads && queue.size() > idleWorkers.get()) {
            try {
                addWorker(null, false);
            } catch (Throwable noThread) {
                UserCode.uncaught(noThread); // the queued tasks run later
            }
        }
    }

    /** Ensures that a worker exists for a queued task. Returns false if the task was taken back instead. */
    private boolean ensureWorker(Runnable task) {
        int word = control.get(); // read again: it may have changed before the task was queued
        if (Control.state(word) != Control.RUNNING && queue.takeBack(task)) {
            tryTerminateQuietly();
            return false;
        }
        if (Control.workers(word) != 0) {
            return true;
        }
        try {
            return addWorker(null, false) || control.workers() != 0 || !queue.takeBack(task);
        } catch (Throwable failure) {
            if (control.workers() == 0 && queue.takeBack(task)) {
                throw failure;
            }
            UserCode.uncaught(failure); // another worker has the task
            return true;
        }
    }

    // ---- adding workers

    /**
     * Adds a worker if the state and the bound allow it.
     *
     * @param firstTask the task to run first, or null to begin with the queue
     * @param core whether the bound is the core size; otherwise it is the maximum
     * @return false if no worker was added: it is not allowed, or the factory returned no thread
     */
    boolean addWorker(@Nullable Runnable firstTask, boolean core) {
        if (!tryCountWorker(firstTask == null, core)) {
            return false;
        }
        Worker worker = null;
        boolean added = false;
        try {
            worker = Worker.of(this, firstTask);
            added = tryStartThread(worker, null);
        } catch (Throwable failure) {
            if (firstTask == null || worker == null || worker.withdrawFirstTask() != null) {
                throw failure;
            }
            UserCode.uncaught(failure); // a concurrent stop() has claimed the task and hands it back
            return true;
        } finally {
            if (!added) {
                failedStarts.getAndIncrement();
                removeWorker(worker);
                scheduleRescue();
            }
        }
        return added;
    }

    private boolean tryCountWorker(boolean forQueue, boolean core) {
        while (true) {
            int word = control.get();
            if (!canAddWorker(word, forQueue, core)) {
                return false;
            }
            if (control.tryAddWorker(word)) {
                return true;
            }
        }
    }

    private boolean canAddWorker(int word, boolean forQueue, boolean core) {
        int bound = Math.min(core ? coreThreads : maxThreads, Control.MAX_WORKERS);
        return Control.workers(word) < bound && mayRunTasks(word, forQueue);
    }

    /** Returns whether tasks may run in a state of the pool: any task, or one of the queue. */
    private boolean mayRunTasks(int word, boolean forQueue) {
        int state = Control.state(word);
        return state == Control.RUNNING || (state == Control.SHUTDOWN && forQueue && !queue.isEmpty());
    }

    /** Starts the thread of a counted worker, which replaces the predecessor, if there is one. */
    private boolean tryStartThread(Worker worker, @Nullable Worker predecessor) {
        Thread thread = threadFactory.newThread(worker);
        if (thread == null) {
            return false;
        }
        worker.setThread(thread);
        if (!registry.add(worker, predecessor, control)) {
            return false;
        }
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started && predecessor != null) {
                registry.restore(predecessor, worker);
            }
        }
        return true;
    }

    // ---- removing workers

    private void removeWorker(@Nullable Worker worker) {
        if (worker != null) {
            registry.remove(worker);
        }
        control.removeWorker();
        signalSubmitter();
        tryTerminateQuietly();
    }

    /** Called after a worker has been uncounted: a waiting submitter may now get a new thread. */
    private void signalSubmitter() {
        VarHandle.fullFence();
        queue.putters().signal();
    }

    /** Counts an uncounted worker again if it is still needed; otherwise removes it. Returns whether it stays. */
    private boolean retainIfNeeded(Worker worker) {
        while (true) {
            int word = control.get();
            int needed = coreTimeout ? 0 : coreThreads;
            if (needed == 0 && !queue.isEmpty()) {
                needed = 1;
            }
            if (!mayRunTasks(word, true) || Control.workers(word) >= needed) {
                registry.remove(worker);
                signalSubmitter();
                tryTerminateQuietly();
                return false;
            }
            if (control.tryAddWorker(word)) {
                return true;
            }
        }
    }

    /**
     * Called after a worker's task, or its access to the queue, has thrown: starts a replacement, or removes the worker
     * if it is unneeded. Returns false if its thread must continue because no replacement started.
     */
    private boolean replaceOrRemove(Worker worker, Throwable failure, boolean whileTaking) {
        if (!mayRunTasks(control.get(), true) || (whileTaking && worker.completed() == 0)) {
            removeWorker(worker); // no replacement: a queue that always throws would cost one thread after the other
            scheduleRescue();
            return true;
        }
        try {
            if (tryStartThread(Worker.of(this, null), worker)) {
                return true;
            }
        } catch (Throwable noReplacement) {
            UserCode.addSuppressed(failure, noReplacement);
        }
        return false;
    }

    /**
     * Sets an alarm, one at a time, that adds a worker for tasks whose submitters relied on one that could not be
     * added.
     */
    private void scheduleRescue() {
        if (hasStrandedTasks() && rescueScheduled.compareAndSet(false, true)) {
            try {
                time.after(RESCUE_DELAY, () -> elsewhere.execute(this::rescue)); // a thread factory is user code
            } catch (Throwable noTime) {
                rescueScheduled.set(false); // the next occasion schedules it
                UserCode.uncaught(noTime);
            }
        }
    }

    private boolean hasStrandedTasks() {
        return control.workers() == 0 && mayRunTasks(control.get(), true) && !queue.isEmpty();
    }

    private void rescue() {
        rescueScheduled.set(false);
        if (hasStrandedTasks()) {
            addWorker(null, false); // if this fails, it schedules the next rescue
        }
        tryTerminateQuietly(); // another caller may have emptied the queue
    }

    // ---- running tasks

    void runWorker(Worker worker) {
        Thread thread = Thread.currentThread();
        Runnable task = worker.claimFirstTask();
        startWatchdog();
        while (true) {
            boolean whileTaking = true;
            try {
                while (task != null || (task = nextTask(worker)) != null) {
                    whileTaking = false;
                    runTask(worker, thread, task);
                    task = null;
                    whileTaking = true;
                }
            } catch (Throwable failure) {
                task = null;
                if (replaceOrRemove(worker, failure, whileTaking)) {
                    throw failure;
                }
                UserCode.uncaught(failure);
                continue;
            }
            if (!retainIfNeeded(worker)) {
                return;
            }
            startWatchdog();
        }
    }

    private void startWatchdog() {
        if (watchdog != null) {
            watchdog.start();
        }
    }

    private void runTask(Worker worker, Thread thread, Runnable task) {
        clearInterruptUnlessStopped(thread);
        boolean reported = observation.isOn();
        if (reported) {
            observation.recordStart(worker, task);
        }
        worker.begin(task);
        Object original = control.state() == Control.RUNNING ? task : PooledTask.original(task);
        Throwable failure = null;
        try {
            if (reported) {
                observation.started(worker, task);
            }
            runWithHooks(thread, task);
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            if (control.state() >= Control.STOP) {
                endedAfterStop.add(new StoppedTask(worker.activity(), original)); // before it counts as ended
            }
            worker.end();
            if (reported) {
                observation.ended(worker, task, failure);
            }
        }
    }

    private void runWithHooks(Thread thread, Runnable task) {
        try {
            pool.beforeExecute(thread, task);
        } catch (Throwable failure) {
            if (!Observation.rejectTask(task, "was skipped, because beforeExecute threw " + failure)) {
                Observation.cancelFuture(task); // the task will not run, so no thread may wait for it
            }
            observation.skipped(task, failure);
            if (!followsJdk) {
                afterFailure(task, failure);
            }
            throw failure;
        }
        try {
            if (observed == null) {
                task.run();
            } else {
                observed.run(task);
            }
        } catch (Throwable failure) {
            afterFailure(task, failure);
            throw failure;
        }
        pool.afterExecute(task, null);
    }

    private void afterFailure(Runnable task, Throwable failure) {
        try {
            pool.afterExecute(task, failure);
        } catch (Throwable hookFailure) {
            UserCode.addSuppressed(hookFailure, failure);
            throw hookFailure;
        }
    }

    private void clearInterruptUnlessStopped(Thread thread) {
        if (control.state() >= Control.STOP || (Thread.interrupted() && control.state() >= Control.STOP)) {
            InterruptWindow.send(thread, null);
        }
    }

    /** Returns a worker's next task, or null after the worker has been uncounted. */
    private @Nullable Runnable nextTask(Worker worker) {
        boolean overdue = false;
        boolean wasIdle = false;
        while (true) {
            int word = control.get();
            if (!mayRunTasks(word, true)) {
                control.removeWorker();
                return null;
            }
            int count = Control.workers(word);
            if (isSurplus(count, overdue)) {
                if (control.tryRemoveWorker(word)) {
                    return null;
                }
                continue;
            }
            Runnable task = queue.poll(worker.queuedAt);
            if (task == null) {
                boolean timed = isTimed(count);
                long keepAlive = keepAliveNanos;
                if (timed && !overdue && keepAlive == 0) {
                    overdue = true;
                    continue;
                }
                long patience = overdue ? Math.max(keepAlive, MIN_RECHECK_NANOS) : keepAlive;
                Deadline until = timed ? Deadline.after(time, Duration.ofNanos(patience)) : null;
                task = awaitTask(worker, overdue, until, keepAlive);
                wasIdle = true;
                overdue = task == null && until != null && keepAlive == keepAliveNanos && until.hasPassed();
            }
            if (task != null) {
                if (wasIdle && scaleBeforeQueueing) {
                    addWorkerIfTooFew();
                }
                return task;
            }
        }
    }

    private @Nullable Runnable awaitTask(Worker worker, boolean overdue, @Nullable Deadline until, long keepAlive) {
        if (scaleBeforeQueueing) {
            idleWorkers.getAndIncrement();
        }
        worker.becomeIdle();
        try {
            int now = control.get();
            int count = Control.workers(now);
            boolean isChanged = until != null ? keepAlive != keepAliveNanos : isTimed(count);
            if (isChanged || !mayRunTasks(now, true) || isSurplus(count, overdue)) {
                return null;
            }
            Runnable offered =
                    isDirectHandoff ? queue.putters().takeOffered(() -> control.state() == Control.RUNNING) : null;
            return offered != null ? offered : queue.take(worker, until);
        } catch (InterruptedException wakeup) {
            return null; // the caller checks the settings again
        } finally {
            worker.becomeBusy();
            if (scaleBeforeQueueing) {
                idleWorkers.getAndDecrement();
            }
        }
    }

    /**
     * Returns whether one of a number of workers may end: there are too many, or it is overdue; and the queue is empty
     * or has another worker.
     */
    private boolean isSurplus(int count, boolean overdue) {
        return (count > maxThreads || (overdue && isTimed(count))) && (count > 1 || queue.isEmpty());
    }

    private boolean isTimed(int count) {
        return coreTimeout || count > coreThreads;
    }

    // ---- settings

    /** Makes every idle worker check the settings again. */
    void interruptIdleWorkers() {
        registry.interruptIdle(Integer.MAX_VALUE);
    }

    /** Makes all waiting submitters try again, after the capacity or the settings have changed. */
    void signalSubmitters() {
        queue.putters().signalAll();
    }

    /** Sets the keep-alive time. Idle workers wait anew for the whole of it, as those of the JDK's pool do. */
    void setKeepAlive(long nanos) {
        if (keepAliveNanos != nanos) {
            keepAliveNanos = nanos;
            interruptIdleWorkers();
        }
    }

    // ---- shutdown

    void shutdown() {
        control.advanceTo(Control.SHUTDOWN);
        interruptIdleWorkers();
        signalSubmitters();
        tryTerminate();
    }

    /**
     * Stops the pool: interrupts the running tasks, and removes and returns those that have not started, which the
     * caller must hand back.
     */
    List<Runnable> stop(Consumer<Activity> interrupted) {
        List<Runnable> tasks = new ArrayList<>();
        stopping.getAndIncrement();
        try {
            control.advanceTo(Control.STOP);
            registry.forEach(worker -> {
                Runnable firstTask = followsJdk ? null : worker.withdrawFirstTask();
                if (firstTask != null) {
                    tasks.add(firstTask); // its thread has not started to run
                }
                Activity activity = worker.assignedActivity();
                if (activity.isRunning()) {
                    interrupted.accept(activity);
                }
                InterruptWindow.send(worker.thread(), null);
            });
            tasks.forEach(task -> observation.handedBack(task, TaskBuffer.Timestamp.UNKNOWN));
            queue.drainAll((task, acceptedAt) -> {
                tasks.add(task);
                observation.handedBack(task, acceptedAt);
            });
        } finally {
            stopping.getAndDecrement();
            signalSubmitters();
            tryTerminateQuietly();
        }
        return tasks;
    }

    /**
     * As {@link #tryTerminate}, but reports an exception from {@code terminated()} instead of throwing it to the
     * caller.
     */
    void tryTerminateQuietly() {
        try {
            tryTerminate();
        } catch (Throwable failure) {
            UserCode.uncaught(failure);
        }
    }

    /**
     * Terminates the pool if it has been shut down and no task and no worker is left. Called after each action that may
     * make this true.
     */
    void tryTerminate() {
        while (true) {
            int word = control.get();
            int state = Control.state(word);
            if (state == Control.RUNNING || state >= Control.TIDYING) {
                return;
            }
            if (state == Control.SHUTDOWN && !queue.isEmpty()) {
                scheduleRescue(); // in case no worker is left
                return;
            }
            if (stopping.get() != 0) {
                return; // stop() calls this method again after it has counted the tasks it hands back
            }
            if (Control.workers(word) != 0) {
                registry.interruptIdle(1);
                return;
            }
            if (control.tryTidy(word)) {
                try {
                    if (watchdog != null) {
                        watchdog.end();
                    }
                    observation.end();
                    pool.terminated();
                } finally {
                    if (keepsTimer) {
                        TimerUse.release(time);
                    }
                    control.advanceTo(Control.TERMINATED);
                    terminated.set();
                }
                return;
            }
        }
    }
}
