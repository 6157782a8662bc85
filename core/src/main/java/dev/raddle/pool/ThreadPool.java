package dev.raddle.pool;

import dev.raddle.pool.Worker.Doing;
import dev.raddle.task.Rejectable;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import dev.raddle.time.UserCode;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.PrimitiveIterator;
import java.util.concurrent.AbstractExecutorService;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.ToIntFunction;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Platform threads that stop without losing work. By contract a {@link java.util.concurrent.ThreadPoolExecutor}, with a
 * faster queue of its own and an account of every task.
 *
 * {@snippet :
 * ThreadPool pool = ThreadPool.builder("reports")
 *         .threads(8)
 *         .queueCapacity(1000)
 *         .rejection(new ThreadPool.BlockPolicy())
 *         .build();
 * pool.execute(() -> render(report));
 *
 * ShutdownReport report = pool.drain(Duration.ofSeconds(20));
 * report.handedBack().forEach(task -> journal.append(task.task()));
 * }
 *
 * <p><b>What happens to a task.</b> While fewer than {@code coreThreads} threads exist, a submitted task gets a new one.
 * Then it is queued. If the queue is full, it gets a new thread up to {@code maxThreads}; then the {@link RejectionHandler}
 * decides. Threads beyond the core size end when they have had nothing to do for the keep-alive time. What a task throws
 * that was given to {@code execute} reaches {@link #afterExecute} and then the uncaught exception handler of its thread,
 * which ends and is replaced.
 *
 * <p><b>What differs from {@code ThreadPoolExecutor}.</b> If no thread can be had for a queued task, it is rejected instead
 * of being left in the queue. {@link #terminated()} is called outside every lock. In a pool that was built by a
 * {@link Builder}, {@link #afterExecute} is called although {@link #beforeExecute} has thrown.
 *
 * <p>Memory consistency effects: actions before a task is submitted <i>happen-before</i> the task, whose actions
 * <i>happen-before</i> the return of {@link Future#get()} and of an {@link #awaitTermination} that answers true.
 *
 * @see <a href="https://docs.oracle.com/en/java/javase/25/docs/api/java.base/java/util/concurrent/ThreadPoolExecutor.html">
 *     ThreadPoolExecutor, whose contract this class keeps</a>
 */
public class ThreadPool extends AbstractExecutorService {

    private static final Duration LAST_WAIT = Duration.ofSeconds(5);

    private final String name;
    private final TimeSource time;
    private final BlockingQueue<Runnable> queue;
    private final Intake intake; // the same queue, as the pool sees it
    private final Reporter reporter;
    private final Crew crew;
    private final Duration lastWait;
    private final boolean cancelHandedBack;
    private final LongAdder rejections = new LongAdder();
    private volatile RejectionHandler rejection;

    /** The states of a pool, which only ever move forward. */
    public enum RunState {
        /** Tasks are accepted and run. */
        RUNNING,
        /** No task is accepted any more; those that were are run. */
        SHUTDOWN,
        /** No task is started any more; those that run have been interrupted. */
        STOP,
        /** No task and no thread is left; {@link ThreadPool#terminated()} is running. */
        TIDYING,
        /** All is over. */
        TERMINATED
    }

    /**
     * What a pool is doing and has done. {@link #accepted()} is exact when the pool is quiet.
     *
     * @param runState its state
     * @param coreThreads the core size
     * @param maxThreads the largest size allowed
     * @param threads how many threads there are
     * @param largestThreads how many there have been at most at a time
     * @param active how many tasks run or have a new thread that is about to run them
     * @param queued how many tasks wait
     * @param completed how many tasks have ended, normally or not
     * @param rejected how many were not accepted
     * @param handedBack how many were accepted, and given back by {@link #shutdownNow()} or {@link #drain}
     * @param removed how many were accepted, and taken out of the queue by others
     */
    public record Stats(
            RunState runState,
            int coreThreads,
            int maxThreads,
            int threads,
            int largestThreads,
            int active,
            long queued,
            long completed,
            long rejected,
            long handedBack,
            long removed) {

        /**
         * Returns how many tasks have been accepted.
         *
         * @return those that ended, run, wait, were handed back and were removed
         */
        public long accepted() {
            return completed + active + queued + handedBack + removed;
        }
    }

    /**
     * Creates a pool with the JDK's default thread factory and an {@link AbortPolicy}.
     *
     * @param corePoolSize how many threads to keep, at least 0
     * @param maximumPoolSize how many threads there may be, at least 1 and at least the core size
     * @param keepAliveTime how long a thread beyond the core size may be idle, at least 0
     * @param unit of the keep-alive time
     * @param workQueue where tasks wait
     * @throws IllegalArgumentException if a number is out of its range
     */
    public ThreadPool(
            int corePoolSize,
            int maximumPoolSize,
            long keepAliveTime,
            TimeUnit unit,
            BlockingQueue<Runnable> workQueue) {
        this(
                corePoolSize,
                maximumPoolSize,
                keepAliveTime,
                unit,
                workQueue,
                Executors.defaultThreadFactory(),
                new AbortPolicy());
    }

    /**
     * Creates a pool with an {@link AbortPolicy}.
     *
     * @param corePoolSize how many threads to keep, at least 0
     * @param maximumPoolSize how many threads there may be, at least 1 and at least the core size
     * @param keepAliveTime how long a thread beyond the core size may be idle, at least 0
     * @param unit of the keep-alive time
     * @param workQueue where tasks wait
     * @param threadFactory makes the threads
     * @throws IllegalArgumentException if a number is out of its range
     */
    public ThreadPool(
            int corePoolSize,
            int maximumPoolSize,
            long keepAliveTime,
            TimeUnit unit,
            BlockingQueue<Runnable> workQueue,
            ThreadFactory threadFactory) {
        this(corePoolSize, maximumPoolSize, keepAliveTime, unit, workQueue, threadFactory, new AbortPolicy());
    }

    /**
     * Creates a pool with the JDK's default thread factory.
     *
     * @param corePoolSize how many threads to keep, at least 0
     * @param maximumPoolSize how many threads there may be, at least 1 and at least the core size
     * @param keepAliveTime how long a thread beyond the core size may be idle, at least 0
     * @param unit of the keep-alive time
     * @param workQueue where tasks wait
     * @param handler decides about tasks that are not accepted
     * @throws IllegalArgumentException if a number is out of its range
     */
    public ThreadPool(
            int corePoolSize,
            int maximumPoolSize,
            long keepAliveTime,
            TimeUnit unit,
            BlockingQueue<Runnable> workQueue,
            RejectionHandler handler) {
        this(corePoolSize, maximumPoolSize, keepAliveTime, unit, workQueue, Executors.defaultThreadFactory(), handler);
    }

    /**
     * Creates a pool.
     *
     * @param corePoolSize how many threads to keep, at least 0
     * @param maximumPoolSize how many threads there may be, at least 1 and at least the core size
     * @param keepAliveTime how long a thread beyond the core size may be idle, at least 0
     * @param unit of the keep-alive time
     * @param workQueue where tasks wait
     * @param threadFactory makes the threads
     * @param handler decides about tasks that are not accepted
     * @throws IllegalArgumentException if a number is out of its range
     */
    public ThreadPool(
            int corePoolSize,
            int maximumPoolSize,
            long keepAliveTime,
            TimeUnit unit,
            BlockingQueue<Runnable> workQueue,
            ThreadFactory threadFactory,
            RejectionHandler handler) {
        this(new Builder("thread-pool")
                .asInTheJdk()
                .sizes(corePoolSize, maximumPoolSize)
                .keepAlive(Duration.ofNanos(unit.toNanos(keepAliveTime)))
                .queue(workQueue)
                .threadFactory(threadFactory)
                .rejection(handler));
    }

    /**
     * Creates a pool with the JDK's default thread factory, and with a handler that was written for a {@code ThreadPoolExecutor}.
     *
     * @param corePoolSize how many threads to keep, at least 0
     * @param maximumPoolSize how many threads there may be, at least 1 and at least the core size
     * @param keepAliveTime how long a thread beyond the core size may be idle, at least 0
     * @param unit of the keep-alive time
     * @param workQueue where tasks wait
     * @param handler decides about tasks that are not accepted; it is shown an executor that does what this pool does
     * @throws IllegalArgumentException if a number is out of its range
     * @see RejectionHandler#from
     */
    public ThreadPool(
            int corePoolSize,
            int maximumPoolSize,
            long keepAliveTime,
            TimeUnit unit,
            BlockingQueue<Runnable> workQueue,
            RejectedExecutionHandler handler) {
        this(corePoolSize, maximumPoolSize, keepAliveTime, unit, workQueue, RejectionHandler.from(handler));
    }

    /**
     * Creates a pool with a handler that was written for a {@code ThreadPoolExecutor}.
     *
     * @param corePoolSize how many threads to keep, at least 0
     * @param maximumPoolSize how many threads there may be, at least 1 and at least the core size
     * @param keepAliveTime how long a thread beyond the core size may be idle, at least 0
     * @param unit of the keep-alive time
     * @param workQueue where tasks wait
     * @param threadFactory makes the threads
     * @param handler decides about tasks that are not accepted; it is shown an executor that does what this pool does
     * @throws IllegalArgumentException if a number is out of its range
     * @see RejectionHandler#from
     */
    public ThreadPool(
            int corePoolSize,
            int maximumPoolSize,
            long keepAliveTime,
            TimeUnit unit,
            BlockingQueue<Runnable> workQueue,
            ThreadFactory threadFactory,
            RejectedExecutionHandler handler) {
        this(
                corePoolSize,
                maximumPoolSize,
                keepAliveTime,
                unit,
                workQueue,
                threadFactory,
                RejectionHandler.from(handler));
    }

    /**
     * Creates the pool that a builder describes: for subclasses.
     *
     * @param builder says how it shall be
     * @throws IllegalArgumentException if the sizes do not fit together
     */
    @SuppressWarnings("this-escape") // the crew calls back when a task has been submitted, not before
    protected ThreadPool(Builder builder) {
        builder.check();
        name = builder.name;
        time = builder.timeSource;
        lastWait = builder.stuckAfter == null ? LAST_WAIT : builder.stuckAfter;
        cancelHandedBack = builder.cancelHandedBack;
        rejection = builder.rejection;
        reporter = new Reporter(name, time, builder.listener, builder.stuckAfter != null);
        Intake intake;
        if (builder.queue == null) {
            TaskQueue own = new TaskQueue(builder.queueCapacity, builder.priority, time, reporter::isOn);
            queue = own;
            intake = own;
        } else {
            queue = builder.queue;
            intake = new ForeignQueue(builder.queue);
        }
        this.intake = intake;
        crew = new Crew(this, builder, intake, reporter);
    }

    /**
     * Returns a builder for a pool with as many threads as processors and an unbounded queue.
     *
     * @param name what the pool is called in reports, and the beginning of its threads' names
     * @return a new builder
     */
    public static Builder builder(String name) {
        return new Builder(name);
    }

    /**
     * Returns the pool's name.
     *
     * @return what the builder was given
     */
    public String name() {
        return name;
    }

    boolean looksAtTheClock() {
        return reporter.isWatching();
    }

    // ---- work

    /**
     * Runs a task at some time in the future, in a new thread of the pool or in an old one.
     *
     * @param task what to run
     * @throws RejectedExecutionException if it is not accepted and the {@link RejectionHandler} says so
     */
    @Override
    public void execute(Runnable task) {
        if (!tryExecute(Objects.requireNonNull(task, "task"))) {
            reject(task);
        }
    }

    private boolean tryExecute(Runnable task) {
        boolean accepted = crew.accept(task);
        if (accepted && reporter.isOn()) {
            reporter.accepted(task);
        }
        return accepted;
    }

    private void reject(Runnable task) {
        RejectionHandler handler = rejection;
        if (!(handler instanceof BlockPolicy)) { // which may still get it accepted, and says so if not
            noteRejected(task);
        }
        handler.rejected(task, this);
    }

    private void noteRejected(Runnable task) {
        rejections.increment();
        reporter.rejected(task);
    }

    private String reason() {
        return isShutdown() ? "it has been shut down" : getPoolSize() == 0 ? "no thread was to be had" : "it is full";
    }

    private RejectedExecutionException rejected(Runnable task, String why) {
        Roster.Account account = crew.roster.account();
        return new RejectedExecutionException("task " + UserCode.textOf(PooledTask.given(task))
                + " was rejected by pool \"" + name
                + "\": " + why + "; " + account.active() + " of " + crew.maxThreads + " threads are running tasks, "
                + queue.size() + " tasks are waiting, room is left for " + queue.remainingCapacity());
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> callable) {
        return new PooledTask<>(callable);
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Runnable runnable, T value) {
        return new PooledTask<>(runnable, value);
    }

    @Override
    public <T extends @Nullable Object> T invokeAny(Collection<? extends Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        return new Contest(this).invokeAny(tasks);
    }

    @Override
    public <T extends @Nullable Object> T invokeAny(
            Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return new Contest(this).invokeAny(tasks, timeout, unit);
    }

    /**
     * Called in a worker's thread before each task. If it throws, the task is skipped, and cancelled if it is a future; then
     * {@link #afterExecute} hears what was thrown, unless the pool was created by one of the constructors that the JDK's
     * class has as well: there it is not called, as in the JDK. This one does nothing.
     *
     * @param thread the thread that will run the task
     * @param task what will be run
     */
    protected void beforeExecute(Thread thread, Runnable task) {}

    /**
     * Called in a worker's thread after each task. This one does nothing. A future keeps what its callable throws, so for a
     * task that was submitted {@code failure} is null and the future knows more.
     *
     * @param task what was run
     * @param failure what it or {@link #beforeExecute} threw, or null
     */
    protected void afterExecute(Runnable task, @Nullable Throwable failure) {}

    /** Called once, in the thread that made the pool end, before {@link #awaitTermination} returns. This one does nothing. */
    protected void terminated() {}

    // ---- the end

    /** Accepts no task from now on. Those that were accepted are run; what runs is not interrupted. Does not wait. */
    @Override
    public void shutdown() {
        crew.shutdown();
    }

    /**
     * Accepts and starts no task from now on, and interrupts those that run. Does not wait.
     *
     * <p>Futures that are handed back are cancelled first, so that no thread waits for them for ever, unless the pool was built
     * with {@link Builder#cancelHandedBack cancelHandedBack(false)} or created by one of the constructors that the JDK's class
     * has as well. In a pool of these constructors a task that was given to a new thread runs, interrupted, although that thread
     * has not begun; in a pool from the builder it is handed back.
     *
     * @return the tasks that were accepted and never started, in the order in which they would have; those that are
     *     {@link Rejectable} have been rejected
     */
    @Override
    public List<Runnable> shutdownNow() {
        List<Runnable> tasks = stop(interrupted -> {});
        cancelIfWanted(tasks);
        return tasks;
    }

    List<Runnable> stop(Consumer<Doing> interrupted) {
        if (!reporter.isOn()) {
            return crew.stop(interrupted, moment -> {});
        }
        LongStream.Builder moments = LongStream.builder();
        List<Runnable> tasks = crew.stop(interrupted, moments);
        PrimitiveIterator.OfLong acceptedAt = moments.build().iterator();
        tasks.forEach(task -> reporter.handedBack(task, acceptedAt.nextLong()));
        return tasks;
    }

    void cancelIfWanted(List<Runnable> tasks) {
        tasks.forEach(task -> cancelIfWanted(task, "was handed back by pool"));
    }

    private void cancelIfWanted(Runnable task, String what) {
        if (!Rejectable.reject(task, what + " \"" + name + "\", " + reasonToDrop()) && cancelHandedBack) {
            cancel(task);
        }
    }

    private String reasonToDrop() {
        return isShutdown() ? "which was shut down" : "which is full";
    }

    private static void cancel(Runnable task) {
        if (task instanceof Future<?> future) {
            future.cancel(false);
        }
    }

    /**
     * Shuts down, lets what was accepted end, and says what became of every task.
     *
     * <p>When the grace is over, what waits is handed back and what runs is interrupted, and waited for once more: for
     * {@code stuckAfter}, or 5 seconds if the builder was not told. What runs on is reported with its stack. If the caller is
     * interrupted, the grace is over at once, and its interrupt flag is set again in the end. A worker that drains its own
     * pool waits for itself until then.
     *
     * @param grace how long to wait before anything is interrupted; zero or less does not wait
     * @return the account
     */
    public ShutdownReport drain(Duration grace) {
        return new Drain(this, crew, time).run(Objects.requireNonNull(grace, "grace"), lastWait);
    }

    /**
     * Drains pools when the JVM shuts down, one after the other. One grace serves all of them; each may need its last wait
     * besides.
     *
     * @param grace how long all of them together may take before what runs is interrupted
     * @param reports receives each pool's report, in the hook's thread
     * @param inOrder the pools, those that feed others first
     * @return the hook, to take it away again
     * @throws IllegalStateException if the JVM is shutting down already
     */
    public static ExitHook drainOnExit(
            Duration grace, Consumer<? super ShutdownReport> reports, ThreadPool... inOrder) {
        return new ExitHook(grace, reports, List.of(inOrder));
    }

    /** A JVM shutdown hook that drains pools. */
    public static final class ExitHook implements AutoCloseable {
        private final Thread thread;

        private ExitHook(Duration grace, Consumer<? super ShutdownReport> reports, List<ThreadPool> pools) {
            Objects.requireNonNull(grace, "grace");
            Objects.requireNonNull(reports, "reports");
            thread = Thread.ofPlatform()
                    .name("raddle-drain-on-exit")
                    .inheritInheritableThreadLocals(false) // it lives as long as the JVM
                    .unstarted(() -> run(grace, reports, pools));
            thread.setContextClassLoader(Thread.currentThread().getContextClassLoader()); // for `reports`
            Runtime.getRuntime().addShutdownHook(thread);
        }

        private static void run(Duration grace, Consumer<? super ShutdownReport> reports, List<ThreadPool> pools) {
            Deadline deadline = Deadline.after(TimeSource.system(), grace);
            for (ThreadPool pool : pools) {
                try {
                    reports.accept(pool.drain(deadline.remaining()));
                } catch (Throwable failure) {
                    Reporter.report(failure); // the other pools are drained all the same
                }
            }
        }

        /** Takes the hook away: the pools are not drained at exit. Does nothing once the JVM is shutting down. */
        @Override
        public void close() {
            try {
                Runtime.getRuntime().removeShutdownHook(thread);
            } catch (IllegalStateException shuttingDown) {
                // too late: the hook runs or has run
            }
        }
    }

    /**
     * Returns the run state.
     *
     * @return the state in this moment
     */
    public RunState runState() {
        return RunState.values()[crew.control.state()];
    }

    @Override
    public boolean isShutdown() {
        return crew.control.state() >= Control.SHUTDOWN;
    }

    /**
     * Tells whether the pool has been shut down and has not ended.
     *
     * @return true from {@link #shutdown()} or {@link #shutdownNow()} until all is over
     */
    public boolean isTerminating() {
        int state = crew.control.state();
        return state >= Control.SHUTDOWN && state < Control.TERMINATED;
    }

    @Override
    public boolean isTerminated() {
        return crew.control.state() == Control.TERMINATED;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return isTerminated() || crew.terminated.await(Deadline.after(time, Duration.ofNanos(unit.toNanos(timeout))));
    }

    // ---- the queue

    /**
     * Returns where tasks wait: the queue itself, for looking and for taking tasks out. The pool's own queue rejects what is
     * removed from it, if it is {@link Rejectable}; what {@code poll}, {@code take} and {@code drainTo} return is their caller's
     * to run or to reject. A queue that was given from outside tells nobody what is removed from it.
     *
     * @return the queue that was given, or the pool's own
     */
    public BlockingQueue<Runnable> getQueue() {
        return queue;
    }

    /**
     * Takes a task out of the queue, so that it is not run; one that is {@link Rejectable} is rejected. A task that
     * {@code submit} made is found as the future that {@code submit} returned.
     *
     * @param task what shall not run
     * @return true if it was waiting
     */
    public boolean remove(Runnable task) {
        boolean found = intake.remove(task);
        crew.tryTerminate();
        return found;
    }

    /** Takes those futures out of the queue that have been cancelled. */
    public void purge() {
        intake.purge();
        crew.tryTerminate();
    }

    /**
     * Returns how many tasks the pool's own queue may hold.
     *
     * @return {@link Integer#MAX_VALUE} if it has no bound
     * @throws IllegalStateException if the queue was given from outside
     */
    public int getQueueCapacity() {
        return ownQueue().capacity();
    }

    /**
     * Sets how many tasks the pool's own queue may hold, at once. What lies beyond a lower bound stays.
     *
     * @param capacity at least 1; {@link Integer#MAX_VALUE} means no bound
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if the queue was given from outside
     */
    public void setQueueCapacity(int capacity) {
        ownQueue().setCapacity(Builder.atLeast("queueCapacity", 1, capacity));
    }

    private TaskQueue ownQueue() {
        if (queue instanceof TaskQueue own) {
            return own;
        }
        throw new IllegalStateException("pool \"" + name + "\" was given a "
                + queue.getClass().getName() + "; the capacity of a queue from outside is set there");
    }

    // ---- settings

    /**
     * Sets the core size. Idle threads beyond a smaller one end; for a larger one, threads are started for tasks that wait.
     *
     * @param corePoolSize from 0 to the maximum
     * @throws IllegalArgumentException if it is out of this range
     */
    public void setCorePoolSize(int corePoolSize) {
        Builder.atLeast("corePoolSize", 0, corePoolSize);
        Builder.atLeast("maximumPoolSize, with a corePoolSize of " + corePoolSize + ",", corePoolSize, crew.maxThreads);
        int more = corePoolSize - crew.coreThreads;
        crew.coreThreads = corePoolSize;
        if (crew.control.workers() > corePoolSize) {
            crew.callIdle();
        } else {
            for (int left = Math.min(more, queue.size()); left > 0 && crew.hire(null, true); left--) {
                if (queue.isEmpty()) {
                    return;
                }
            }
        }
    }

    /**
     * Returns the core size.
     *
     * @return how many threads are kept
     */
    public int getCorePoolSize() {
        return crew.coreThreads;
    }

    /**
     * Sets the largest size. Idle threads beyond a smaller one end at once, busy ones after their task.
     *
     * @param maximumPoolSize at least 1 and at least the core size
     * @throws IllegalArgumentException if it is out of this range
     */
    public void setMaximumPoolSize(int maximumPoolSize) {
        Builder.atLeast("maximumPoolSize", Math.max(1, crew.coreThreads), maximumPoolSize);
        crew.maxThreads = maximumPoolSize;
        if (crew.control.workers() > maximumPoolSize) {
            crew.callIdle();
        } else {
            crew.callSubmitters();
        }
    }

    /**
     * Returns the largest size.
     *
     * @return how many threads there may be
     */
    public int getMaximumPoolSize() {
        return crew.maxThreads;
    }

    /**
     * Sets how long threads that may end wait for a task, with effect on those that wait now.
     *
     * @param length at least 0, and more if core threads may end
     * @param unit of the length
     * @throws IllegalArgumentException if it is out of this range
     */
    public void setKeepAliveTime(long length, TimeUnit unit) {
        checkKeepAlive(length, crew.coreTimeout);
        crew.keepAliveNanos = unit.toNanos(length);
        crew.keepAliveChanged();
    }

    /**
     * Returns how long threads that may end wait for a task.
     *
     * @param unit of the answer
     * @return the keep-alive time, rounded down
     */
    public long getKeepAliveTime(TimeUnit unit) {
        return unit.convert(crew.keepAliveNanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Sets whether core threads end as well when they have been idle for the keep-alive time.
     *
     * @param value true if they do
     * @throws IllegalArgumentException if they shall and the keep-alive time is zero
     */
    public void allowCoreThreadTimeOut(boolean value) {
        checkKeepAlive(crew.keepAliveNanos, value);
        if (value != crew.coreTimeout) {
            crew.coreTimeout = value;
            if (value) {
                crew.callIdle();
            }
        }
    }

    private static void checkKeepAlive(long length, boolean coreTimeout) {
        if (length < 0 || (length == 0 && coreTimeout)) {
            throw new IllegalArgumentException("keepAliveTime must be " + (coreTimeout ? "more than" : "at least")
                    + " 0" + (coreTimeout ? " where core threads may time out" : "") + ", was " + length);
        }
    }

    /**
     * Tells whether core threads end as well when they have been idle for the keep-alive time.
     *
     * @return true if they do
     */
    public boolean allowsCoreThreadTimeOut() {
        return crew.coreTimeout;
    }

    /**
     * Sets what makes new threads.
     *
     * @param threadFactory may return null for a thread that is not to be had
     */
    public void setThreadFactory(ThreadFactory threadFactory) {
        crew.threadFactory = Objects.requireNonNull(threadFactory, "threadFactory");
    }

    /**
     * Returns what makes new threads.
     *
     * @return the factory
     */
    public ThreadFactory getThreadFactory() {
        return crew.threadFactory;
    }

    /**
     * Sets what decides about tasks that are not accepted.
     *
     * @param handler the new one
     */
    public void setRejectionHandler(RejectionHandler handler) {
        rejection = Objects.requireNonNull(handler, "handler");
    }

    /**
     * Returns what decides about tasks that are not accepted.
     *
     * @return the handler
     */
    public RejectionHandler getRejectionHandler() {
        return rejection;
    }

    /**
     * Sets what decides about tasks that are not accepted, as a {@code ThreadPoolExecutor} has it.
     *
     * @param handler the new one; it is shown an executor that does what this pool does
     * @see RejectionHandler#from
     */
    public void setRejectedExecutionHandler(RejectedExecutionHandler handler) {
        setRejectionHandler(RejectionHandler.from(Objects.requireNonNull(handler, "handler")));
    }

    /**
     * Returns what decides about tasks that are not accepted, as it was given.
     *
     * @return a {@link RejectionHandler}, or a handler for a {@code ThreadPoolExecutor}
     */
    public RejectedExecutionHandler getRejectedExecutionHandler() {
        RejectionHandler handler = rejection;
        return handler instanceof JdkRejection jdk ? jdk.handler : handler;
    }

    /**
     * Starts a core thread that waits for tasks.
     *
     * @return false if all core threads have been started
     */
    public boolean prestartCoreThread() {
        return crew.hire(null, true);
    }

    /**
     * Starts all core threads.
     *
     * @return how many were started
     */
    public int prestartAllCoreThreads() {
        int started = 0;
        while (crew.hire(null, true)) {
            started++;
        }
        return started;
    }

    // ---- counts

    /**
     * Returns how many threads there are.
     *
     * @return a number that may be old when it arrives
     */
    public int getPoolSize() {
        return threads(crew.roster.account());
    }

    /** A worker that has left the count is still on the roster for a moment; when all have, nobody is there. */
    private int threads(Roster.Account account) {
        return crew.control.state() >= Control.TIDYING ? 0 : account.threads();
    }

    /**
     * Returns how many threads run tasks.
     *
     * @return a number that may be old when it arrives
     */
    public int getActiveCount() {
        return crew.roster.account().active();
    }

    /**
     * Returns how many threads there have been at most at a time.
     *
     * @return a number that only grows
     */
    public int getLargestPoolSize() {
        return crew.roster.account().largest();
    }

    /**
     * Returns how many tasks have ended, run and wait.
     *
     * @return a number that is exact when the pool is quiet
     */
    public long getTaskCount() {
        Roster.Account account = crew.roster.account();
        return account.completed() + account.active() + queue.size();
    }

    /**
     * Returns how many tasks have ended, normally or not.
     *
     * @return a number that only grows
     */
    public long getCompletedTaskCount() {
        return crew.roster.account().completed();
    }

    /**
     * Returns all counts. Threads and their tasks are read in one moment, the rest right after it.
     *
     * @return a new record
     */
    public Stats stats() {
        Roster.Account account = crew.roster.account();
        return new Stats(
                runState(),
                crew.coreThreads,
                crew.maxThreads,
                threads(account),
                account.largest(),
                account.active(),
                queue.size(),
                account.completed(),
                rejections.sum(),
                crew.handedBack.sum(),
                intake.takenByOthers());
    }

    @Override
    public String toString() {
        Roster.Account account = crew.roster.account();
        int state = crew.control.state();
        String word =
                state == Control.RUNNING ? "Running" : state == Control.TERMINATED ? "Terminated" : "Shutting down";
        return super.toString() + "[" + word + ", pool size = " + threads(account) + ", active threads = "
                + account.active() + ", queued tasks = " + queue.size() + ", completed tasks = " + account.completed()
                + "]";
    }

    // ---- what becomes of rejected tasks

    /** Throws {@link RejectedExecutionException}: the submitter decides. */
    public static class AbortPolicy implements RejectionHandler {
        /** Creates one. */
        public AbortPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            throw pool.rejected(task, pool.reason());
        }
    }

    /** Runs the task in the thread that submits it, and drops it if the pool has been shut down. */
    public static class CallerRunsPolicy implements RejectionHandler {
        /** Creates one. */
        public CallerRunsPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            if (pool.isShutdown()) {
                pool.drop(task);
            } else {
                task.run();
            }
        }
    }

    /** Drops the task; cancels it if it is a future and the pool was built with {@code cancelHandedBack}. */
    public static class DiscardPolicy implements RejectionHandler {
        /** Creates one. */
        public DiscardPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            pool.drop(task);
        }
    }

    /**
     * Drops the task that has waited longest, as {@link DiscardPolicy} does, and submits the new one again. If no task waits and
     * there is no room either, as in a {@link java.util.concurrent.SynchronousQueue}, the new one is dropped.
     */
    public static class DiscardOldestPolicy implements RejectionHandler {
        /** Creates one. */
        public DiscardOldestPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            boolean foundNone = pool.intake.handsOver(); // no task ever waits there for it to take the place of
            do {
                Runnable oldest = pool.isShutdown() ? null : pool.intake.discard();
                if (oldest != null) {
                    pool.drop(oldest);
                    pool.crew.tryTerminateQuietly(); // it may have been the last of a pool shut down meanwhile
                } else if (foundNone || pool.isShutdown()) {
                    pool.drop(task);
                    return;
                }
                foundNone = oldest == null; // a worker was faster; or no thread is available, and it will be none again
            } while (!pool.tryExecute(task));
        }
    }

    private void drop(Runnable task) {
        cancelIfWanted(task, "was dropped by pool");
    }

    /**
     * Makes the submitter wait until there is room. A worker of the same pool does not wait for itself and its like: it runs
     * the task.
     */
    public static class BlockPolicy implements RejectionHandler {
        private final @Nullable Duration timeout;

        /** Creates one that waits for as long as it takes. */
        public BlockPolicy() {
            timeout = null;
        }

        /**
         * Creates one that waits for a while.
         *
         * @param timeout how long
         */
        public BlockPolicy(Duration timeout) {
            this.timeout = Objects.requireNonNull(timeout, "timeout");
        }

        /**
         * Waits until the task is accepted.
         *
         * @throws RejectedExecutionException if the pool is shut down, the timeout has passed, or the submitter is interrupted;
         *     its interrupt flag is set then
         */
        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            if (pool.isWorker(Thread.currentThread()) && !pool.isShutdown()) {
                task.run();
                return;
            }
            String failure = pool.awaitRoom(task, timeout);
            if (failure != null) {
                pool.noteRejected(task);
                throw pool.rejected(task, failure);
            }
        }
    }

    private boolean isWorker(Thread thread) {
        return crew.roster.hasAny(worker -> worker.thread() == thread);
    }

    /** Waits until a task is accepted, and returns null; or why it was not. */
    private @Nullable String awaitRoom(Runnable task, @Nullable Duration timeout) {
        if (timeout != null && !timeout.isPositive()) {
            return reason();
        }
        WaitingRoom.Place place = crew.placeOf(task);
        Alarm alarm = timeout == null ? () -> true : time.after(timeout, place::expire);
        try {
            if (!crew.acceptWhenRoom(task, place)) {
                return timeout == null || !place.isExpired() ? reason() : "no room came within " + timeout;
            }
        } catch (InterruptedException calledOff) {
            Thread.currentThread().interrupt();
            return "its submitter was interrupted while it waited for room";
        } finally {
            alarm.cancel();
        }
        if (reporter.isOn()) {
            reporter.accepted(task);
        }
        return null;
    }

    // ---- how it is built

    /** Says how a pool shall be. For one thread; may be used for several pools. */
    public static final class Builder {
        final String name;
        int coreThreads = Runtime.getRuntime().availableProcessors();
        int maxThreads = coreThreads;
        Duration keepAlive = Duration.ofSeconds(60);
        boolean coreTimeout;
        int queueCapacity = Integer.MAX_VALUE;

        @Nullable
        BlockingQueue<Runnable> queue;

        @Nullable
        ToIntFunction<Object> priority;

        @Nullable
        ThreadFactory threadFactory;

        RejectionHandler rejection = new AbortPolicy();
        TimeSource timeSource = TimeSource.system();

        @Nullable
        PoolListener listener;

        @Nullable
        Duration stuckAfter;

        boolean asInTheJdk; // where the JDK's contract was completed, its letter counts
        boolean scaleBeforeQueueing;
        boolean cancelHandedBack = true;

        Builder(String name) {
            this.name = Objects.requireNonNull(name, "name");
        }

        /**
         * Sets how many threads are kept. A maximum that is smaller is raised to it.
         *
         * @param count at least 0; the default is the number of processors
         * @return this builder
         * @throws IllegalArgumentException if it is less
         */
        public Builder coreThreads(int count) {
            coreThreads = atLeast("coreThreads", 0, count);
            maxThreads = Math.max(maxThreads, count);
            return this;
        }

        /**
         * Sets how many threads there may be. A core size that is larger is lowered to it.
         *
         * @param count at least 1; the default is the number of processors
         * @return this builder
         * @throws IllegalArgumentException if it is less
         */
        public Builder maxThreads(int count) {
            maxThreads = atLeast("maxThreads", 1, count);
            coreThreads = Math.min(coreThreads, count);
            return this;
        }

        /**
         * Sets the core size and the maximum to one number.
         *
         * @param count at least 1
         * @return this builder
         * @throws IllegalArgumentException if it is less
         */
        public Builder threads(int count) {
            return sizes(atLeast("threads", 1, count), count);
        }

        Builder asInTheJdk() {
            asInTheJdk = true;
            cancelHandedBack = false;
            return this;
        }

        private Builder sizes(int core, int max) {
            coreThreads = core;
            maxThreads = max;
            return this;
        }

        /**
         * Sets how many tasks the pool's own queue may hold.
         *
         * @param tasks at least 1; the default, {@link Integer#MAX_VALUE}, means no bound
         * @return this builder
         * @throws IllegalArgumentException if it is less than 1
         */
        public Builder queueCapacity(int tasks) {
            queueCapacity = atLeast("queueCapacity", 1, tasks);
            return this;
        }

        /**
         * Makes the pool use another queue than its own, which then bounds and orders the tasks itself.
         *
         * @param foreign any blocking queue that is used for nothing else
         * @return this builder
         */
        public Builder queue(BlockingQueue<Runnable> foreign) {
            queue = Objects.requireNonNull(foreign, "queue");
            return this;
        }

        /**
         * Makes the pool's own queue serve tasks of a higher priority first, and those of one priority in order of arrival.
         *
         * @param rank gives the priority of a {@link Runnable} or {@link Callable} as it was submitted; called in the
         *     submitter's thread whenever the task is brought to the queue
         * @return this builder
         */
        public Builder priority(ToIntFunction<Object> rank) {
            priority = Objects.requireNonNull(rank, "priority");
            return this;
        }

        /**
         * Sets how long a thread that may end waits for a task.
         *
         * @param length not negative; the default is 60 seconds
         * @return this builder
         * @throws IllegalArgumentException if it is negative
         */
        public Builder keepAlive(Duration length) {
            if (length.isNegative()) {
                throw new IllegalArgumentException("keepAlive must not be negative, was " + length);
            }
            keepAlive = length;
            return this;
        }

        /**
         * Sets whether core threads end as well when they have been idle for the keep-alive time.
         *
         * @param value true if they do; the default is false
         * @return this builder
         */
        public Builder allowCoreTimeout(boolean value) {
            coreTimeout = value;
            return this;
        }

        /**
         * Sets what makes threads.
         *
         * @param factory the default makes platform threads that inherit no thread-locals, called {@code name-1} and so on
         * @return this builder
         */
        public Builder threadFactory(ThreadFactory factory) {
            threadFactory = Objects.requireNonNull(factory, "threadFactory");
            return this;
        }

        /**
         * Sets what decides about tasks that are not accepted.
         *
         * @param handler the default is an {@link AbortPolicy}
         * @return this builder
         */
        public Builder rejection(RejectionHandler handler) {
            rejection = Objects.requireNonNull(handler, "rejection");
            return this;
        }

        /**
         * Sets what time it is.
         *
         * @param time the default is {@link TimeSource#system()}
         * @return this builder
         */
        public Builder timeSource(TimeSource time) {
            timeSource = UserCode.clock(Objects.requireNonNull(time, "timeSource"), UserCode::uncaught);
            return this;
        }

        /**
         * Sets who hears of every task.
         *
         * @param hears the default is nobody
         * @return this builder
         */
        public Builder listener(PoolListener hears) {
            listener = Objects.requireNonNull(hears, "listener");
            return this;
        }

        /**
         * Reports tasks that run for long, with their stack, once in each such interval: to the listener, or to the log if
         * there is none. The last wait of {@link ThreadPool#drain} is as long.
         *
         * @param length more than zero; the default is not to watch, and to wait for 5 seconds in the end
         * @return this builder
         * @throws IllegalArgumentException if it is zero or less
         */
        public Builder stuckAfter(Duration length) {
            if (!length.isPositive()) {
                throw new IllegalArgumentException("stuckAfter must be more than zero, was " + length);
            }
            stuckAfter = length;
            return this;
        }

        /**
         * Makes the pool start threads up to the maximum before it queues tasks, as web servers' pools do.
         *
         * @param value the default is false: tasks are queued once there are as many threads as the core size
         * @return this builder
         */
        public Builder scaleBeforeQueueing(boolean value) {
            scaleBeforeQueueing = value;
            return this;
        }

        /**
         * Sets whether the pool cancels the futures that it hands back or drops, so that no thread waits for them for ever.
         *
         * @param value the default is true; with false their owner may run them, and has to end them
         * @return this builder
         */
        public Builder cancelHandedBack(boolean value) {
            cancelHandedBack = value;
            return this;
        }

        /**
         * Creates the pool. No thread is started before the first task.
         *
         * @return a new pool
         * @throws IllegalArgumentException if core threads may time out after no time, or if a queue from outside was given
         *     and a capacity or priority for the pool's own
         */
        public ThreadPool build() {
            return new ThreadPool(this);
        }

        void check() {
            atLeast("corePoolSize", 0, coreThreads);
            atLeast("maximumPoolSize", Math.max(1, coreThreads), maxThreads);
            checkKeepAlive(keepAliveNanos(), coreTimeout);
            if (queue != null && (queueCapacity != Integer.MAX_VALUE || priority != null)) {
                throw new IllegalArgumentException(
                        "queueCapacity and priority are for a pool's own queue; set them in the "
                                + queue.getClass().getName() + " that was given");
            }
        }

        long keepAliveNanos() {
            return TimeUnit.NANOSECONDS.convert(keepAlive);
        }

        ThreadFactory factory() {
            return threadFactory != null
                    ? threadFactory
                    : Thread.ofPlatform()
                            .name(name + "-", 1)
                            .inheritInheritableThreadLocals(false)
                            .factory();
        }

        static int atLeast(String what, int least, int value) {
            if (value < least) {
                throw new IllegalArgumentException(what + " must be at least " + least + ", was " + value);
            }
            return value;
        }
    }
}
