package dev.raddle.pool;

import dev.raddle.pool.Worker.Doing;
import dev.raddle.task.Rejectable;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.LongConsumer;
import org.jspecify.annotations.Nullable;

/** The workers of a pool: who is hired, who leaves, and that no task is left behind. */
final class Crew {

    /*
     * Overview.
     *
     * The control word holds the run state and how many workers are counted. Both change together, atomically:
     *
     *   RUNNING -> SHUTDOWN      shutdown()
     *   RUNNING, SHUTDOWN -> STOP    stop()
     *   SHUTDOWN, STOP -> TIDYING    whoever finds no worker counted, no stop() under way and, in SHUTDOWN, no task queued
     *   TIDYING -> TERMINATED    the same, after terminated()
     *   workers + 1              hire() and stays(), which see a state that allows it in the same word
     *   workers - 1              next() and quit(): once for each + 1
     *
     * The roster knows who they are. A worker is put on it after it is counted, before its thread starts.
     *
     * Why no task is lost. A submitter puts a task into the queue, then reads the control word anew. A worker leaves the
     * count first and looks into the queue afterwards, and stays if there is something (stays). So when a task lies in the
     * queue, the submitter sees a worker counted, who has not looked yet, or sees none and hires one. A worker that dies
     * hands its place in the count to its successor, and if no thread can be had goes on itself. If a submitter cannot
     * hire, it takes its own task back; a task of somebody who had counted on the worker that was not to be had is seen
     * to by an alarm (rescue), which tries to hire again and again.
     *
     * Why none runs twice, or runs and is handed back. Whoever gets a task out of the queue owns it: a worker runs it, stop()
     * hands it back, a submitter that finds the pool shut down takes its own out and rejects it. The queue gives each to one.
     * A task that was given to a new thread never was in the queue. In a pool of the builder stop() takes it from a worker
     * whose thread has not begun; in one of the JDK's constructors it is run, interrupted, as in the JDK.
     *
     * A submitter that finds it gone knows that another owns it: then it was accepted.
     *
     * Why it ends. In SHUTDOWN a worker waits only while the queue is not empty although nothing can be taken (tasks that
     * are delayed); each that leaves interrupts one that may wait. From STOP on nobody looks for a task; one that was taken
     * a moment before is run, interrupted, as in the JDK.
     *
     * A queue that hands over has no place for a task, so a submitter that waits for room shows its task in the waiting room.
     * A worker that has declared itself idle looks there before it waits in the queue; a submitter that has shown its task
     * interrupts those that are idle, so that they look again. One of the two comes second, and sees the other.
     *
     * Idle workers wait in the queue's take(), whatever queue it is. They are told of changed settings, shutdown and the end
     * of their keep-alive by an interrupt that cannot reach a task (see Worker). One alarm serves the keep-alives of all.
     */

    private static final Duration RESCUE_DELAY = Duration.ofMillis(100);

    // a worker that must stay although it has been idle for long enough, because of delayed tasks, is looked at this
    // often
    private static final long SHORTEST_ROUND_NANOS = 10_000_000;

    private final ThreadPool pool;
    private final Intake intake;
    private final boolean scaleBeforeQueueing;
    private final boolean asInTheJdk;
    private final TimeSource time;
    private final Reporter reporter;
    private final Rounds keeper;
    private final StuckWatch watch;

    final Control control = new Control();
    final Roster roster = new Roster();
    final LongAdder handedBack = new LongAdder();
    private final AtomicInteger stopping = new AtomicInteger(); // how many are in stop()
    private final AtomicInteger idleWorkers = new AtomicInteger(); // kept if the crew scales before it queues
    private final AtomicBoolean rescuing = new AtomicBoolean(); // an alarm is set that will look for stranded tasks
    final Signal terminated = new Signal();

    volatile int coreThreads;
    volatile int maxThreads;
    volatile long keepAliveNanos;
    volatile boolean coreTimeout;
    volatile ThreadFactory threadFactory;

