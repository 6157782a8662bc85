package dev.raddle.pool;

import dev.raddle.pool.Worker.Doing;
import dev.raddle.time.Deadline;
import dev.raddle.time.Signal;
import dev.raddle.time.TimeSource;
import java.lang.invoke.VarHandle;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.ConcurrentModificationException;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Delayed;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.ReentrantLock;
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
     *   SHUTDOWN, STOP -> TIDYING    whoever finds no worker counted and, in SHUTDOWN, no task queued
     *   TIDYING -> TERMINATED    the same, after terminated()
     *   workers + 1              hire() and stay(), which see a state that allows it in the same word
     *   workers - 1              next(), quit() and dismiss(): once for each + 1
     *
     * The lock guards the set of workers and the totals of those who have left. No foreign code runs under it.
     *
     * Why no task is lost. A submitter puts a task into the queue, then reads the control word anew. A worker leaves the
     * count first and looks into the queue afterwards, and stays if there is something (stay). So when a task lies in the
     * queue, the submitter sees a worker counted, who has not looked yet, or sees none and hires one. A worker that dies
     * hands its place in the count to its successor, and if no thread can be had goes on itself. If a submitter cannot
     * hire, it takes its own task back; a task of somebody who had counted on the worker that was not to be had is seen
     * to by an alarm (rescue), which tries to hire again and again.
     *
     * Why none runs twice, or runs and is handed back. Whoever gets a task out of the queue owns it: a worker runs it, stop()
     * hands it back, a submitter that finds the pool shut down takes its own out and rejects it. The queue gives each to one.
     * A submitter that finds it gone knows that another owns it: then it was accepted.
     *
     * Why it ends. In SHUTDOWN a worker waits only while the queue is not empty although nothing can be taken (tasks that
     * are delayed); each that leaves interrupts one that may wait. From STOP on nobody takes a task.
     *
     * Idle workers wait in the queue's take(), whatever queue it is. They are told of changed settings, shutdown and the end
     * of their keep-alive by an interrupt that cannot reach a task (see Worker). One alarm serves the keep-alives of all.
     */

    private static final Duration FIRST_RESCUE = Duration.ofMillis(10);
    private static final Duration LATEST_RESCUE = Duration.ofSeconds(1);

    // a worker that must stay although it has been idle for long enough, because of delayed tasks, is looked at this
    // often
    private static final long SHORTEST_ROUND_NANOS = 10_000_000;

    private final ThreadPool pool;
    private final BlockingQueue<Runnable> queue;
    private final @Nullable TaskQueue builtIn; // the same queue, if it is the pool's own
    private final boolean scaleBeforeQueueing;
    private final TimeSource time;
    private final Reporter reporter;
    private final Rounds keeper;
    private final Rounds watch;
    private final long stuckAfterNanos; // Rounds.NEVER if nobody watches
    private final WaitingRoom submitters; // those who wait for room in the queue

    final Control control = new Control();
    final LongAdder removed = new LongAdder(); // from a queue that does not count
    final LongAdder handedBack = new LongAdder();
    final Signal terminated = new Signal();

    volatile int coreThreads;
    volatile int maxThreads;
    volatile long keepAliveNanos;
    volatile boolean coreTimeout;
    volatile ThreadFactory threadFactory;

    private final ReentrantLock lock = new ReentrantLock();
    private final Set<Worker> workers = new HashSet<>(); // guarded by lock
    private int largest; // guarded by lock
    private long completedByLeavers; // guarded by lock

    Crew(ThreadPool pool, ThreadPool.Builder plan, BlockingQueue<Runnable> queue, Reporter reporter) {
        this.pool = pool;
        this.queue = queue;
        this.builtIn = queue instanceof TaskQueue own ? own : null;
        this.reporter = reporter;
        this.time = plan.timeSource;
        this.scaleBeforeQueueing = plan.scaleBeforeQueueing;
        this.coreThreads = plan.coreThreads;
        this.maxThreads = plan.maxThreads;
        this.keepAliveNanos = Deadline.nanos(plan.keepAlive);
        this.coreTimeout = plan.coreTimeout;
        this.threadFactory = plan.factory();
        this.stuckAfterNanos = plan.stuckAfter == null ? Rounds.NEVER : Deadline.nanos(plan.stuckAfter);
        this.submitters = builtIn == null ? new WaitingRoom(false) : builtIn.putters();
        this.keeper = new Rounds(time, this::sendOverdueHome);
        this.watch = new Rounds(time, this::reportStuck);
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
            if (scaleBeforeQueueing && isEverybodyBusy() && hire(task, false)) {
                return true;
            }
            if (queue.offer(task)) {
                return isServed(task);
            }
        }
        return hire(task, false);
    }

    /** As {@link #accept}, and waits for room. Returns false if the place expired or the pool has been shut down. */
    boolean acceptWhenRoom(Runnable task, WaitingRoom.Place place) throws InterruptedException {
        boolean[] accepted = {false};
        submitters.attempt(
                place,
                () -> {
                    accepted[0] = accept(task);
                    return accepted[0] || control.state() != Control.RUNNING;
                },
                () -> queue.remainingCapacity() > 0);
        return accepted[0];
    }

    boolean isWorker(Thread thread) {
        lock.lock();
        try {
            return workers.stream().anyMatch(worker -> worker.thread() == thread);
        } finally {
            lock.unlock();
        }
    }

    private boolean isEverybodyBusy() {
        lock.lock();
        try {
            int idle = 0;
            for (Worker worker : workers) {
                idle += worker.isIdle() ? 1 : 0;
            }
            return idle <= queue.size();
        } finally {
            lock.unlock();
        }
    }

    /** Sees to a task that has been queued. Returns false if it was taken back instead. */
    private boolean isServed(Runnable task) {
        int word = control.get(); // anew: it may have changed before the task was queued
        if (Control.state(word) != Control.RUNNING && takeBack(task)) {
            tryTerminate();
            return false;
        }
        if (Control.workers(word) != 0) {
            return true;
        }
        try {
            return hire(null, false) || control.workers() != 0 || !takeBack(task);
        } catch (Throwable failure) {
            if (control.workers() == 0 && takeBack(task)) {
                throw failure;
            }
            Reporter.report(failure); // another worker has the task
            return true;
        }
    }

    private boolean takeBack(Runnable task) {
        return builtIn == null ? queue.remove(task) : builtIn.takeBack(task);
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
        if (!isCounted(first == null, core)) {
            return false;
        }
        Worker worker = new Worker(this, first);
        boolean hired = false;
        try {
            hired = isStarted(worker, null);
        } finally {
            if (!hired) {
                dismiss(worker);
            }
        }
        return hired;
    }

    private boolean isCounted(boolean forQueue, boolean core) {
        while (true) {
            int word = control.get();
            int bound = Math.min(core ? coreThreads : maxThreads, Control.MOST_WORKERS);
            if (!mayWork(Control.state(word), forQueue) || Control.workers(word) >= bound) {
                return false;
            }
            if (control.tryJoin(word)) {
                return true;
            }
        }
    }

    private boolean mayWork(int state, boolean forQueue) {
        return state == Control.RUNNING || (state == Control.SHUTDOWN && forQueue && !queue.isEmpty());
    }

    /** Gives a counted worker its thread; in the place of another, if one is given. */
    private boolean isStarted(Worker worker, @Nullable Worker predecessor) {
        Thread thread = threadFactory.newThread(worker);
        if (thread == null) {
            return false;
        }
        worker.assign(thread);
        lock.lock();
        try {
            int state = control.state();
            if (state >= Control.STOP || (state == Control.SHUTDOWN && worker.hasFirst())) {
                return false;
            }
            if (predecessor != null) {
                remove(predecessor);
            }
            add(worker);
        } finally {
            lock.unlock();
        }
        boolean started = false;
        try {
            thread.start();
            started = true;
        } finally {
            if (!started && predecessor != null) {
                restore(worker, predecessor);
            }
        }
        if (stuckAfterNanos != Rounds.NEVER) {
            watch.within(stuckAfterNanos);
        }
        return true;
    }

    private void add(Worker worker) {
        workers.add(worker);
        largest = Math.max(largest, workers.size());
        completedByLeavers -= worker.completed();
    }

    private void remove(Worker worker) {
        if (workers.remove(worker)) {
            completedByLeavers += worker.completed();
        }
    }

    private void restore(Worker worker, Worker predecessor) {
        lock.lock();
        try {
            remove(worker);
            add(predecessor);
        } finally {
            lock.unlock();
        }
    }

    // ---- workers out

    private void dismiss(Worker worker) {
        quit(worker);
        rescue(FIRST_RESCUE);
    }

    private void quit(Worker worker) {
        lock.lock();
        try {
            remove(worker);
            control.leave();
        } finally {
            lock.unlock();
        }
        tryTerminate();
    }

    /** After a worker has left the count: keeps it if it is needed after all. */
    private boolean stays(Worker worker) {
        lock.lock();
        try {
            remove(worker);
        } finally {
            lock.unlock();
        }
        tryTerminate();
        while (true) {
            int word = control.get();
            int needed = coreTimeout ? 0 : coreThreads;
            if (needed == 0 && !queue.isEmpty()) {
                needed = 1;
            }
            if (!mayWork(Control.state(word), true) || Control.workers(word) >= needed) {
                return false;
            }
            if (control.tryJoin(word)) {
                lock.lock();
                try {
                    add(worker);
                } finally {
                    lock.unlock();
                }
                return true;
            }
        }
    }

    /** After a worker's task or queue has thrown: its thread may end if it is replaced or no longer needed. */
    private boolean mayDie(Worker worker, Throwable failure, boolean inQueue) {
        if (!mayWork(control.state(), true) || (inQueue && worker.completed() == 0)) {
            quit(worker); // a queue that throws at every worker is not worth one thread after the other
            rescue(FIRST_RESCUE);
            return true;
        }
        try {
            if (isStarted(new Worker(this, null), worker)) {
                return true;
            }
        } catch (Throwable hiring) {
            failure.addSuppressed(hiring);
        }
        return false;
    }

    /** Sees to tasks whose submitters counted on a worker that could not be had. */
    private void rescue(Duration delay) {
        if (isStranded()) {
            time.after(delay, () -> Thread.ofVirtual().start(() -> tryRescue(delay)));
        }
    }

    private boolean isStranded() {
        return control.workers() == 0 && mayWork(control.state(), true) && !queue.isEmpty();
    }

    private void tryRescue(Duration delay) {
        Duration next = delay.multipliedBy(2).compareTo(LATEST_RESCUE) < 0 ? delay.multipliedBy(2) : LATEST_RESCUE;
        if (isStranded() && isCounted(true, false)) {
            boolean hired = false;
            try {
                hired = isStarted(new Worker(this, null), null);
            } finally {
                if (!hired) {
                    control.leave();
                    tryTerminate();
                    rescue(next);
                }
            }
        }
    }

    // ---- a worker's life

    void work(Worker worker) {
        Thread thread = Thread.currentThread();
        Runnable task = worker.takeFirst();
        while (true) {
            boolean inQueue = true;
            try {
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
        worker.begin(task);
        boolean reported = reporter.isOn();
        if (reported) {
            reporter.started(worker, task);
        }
        Throwable failure = null;
        try {
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
            if (task instanceof Future<?> future) {
                future.cancel(false); // it will not run: nobody shall wait for it
            }
            afterFailure(task, failure);
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
            Runnable task = builtIn == null ? queue.poll() : builtIn.poll(worker.stamp);
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
                if (builtIn == null) {
                    callSubmitter();
                }
                return task;
            }
        }
    }

    private @Nullable Runnable await(Worker worker, boolean overdue, boolean bounded) {
        worker.leavesWhenIdle = bounded;
        if (bounded) {
            worker.idleSince = time.nanoTime();
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
            return builtIn == null ? queue.take() : builtIn.take(worker.stamp);
        } catch (InterruptedException called) {
            return null; // to look at the settings again
        } finally {
            worker.becomeBusy();
        }
    }

    private boolean mayWait(int word) {
        return mayWork(Control.state(word), true);
    }

    /** Tells whether a worker may leave: there are too many, or it has been idle for long, and the queue has another. */
    private boolean isSurplus(int word, boolean overdue) {
        int count = Control.workers(word);
        return (count > maxThreads || (overdue && isBounded(word))) && (count > 1 || queue.isEmpty());
    }

    private boolean isBounded(int word) {
        return coreTimeout || Control.workers(word) > coreThreads;
    }

    private boolean isOverdue(Worker worker, long now) {
        return now - worker.idleSince >= keepAliveNanos;
    }

    // ---- settings and rounds

    /** Makes every idle worker look at the settings again. */
    void callIdle() {
        lock.lock();
        try {
            workers.forEach(Worker::interruptIfIdle);
        } finally {
            lock.unlock();
        }
    }

    /** After the keep-alive was changed: what was set for the old one may ring too late. */
    void keepAliveChanged() {
        keeper.now();
        callIdle();
    }

    /** Lets those who wait for room try again. */
    void callSubmitter() {
        VarHandle.fullFence();
        submitters.call();
    }

    private long sendOverdueHome() {
        long next = Rounds.NEVER;
        lock.lock();
        try {
            long now = time.nanoTime();
            for (Worker worker : workers) {
                if (worker.isIdle() && worker.leavesWhenIdle) {
                    if (isOverdue(worker, now)) {
                        worker.interruptIfIdle();
                    } else {
                        next = Math.min(next, worker.idleSince + keepAliveNanos - now);
                    }
                }
            }
        } finally {
            lock.unlock();
        }
        return next;
    }

    private long reportStuck() {
        long next = Rounds.NEVER;
        List<Runnable> reports = new ArrayList<>();
        lock.lock();
        try {
            long now = time.nanoTime();
            for (Worker worker : workers) {
                Doing doing = worker.doing();
                Runnable task = doing.task();
                if (task != null && now - worker.reportedAt >= stuckAfterNanos) {
                    worker.reportedAt = now;
                    Duration ranFor = Duration.ofNanos(now - worker.startedAt);
                    reports.add(() -> reporter.stuck(task, worker.thread(), ranFor));
                }
                next = Math.min(next, task == null ? stuckAfterNanos : worker.reportedAt + stuckAfterNanos - now);
            }
        } finally {
            lock.unlock();
        }
        if (!reports.isEmpty()) {
            Thread.ofVirtual().start(() -> reports.forEach(Runnable::run)); // foreign code is not for an alarm's thread
        }
        return next;
    }

    // ---- the end

    void shutdown() {
        control.advanceTo(Control.SHUTDOWN);
        callIdle();
        submitters.callAll();
        tryTerminate();
    }

    /** Stops: interrupts what runs and takes out what waits. */
    List<Runnable> stop(List<Doing> interrupted) {
        control.advanceTo(Control.STOP);
        lock.lock();
        try {
            for (Worker worker : workers) {
                Doing doing = worker.doing();
                if (doing.isRunning()) {
                    interrupted.add(doing);
                }
                worker.thread().interrupt();
            }
        } finally {
            lock.unlock();
        }
        List<Runnable> tasks = drainOut();
        handedBack.add(tasks.size());
        submitters.callAll();
        tryTerminate();
        return tasks;
    }

    private List<Runnable> drainOut() {
        List<Runnable> tasks = new ArrayList<>();
        if (builtIn != null) {
            builtIn.drainOut(tasks);
            return tasks;
        }
        queue.drainTo(tasks);
        // a queue of delayed tasks keeps those that are not due
        List<Runnable> rest = new ArrayList<>(List.of(queue.toArray(new Runnable[0])));
        if (rest.stream().allMatch(Delayed.class::isInstance)) {
            rest.sort(Comparator.comparing(Delayed.class::cast));
        }
        rest.removeIf(task -> !queue.remove(task));
        tasks.addAll(rest);
        return tasks;
    }

    /** Ends the pool if it has been shut down and nothing is left. To be called after whatever may have made it so. */
    void tryTerminate() {
        while (true) {
            int word = control.get();
            int state = Control.state(word);
            if (state == Control.RUNNING
                    || state >= Control.TIDYING
                    || (state == Control.SHUTDOWN && !queue.isEmpty())) {
                return;
            }
            if (Control.workers(word) != 0) {
                callOneIdle();
                return;
            }
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

    private void callOneIdle() {
        lock.lock();
        try {
            for (Worker worker : workers) {
                if (worker.interruptIfIdle()) {
                    return;
                }
            }
        } finally {
            lock.unlock();
        }
    }

    // ---- questions

    /** What the workers had done and were doing, in one moment of each. */
    record Account(int threads, int largest, long completed, List<Doing> running) {}

    Account account() {
        lock.lock();
        try {
            long completed = completedByLeavers;
            List<Doing> running = new ArrayList<>();
            for (Worker worker : workers) {
                Doing doing = worker.doing();
                completed += doing.completed();
                if (doing.isRunning()) {
                    running.add(doing);
                }
            }
            int threads = control.state() >= Control.TIDYING ? 0 : workers.size();
            return new Account(threads, largest, completed, running);
        } finally {
            lock.unlock();
        }
    }

    long removedTasks() {
        return builtIn == null ? removed.sum() : builtIn.takenByOthers();
    }

    boolean remove(Runnable task) {
        boolean found = queue.remove(task);
        if (found && builtIn == null) {
            removed.increment();
            callSubmitter();
        }
        tryTerminate();
        return found;
    }

    void purge() {
        if (builtIn != null) {
            builtIn.removeIf(Crew::isCancelled);
        } else {
            removed.add(purgeForeign());
            callSubmitter();
        }
        tryTerminate();
    }

    private static boolean isCancelled(Runnable task) {
        return task instanceof Future<?> future && future.isCancelled();
    }

    private long purgeForeign() {
        long purged = 0;
        try {
            for (Iterator<Runnable> tasks = queue.iterator(); tasks.hasNext(); ) {
                if (isCancelled(tasks.next())) {
                    tasks.remove();
                    purged++;
                }
            }
        } catch (ConcurrentModificationException changed) { // a queue whose iterator does not bear what others do
            for (Object task : queue.toArray()) {
                if (isCancelled((Runnable) task) && queue.remove(task)) {
                    purged++;
                }
            }
        }
        return purged;
    }
}