    Crew(ThreadPool pool, ThreadPool.Builder plan, Intake intake, Reporter reporter) {
        this.pool = pool;
        this.intake = intake;
        this.reporter = reporter;
        this.time = plan.timeSource;
        this.scaleBeforeQueueing = plan.scaleBeforeQueueing;
        this.asInTheJdk = plan.asInTheJdk;
        this.coreThreads = plan.coreThreads;
        this.maxThreads = plan.maxThreads;
        this.keepAliveNanos = plan.keepAliveNanos();
        this.coreTimeout = plan.coreTimeout;
        this.threadFactory = plan.factory();
        this.keeper = new Rounds(time, this::sendOverdueHome);
        this.watch = new StuckWatch(plan.name, roster, reporter, time, plan.stuckAfter);
    }

    // ---- tasks in

    /** Runs a task in a new worker or queues it. Returns false if there is no room or the pool has been shut down. */
    boolean accept(Runnable task) {
        int word = control.get();
        if (Control.workers(word) < coreThreads) {
            if (hire(task, true)) {
                return true;
            }
            word = control.get();
        }
        if (Control.state(word) == Control.RUNNING) {
            if (scaleBeforeQueueing && Control.workers(word) < maxThreads && isEverybodyBusy() && hire(task, false)) {
                return true;
            }
            if (intake.offer(task)) {
                return seeTo(task);
            }
        }
        return hire(task, false);
    }

    /**
     * As {@link #accept}, and waits for room. Returns false if the place expired, the pool has been shut down, or there is no
     * worker who could make room.
     */
    boolean acceptWhenRoom(Runnable task, WaitingRoom.Place place) throws InterruptedException {
        boolean[] accepted = {false};
        intake.putters()
                .attempt(
                        place,
                        () -> {
                            accepted[0] = accept(task)
                                    || (control.workers() == 0 && accept(task)); // again: the last may have made room
                            return accepted[0] || control.state() != Control.RUNNING || control.workers() == 0;
                        },
                        () -> intake.remainingCapacity() > 0 || (accepted[0] && control.workers() < maxThreads),
                        this::callIdle);
        return accepted[0] || place.isTaken();
    }

    /** Returns a place to wait for room in. Where the queue hands over, an idle worker may take the task from it. */
    WaitingRoom.Place placeOf(Runnable task) {
        return new WaitingRoom.Place(intake.handsOver() ? task : null);
    }

    private boolean isEverybodyBusy() {
        int idle = idleWorkers.get();
        return idle == 0 || (!intake.isEmpty() && idle <= intake.size());
    }

    /** Sees to a task that has been queued. Returns false if it was taken back instead. */
    private boolean seeTo(Runnable task) {
        int word = control.get(); // anew: it may have changed before the task was queued
        if (Control.state(word) != Control.RUNNING && intake.takeBack(task)) {
            tryTerminateQuietly();
            return false;
        }
        if (Control.workers(word) != 0) {
            return true;
        }
        try {
            return hire(null, false) || control.workers() != 0 || !intake.takeBack(task);
        } catch (Throwable failure) {
            if (control.workers() == 0 && intake.takeBack(task)) {
                throw failure;
            }
            Reporter.report(failure); // another worker has the task
            return true;
        }
    }

    // ---- workers in

    /**
     * Adds a worker if the state and the bound allow it.
     *
     * @param first what it runs first, or null to begin with the queue
     * @param core whether the bound is the core size, not the maximum
     * @return false if there is none: not allowed, or the factory gave no thread
     */
    boolean hire(@Nullable Runnable first, boolean core) {
        if (!mayCount(control.get(), first == null, core)) {
            return false;
        }
        StackRoom.ensureForSections();
        if (!tryCount(first == null, core)) {
            return false;
        }
        Worker worker = null;
        boolean hired = false;
        try {
            worker = Worker.of(this, first);
            hired = tryStart(worker, null);
        } catch (Throwable failure) {
            if (first == null || worker == null || worker.withdrawFirst() != null) {
                throw failure;
            }
            Reporter.report(failure); // a stop was faster: it hands the task back
            return true;
        } finally {
            if (!hired) {
                quit(worker);
                rescue();
            }
        }
        return hired;
    }

    private boolean tryCount(boolean forQueue, boolean core) {
        while (true) {
            int word = control.get();
            if (!mayCount(word, forQueue, core)) {
                return false;
            }
            if (control.tryJoin(word)) {
                return true;
            }
        }
    }

    private boolean mayCount(int word, boolean forQueue, boolean core) {
        int bound = Math.min(core ? coreThreads : maxThreads, Control.MOST_WORKERS);
        return Control.workers(word) < bound && mayWork(Control.state(word), forQueue);
    }

    private boolean mayWork(int state, boolean forQueue) {
        return state == Control.RUNNING || (state == Control.SHUTDOWN && forQueue && !intake.isEmpty());
    }

    /** Gives a counted worker its thread; in the place of another, if one is given. */
    private boolean tryStart(Worker worker, @Nullable Worker predecessor) {
        Thread thread = threadFactory.newThread(worker);
        if (thread == null) {
            return false;
        }
        worker.assign(thread);
        if (!roster.add(worker, predecessor, control)) {
            return false;
        }
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started && predecessor != null) {
                roster.restore(predecessor, worker);
            }
        }
        return true;
    }

    // ---- workers out

    private void quit(@Nullable Worker worker) {
        if (worker != null) {
            roster.remove(worker);
        }
        control.leave();
        callSubmitterForPlace();
        tryTerminateQuietly();
    }

    /** After a worker has left the count: a submitter that waits may have a thread of its own now. */
    private void callSubmitterForPlace() {
        VarHandle.fullFence();
        intake.putters().call();
    }

    /** After a worker has left the count: keeps it if it is needed after all, or lets it go. */
    private boolean stays(Worker worker) {
        while (true) {
            int word = control.get();
            int needed = coreTimeout ? 0 : coreThreads;
            if (needed == 0 && !intake.isEmpty()) {
                needed = 1;
            }
            if (!mayWork(Control.state(word), true) || Control.workers(word) >= needed) {
                roster.remove(worker);
                callSubmitterForPlace();
                tryTerminateQuietly();
                return false;
            }
            if (control.tryJoin(word)) {
                return true;
            }
        }
    }

    /** After a worker's task or queue has thrown: its thread may end if it is replaced or no longer needed. */
    private boolean mayDie(Worker worker, Throwable failure, boolean inQueue) {
        if (!mayWork(control.state(), true) || (inQueue && worker.completed() == 0)) {
            quit(worker); // a queue that throws at every worker is not worth one thread after the other
            rescue();
            return true;
        }
        try {
            if (tryStart(Worker.of(this, null), worker)) {
                return true;
            }
        } catch (Throwable hiring) {
            if (hiring != failure) {
                failure.addSuppressed(hiring);
            }
        }
        return false;
    }

    /** Sees to tasks whose submitters counted on a worker that could not be had: tries again, by one alarm at a time. */
    private void rescue() {
        if (isStranded() && rescuing.compareAndSet(false, true)) {
            try {
                time.after(
                        RESCUE_DELAY, () -> Thread.ofVirtual().start(this::tryRescue)); // the factory is foreign code
            } catch (Throwable noAlarm) {
                rescuing.set(false);
                Reporter.report(noAlarm);
            }
        }
    }

    private boolean isStranded() {
        return control.workers() == 0 && mayWait(control.get()) && !intake.isEmpty();
    }

    private void tryRescue() {
        rescuing.set(false);
        if (isStranded()) {
            hire(null, false); // which calls for the next rescue if it fails
        }
        tryTerminateQuietly(); // somebody else may have emptied the queue
    }

    // ---- a worker's life

    void work(Worker worker) {
        Thread thread = Thread.currentThread();
        Runnable task = worker.takeFirst();
        while (true) {
            boolean inQueue = true;
            try {
                watch.start();
                while (task != null || (task = next(worker)) != null) {
                    inQueue = false;
                    run(worker, thread, task);
                    task = null;
                    inQueue = true;
                }
            } catch (Throwable failure) {
                task = null;
                if (mayDie(worker, failure, inQueue)) {
                    throw failure;
                }
                Reporter.report(failure);
                continue;
            }
            if (!stays(worker)) {
                return;
            }
        }
    }

    private void run(Worker worker, Thread thread, Runnable task) {
        clearInterruptUnlessStopped(thread);
        boolean reported = reporter.isOn();
        if (reported) {
            reporter.stamp(worker, task);
        }
        worker.begin(task);
        Throwable failure = null;
        try {
            if (reported) {
                reporter.started(worker, task);
            }
            runWithHooks(thread, task);
        } catch (Throwable thrown) {
            failure = thrown;
            throw thrown;
        } finally {
            worker.end();
            if (reported) {
                reporter.ended(worker, task, failure);
            }
        }
    }

    private void runWithHooks(Thread thread, Runnable task) {
        try {
            pool.beforeExecute(thread, task);
        } catch (Throwable failure) {
            if (!Rejectable.reject(task, "was skipped, because beforeExecute threw " + failure)
                    && task instanceof Future<?> future) {
                future.cancel(false); // it will not run: nobody shall wait for it
            }
            if (!asInTheJdk) {
                afterFailure(task, failure);
            }
            throw failure;
        }
        try {
            task.run();
        } catch (Throwable failure) {
            afterFailure(task, failure);
            throw failure;
        }
        pool.afterExecute(task, null);
    }

    private void afterFailure(Runnable task, Throwable failure) {
        try {
            pool.afterExecute(task, failure);
        } catch (Throwable another) {
            if (another != failure) {
                another.addSuppressed(failure);
            }
            throw another;
        }
    }

    private void clearInterruptUnlessStopped(Thread thread) {
        if (control.state() >= Control.STOP) {
            if (!thread.isInterrupted()) {
                thread.interrupt();
            }
        } else if (Thread.interrupted() && control.state() >= Control.STOP) {
            thread.interrupt();
        }
    }

    /** Returns a worker's next task, or null after it has left the count. */
    private @Nullable Runnable next(Worker worker) {
        boolean overdue = false;
        while (true) {
            int word = control.get();
            if (!mayWait(word)) {
                control.leave();
                return null;
            }
            if (isSurplus(word, overdue)) {
                if (control.tryLeave(word)) {
                    return null;
                }
                continue;
            }
            Runnable task = intake.poll(worker.stamp);
            if (task == null) {
                boolean bounded = isBounded(word);
                if (bounded && !overdue && keepAliveNanos == 0) {
                    overdue = true;
                    continue;
                }
                task = await(worker, overdue, bounded);
                overdue = task == null && bounded && isOverdue(worker, time.nanoTime());
            }
            if (task != null) {
                return task;
            }
        }
    }

    private @Nullable Runnable await(Worker worker, boolean overdue, boolean bounded) {
        worker.leavesWhenIdle = bounded;
        if (bounded) {
            worker.idleSince = time.nanoTime();
        }
        if (scaleBeforeQueueing) {
            idleWorkers.getAndIncrement();
        }
        worker.becomeIdle();
        try {
            int now = control.get();
            if (!mayWait(now) || isSurplus(now, overdue) || (isBounded(now) && !bounded)) {
                return null;
            }
            if (bounded) {
                keeper.within(overdue ? Math.max(keepAliveNanos, SHORTEST_ROUND_NANOS) : keepAliveNanos);
            }
            Runnable shown = intake.handsOver() ? intake.putters().takeShown(this::isRunning) : null;
            return shown != null ? shown : intake.take(worker.stamp);
        } catch (InterruptedException called) {
            return null; // to look at the settings again
        } finally {
            worker.becomeBusy();
            if (scaleBeforeQueueing) {
                idleWorkers.getAndDecrement();
            }
        }
    }

    private boolean isRunning() {
        return control.state() == Control.RUNNING;
    }

    private boolean mayWait(int word) {
        return mayWork(Control.state(word), true);
    }

    /** Tells whether a worker may leave: there are too many, or it has been idle for long, and the queue has another. */
    private boolean isSurplus(int word, boolean overdue) {
        int count = Control.workers(word);
        return (count > maxThreads || (overdue && isBounded(word))) && (count > 1 || intake.isEmpty());
    }

    private boolean isBounded(int word) {
        return coreTimeout || Control.workers(word) > coreThreads;
    }

    private boolean isOverdue(Worker worker, long now) {
        return now - worker.idleSince >= keepAliveNanos;
    }

    // ---- settings

    /** Makes every idle worker look at the settings again. */
    void callIdle() {
        roster.forEach(Worker::interruptIfIdle);
    }

    /** Lets those who wait for room try again, after there may be more of it. */
    void callSubmitters() {
        intake.putters().callAll();
    }

    /** After the keep-alive was changed: what was set for the old one may ring too late. */
    void keepAliveChanged() {
        keeper.now();
        callIdle();
    }

    private long sendOverdueHome() {
        long now = time.nanoTime();
        long[] next = {Rounds.NEVER};
        roster.forEach(worker -> {
            if (worker.isIdle() && worker.leavesWhenIdle) {
                if (isOverdue(worker, now)) {
                    worker.interruptIfIdle();
                } else {
                    next[0] = Math.min(next[0], keepAliveNanos - (now - worker.idleSince));
                }
            }
        });
        return next[0];
    }

    // ---- the end

    void shutdown() {
        StackRoom.ensureForSections();
        control.advanceTo(Control.SHUTDOWN);
        callIdle();
        callSubmitters();
        tryTerminate();
    }

    /** Stops: interrupts what runs and takes out what waits, and notes when each of that was accepted. */
    List<Runnable> stop(Consumer<Doing> interrupted, LongConsumer acceptedAt) {
        StackRoom.ensureForSections();
        List<Runnable> tasks = new ArrayList<>();
        stopping.getAndIncrement();
        try {
            control.advanceTo(Control.STOP);
            roster.forEach(worker -> {
                Runnable first = asInTheJdk ? null : worker.withdrawFirst();
                if (first != null) {
                    tasks.add(first); // its thread has not begun to run yet
                    acceptedAt.accept(Store.Stamp.UNKNOWN);
                }
                Doing doing = worker.inHand();
                if (doing.isRunning()) {
                    interrupted.accept(doing);
                }
                worker.thread().interrupt();
            });
            tasks.addAll(intake.drainOut(acceptedAt));
        } finally {
            handedBack.add(tasks.size());
            stopping.getAndDecrement();
            callSubmitters();
            tryTerminateQuietly();
        }
        return tasks;
    }

    /** As {@link #tryTerminate}, where what {@code terminated()} throws must not keep the caller from what it does. */
    void tryTerminateQuietly() {
        try {
            tryTerminate();
        } catch (Throwable failure) {
            Reporter.report(failure);
        }
    }

    /** Ends the pool if it has been shut down and nothing is left. To be called after whatever may have made it so. */
    void tryTerminate() {
        while (true) {
            int word = control.get();
            int state = Control.state(word);
            if (state == Control.RUNNING
                    || state >= Control.TIDYING
                    || (state == Control.SHUTDOWN && !intake.isEmpty())) {
                return;
            }
            if (stopping.get() != 0) {
                return; // it ends the pool when what it hands back is counted
            }
            if (Control.workers(word) != 0) {
                roster.hasAny(Worker::interruptIfIdle);
                return;
            }
            StackRoom.ensureForSections();
            if (control.tryTidy(word)) {
                keeper.end();
                watch.end();
                try {
                    pool.terminated();
                } finally {
                    control.advanceTo(Control.TERMINATED);
                    terminated.set();
                }
                return;
            }
        }
    }
}
