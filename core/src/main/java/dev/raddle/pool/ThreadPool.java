package dev.raddle.pool;

import dev.raddle.kernel.StackRoom;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.Rejectable;
import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
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
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A pool of platform threads that stops without losing work. It keeps the contract of {@link
 * java.util.concurrent.ThreadPoolExecutor}, has a faster built-in queue, and accounts for every task.
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
 * <p><b>What happens to a task.</b> While fewer than {@code coreThreads} threads exist, a submitted task gets a new
 * thread. Otherwise it is queued. If the queue is full, it gets a new thread up to {@code maxThreads}; beyond that the
 * {@link RejectionHandler} decides. A thread beyond the core size ends after it has been idle for the keep-alive time.
 * An exception thrown by a task that was given to {@code execute} is passed to {@link #afterExecute} and then to the
 * uncaught exception handler of its thread; that thread ends and is replaced.
 *
 * <p><b>Differences from {@code ThreadPoolExecutor}.</b> If no thread is available for a queued task, the task is
 * rejected instead of being left in the queue. {@link #terminated()} is called without holding any lock. In a pool
 * built by a {@link PoolBuilder}, {@link #afterExecute} is called even if {@link #beforeExecute} has thrown.
 *
 * <p>Memory consistency effects: actions before a task is submitted <i>happen-before</i> the task, whose actions
 * <i>happen-before</i> the return of {@link Future#get()} and of an {@link #awaitTermination} that returns true.
 */
public class ThreadPool extends HookedExecutor {

    private final String name;
    final TimeSource time;
    private final ExceptionSink sink;
    private final BlockingQueue<Runnable> queue;
    private final WorkQueue workQueue; // the same queue, as seen by the workers
    private final Observation observation;
    private final @Nullable ObservedTasks observed; // of the observation
    private final Workers workers;
    private final Duration lastWait;
    private final Rejections rejections;
    private volatile RejectionHandler rejection;

    /** The run states of a pool. A pool only moves forward through them. */
    public enum RunState {
        /** The pool accepts tasks and runs them. */
        RUNNING,
        /** The pool accepts no new tasks, and runs those that it has accepted. */
        SHUTDOWN,
        /** The pool starts no more tasks, and has interrupted the running ones. */
        STOP,
        /** No task and no thread remains; {@link ThreadPool#terminated()} is running. */
        TIDYING,
        /** {@link ThreadPool#terminated()} has completed. */
        TERMINATED
    }

    /**
     * The state and the counts of a pool. {@link #accepted()} is exact when the pool is quiescent.
     *
     * @param runState the run state
     * @param coreThreads the core size
     * @param maxThreads the maximum size
     * @param threads the current number of threads
     * @param largestThreads the largest number of threads that have existed at the same time
     * @param active the number of tasks that are running, or have been given to a new thread that is about to run them
     * @param queued the number of queued tasks
     * @param completed the number of accepted tasks that have ended, normally or not
     * @param rejected the number of submissions that were not accepted, also of tasks that the handler ran in the
     *     submitter's thread, as {@link CallerRunsPolicy} does, or submitted again, which counts as another submission
     * @param handedBack the number of accepted tasks that {@link #shutdownNow()} or {@link #drain} handed back
     * @param removed the number of accepted tasks that were removed from the queue by other callers
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

        /** {@return the number of accepted tasks: completed, active, queued, handed back and removed} */
        public long accepted() {
            return completed + active + queued + handedBack + removed;
        }
    }

    /**
     * Creates a pool with the JDK's default thread factory and an {@link AbortPolicy}.
     *
     * @param core the number of threads to keep even if they are idle, at least 0
     * @param max the maximum number of threads, at least 1 and at least the core size
     * @param keepAlive the maximum idle time of a thread beyond the core size, at least 0
     * @param unit the unit of the keep-alive time
     * @param queue the queue for tasks that wait for a thread
     * @throws IllegalArgumentException if a number is out of range
     */
    public ThreadPool(int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue) {
        this(core, max, keepAlive, unit, queue, Executors.defaultThreadFactory(), new AbortPolicy());
    }

    /**
     * Creates a pool with an {@link AbortPolicy}.
     *
     * @param core the number of threads to keep even if they are idle, at least 0
     * @param max the maximum number of threads, at least 1 and at least the core size
     * @param keepAlive the maximum idle time of a thread beyond the core size, at least 0
     * @param unit the unit of the keep-alive time
     * @param queue the queue for tasks that wait for a thread
     * @param factory the factory for new threads
     * @throws IllegalArgumentException if a number is out of range
     */
    public ThreadPool(
            int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue, ThreadFactory factory) {
        this(core, max, keepAlive, unit, queue, factory, new AbortPolicy());
    }

    /**
     * Creates a pool with the JDK's default thread factory.
     *
     * @param core the number of threads to keep even if they are idle, at least 0
     * @param max the maximum number of threads, at least 1 and at least the core size
     * @param keepAlive the maximum idle time of a thread beyond the core size, at least 0
     * @param unit the unit of the keep-alive time
     * @param queue the queue for tasks that wait for a thread
     * @param handler the handler for rejected tasks
     * @throws IllegalArgumentException if a number is out of range
     */
    public ThreadPool(
            int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue, RejectionHandler handler) {
        this(core, max, keepAlive, unit, queue, Executors.defaultThreadFactory(), handler);
    }

    /**
     * Creates a pool.
     *
     * @param core the number of threads to keep even if they are idle, at least 0
     * @param max the maximum number of threads, at least 1 and at least the core size
     * @param keepAlive the maximum idle time of a thread beyond the core size, at least 0
     * @param unit the unit of the keep-alive time
     * @param queue the queue for tasks that wait for a thread
     * @param factory the factory for new threads
     * @param handler the handler for rejected tasks
     * @throws IllegalArgumentException if a number is out of range
     */
    public ThreadPool(
            int core,
            int max,
            long keepAlive,
            TimeUnit unit,
            BlockingQueue<Runnable> queue,
            ThreadFactory factory,
            RejectionHandler handler) {
        this(new PoolBuilder("thread-pool")
                .followsJdk()
                .sizes(core, max)
                .keepAlive(Duration.ofNanos(unit.toNanos(keepAlive)))
                .queue(queue)
                .threadFactory(factory)
                .rejection(handler));
    }

    /**
     * Creates a pool with the JDK's default thread factory and a handler that was written for a {@code
     * ThreadPoolExecutor}.
     *
     * @param core the number of threads to keep even if they are idle, at least 0
     * @param max the maximum number of threads, at least 1 and at least the core size
     * @param keepAlive the maximum idle time of a thread beyond the core size, at least 0
     * @param unit the unit of the keep-alive time
     * @param queue the queue for tasks that wait for a thread
     * @param handler the handler for rejected tasks; it receives an executor that stands for this pool
     * @throws IllegalArgumentException if a number is out of range
     */
    public ThreadPool(
            int core,
            int max,
            long keepAlive,
            TimeUnit unit,
            BlockingQueue<Runnable> queue,
            RejectedExecutionHandler handler) {
        this(core, max, keepAlive, unit, queue, RejectionHandler.from(handler));
    }

    /**
     * Creates a pool with a handler that was written for a {@code ThreadPoolExecutor}.
     *
     * @param core the number of threads to keep even if they are idle, at least 0
     * @param max the maximum number of threads, at least 1 and at least the core size
     * @param keepAlive the maximum idle time of a thread beyond the core size, at least 0
     * @param unit the unit of the keep-alive time
     * @param queue the queue for tasks that wait for a thread
     * @param factory the factory for new threads
     * @param handler the handler for rejected tasks; it receives an executor that stands for this pool
     * @throws IllegalArgumentException if a number is out of range
     */
    public ThreadPool(
            int core,
            int max,
            long keepAlive,
            TimeUnit unit,
            BlockingQueue<Runnable> queue,
            ThreadFactory factory,
            RejectedExecutionHandler handler) {
        this(core, max, keepAlive, unit, queue, factory, RejectionHandler.from(handler));
    }

    /**
     * Creates a pool with the settings of a builder. For subclasses.
     *
     * @param builder the builder with the settings
     * @throws IllegalArgumentException if the sizes are inconsistent
     */
    @SuppressWarnings("this-escape") // the workers call this pool only after a task has been submitted
    protected ThreadPool(PoolBuilder builder) {
        builder.check();
        name = builder.name;
        time = builder.timeSource;
        lastWait = builder.stuckAfter == null ? Duration.ofSeconds(5) : builder.stuckAfter;
        rejection = builder.rejection;
        sink = builder.propagation.sink();
        observation = new Observation(builder);
        observed = observation.tasks;
        if (builder.queue == null) {
            TaskQueue builtIn = new TaskQueue(builder, observation);
            queue = builtIn;
            workQueue = builtIn;
        } else {
            queue = builder.queue;
            workQueue = new QueueAdapter(builder.queue, observation);
        }
        workers = new Workers(this, builder, workQueue, observation);
        rejections = new Rejections(this, workers, workQueue, observation);
    }

    /**
     * Returns a builder for a pool with one thread per processor and an unbounded queue.
     *
     * @param name the name of the pool in reports, and the prefix of its threads' names
     * @return a new builder
     */
    public static PoolBuilder builder(String name) {
        return new PoolBuilder(name);
    }

    /** {@return the name given to the builder} */
    public String name() {
        return name;
    }

    // ---- submission

    /**
     * Executes the task at some time in the future, in a new or in an existing thread of the pool.
     *
     * @param task the task to execute
     * @throws RejectedExecutionException if the task is not accepted and the {@link RejectionHandler} throws it
     */
    @Override
    public void execute(Runnable task) {
        Objects.requireNonNull(task, "task");
        StackRoom.ensure();
        if (observed != null) {
            rejections.record(task); // the handler submits it again
            observed.submitted(task);
        }
        boolean accepted;
        try {
            accepted = workers.accept(task);
        } catch (Throwable failure) {
            observation.failed(task, failure);
            throw failure;
        }
        if (!accepted) {
            rejections.handle(task, rejection);
        } else if (observation.isNotified) {
            rejections.noteAccepted(task);
        }
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Callable<T> callable) {
        return observed == null ? new PooledTask<>(callable, sink) : new ObservedFuture<>(observed, callable);
    }

    @Override
    protected <T extends @Nullable Object> RunnableFuture<T> newTaskFor(Runnable runnable, T value) {
        return observed == null
                ? new PooledTask<>(runnable, value, sink)
                : new ObservedFuture<>(observed, runnable, value);
    }

    @Override
    public <T extends @Nullable Object> T invokeAny(Collection<? extends Callable<T>> tasks)
            throws InterruptedException, ExecutionException {
        try {
            return new InvokeAny<T>(this, this::newTaskFor).call(tasks, Long.MAX_VALUE);
        } catch (TimeoutException impossible) {
            throw new AssertionError(impossible);
        }
    }

    @Override
    public <T extends @Nullable Object> T invokeAny(
            Collection<? extends Callable<T>> tasks, long timeout, TimeUnit unit)
            throws InterruptedException, ExecutionException, TimeoutException {
        return new InvokeAny<T>(this, this::newTaskFor).call(tasks, unit.toNanos(timeout));
    }

    // ---- shutdown

    /**
     * Accepts no more tasks. Accepted tasks are still run, and running tasks are not interrupted. This method does not
     * wait.
     */
    @Override
    public void shutdown() {
        StackRoom.ensure();
        workers.shutdown();
    }

    /**
     * Accepts and starts no more tasks, and interrupts the running ones. This method does not wait.
     *
     * <p>Futures that are handed back are cancelled first, so that no thread waits for them forever, unless the pool
     * was built with {@link PoolBuilder#cancelHandedBack cancelHandedBack(false)} or created by a constructor that
     * {@code ThreadPoolExecutor} has as well. In a pool created by such a constructor, a task that was given to a new
     * thread runs, interrupted, even if that thread has not started to run; in a pool built by a builder the task is
     * handed back.
     *
     * @return the tasks that were accepted and never started, in the order in which they would have started; those that
     *     are {@link Rejectable} have been rejected
     */
    @Override
    public List<Runnable> shutdownNow() {
        StackRoom.ensure();
        List<Runnable> tasks = workers.stop(interrupted -> {});
        observation.reject(tasks);
        return tasks;
    }

    /**
     * Shuts down, waits until the accepted tasks have ended, and reports the outcome of every task.
     *
     * <p>After the grace period, queued tasks are handed back and running tasks are interrupted. Then this method waits
     * once more, for {@code stuckAfter}, or for 5 seconds if the builder has not set it. Tasks that are still running
     * after that are reported with their stacks. If the caller is interrupted, the grace period ends at once, and the
     * caller's interrupt flag is set again before this method returns. A worker that drains its own pool waits for
     * itself until the end of that last wait.
     *
     * @param grace the time to wait before tasks are interrupted; zero or less does not wait
     * @return the report
     */
    public ShutdownReport drain(Duration grace) {
        return new Drain(this, workers, observation).run(Objects.requireNonNull(grace, "grace"), lastWait);
    }

    /**
     * Drains pools one after the other when the JVM shuts down. They share one grace period; each may take its last
     * wait in addition.
     *
     * @param grace the time that all pools together may take before running tasks are interrupted
     * @param reports the receiver of each pool's report, called in the hook's thread
     * @param inOrder the pools in the order in which they are drained: those that submit to others first
     * @return an alarm whose {@code cancel} removes the hook, so that the pools are not drained at exit
     * @throws IllegalStateException if the JVM is already shutting down
     */
    public static Alarm drainOnExit(Duration grace, Consumer<? super ShutdownReport> reports, ThreadPool... inOrder) {
        return ExitHook.install(grace, reports, List.of(inOrder));
    }

    /** {@return the current run state} */
    public RunState runState() {
        return RunState.values()[workers.control.state()];
    }

    @Override
    public boolean isShutdown() {
        return workers.control.state() >= Control.SHUTDOWN;
    }

    /** {@return whether the pool has been shut down and has not terminated} */
    public boolean isTerminating() {
        int state = workers.control.state();
        return state >= Control.SHUTDOWN && state < Control.TERMINATED;
    }

    @Override
    public boolean isTerminated() {
        return workers.control.state() == Control.TERMINATED;
    }

    @Override
    public boolean awaitTermination(long timeout, TimeUnit unit) throws InterruptedException {
        return isTerminated()
                || workers.terminated.await(Deadline.after(time, Duration.ofNanos(unit.toNanos(timeout))));
    }

    // ---- the queue

    /**
     * Returns the task queue of this pool, for monitoring and for removing tasks. The built-in queue rejects the tasks
     * removed from it that are {@link Rejectable}; a caller of {@code poll}, {@code take} or {@code drainTo} must run
     * or reject the tasks that it receives. A user-supplied queue does not notify the pool of removals.
     *
     * @return the user-supplied queue, or the built-in one
     */
    public BlockingQueue<Runnable> getQueue() {
        return queue;
    }

    /**
     * Removes a task from the queue, so that it is not run; a {@link Rejectable} task is rejected. A task that was
     * submitted is found by the future that {@code submit} returned.
     *
     * @param task the task to remove
     * @return true if the task was queued
     */
    public boolean remove(Runnable task) {
        boolean found = workQueue.remove(task);
        workers.tryTerminate();
        return found;
    }

    /** Removes all cancelled futures from the queue. */
    public void purge() {
        workQueue.purge();
        workers.tryTerminate();
    }

    /**
     * Returns the capacity of the built-in queue.
     *
     * @return the capacity, or {@link Integer#MAX_VALUE} if the queue is unbounded
     * @throws IllegalStateException if the pool uses a user-supplied queue
     */
    public int getQueueCapacity() {
        return builtInQueue().capacity();
    }

    /**
     * Sets the capacity of the built-in queue, with immediate effect. Queued tasks beyond a smaller capacity stay
     * queued.
     *
     * @param capacity the capacity, at least 1; {@link Integer#MAX_VALUE} means unbounded
     * @throws IllegalArgumentException if it is less than 1
     * @throws IllegalStateException if the pool uses a user-supplied queue
     */
    public void setQueueCapacity(int capacity) {
        builtInQueue().setCapacity(PoolBuilder.atLeast("queueCapacity", 1, capacity));
    }

    private TaskQueue builtInQueue() {
        if (queue instanceof TaskQueue builtIn) {
            return builtIn;
        }
        throw new IllegalStateException("pool \"" + name + "\" uses a user-supplied "
                + queue.getClass().getName() + "; set the capacity of that queue itself");
    }

    // ---- settings

    /**
     * Sets the core size. If it decreases, idle threads beyond it end; if it increases, threads are started for queued
     * tasks.
     *
     * @param corePoolSize the new core size, from 0 to the maximum size
     * @throws IllegalArgumentException if it is out of range
     */
    public void setCorePoolSize(int corePoolSize) {
        PoolBuilder.atLeast("corePoolSize", 0, corePoolSize);
        PoolBuilder.atLeast(
                "maximumPoolSize, with a corePoolSize of " + corePoolSize + ",", corePoolSize, workers.maxThreads);
        int more = corePoolSize - workers.coreThreads;
        workers.coreThreads = corePoolSize;
        if (workers.control.workers() > corePoolSize) {
            workers.interruptIdleWorkers();
        } else {
            for (int left = Math.min(more, queue.size()); left > 0 && workers.addWorker(null, true); left--) {
                if (queue.isEmpty()) {
                    return;
                }
            }
        }
    }

    /** {@return the core size: the number of threads to keep even if they are idle} */
    public int getCorePoolSize() {
        return workers.coreThreads;
    }

    /**
     * Sets the maximum size. If it decreases, idle threads beyond it end at once, and busy ones after their current
     * task.
     *
     * @param maximumPoolSize the new maximum, at least 1 and at least the core size
     * @throws IllegalArgumentException if it is out of range
     */
    public void setMaximumPoolSize(int maximumPoolSize) {
        PoolBuilder.atLeast("maximumPoolSize", Math.max(1, workers.coreThreads), maximumPoolSize);
        workers.maxThreads = maximumPoolSize;
        if (workers.control.workers() > maximumPoolSize) {
            workers.interruptIdleWorkers();
        } else {
            workers.signalSubmitters();
        }
    }

    /** {@return the maximum number of threads} */
    public int getMaximumPoolSize() {
        return workers.maxThreads;
    }

    /**
     * Sets the keep-alive time: how long a thread that may time out waits for a task. Also applies to threads that are
     * already waiting.
     *
     * @param length the keep-alive time, at least 0, and more than 0 if core threads may time out
     * @param unit the unit of the length
     * @throws IllegalArgumentException if it is out of range
     */
    public void setKeepAliveTime(long length, TimeUnit unit) {
        PoolBuilder.checkKeepAlive(length, workers.coreTimeout);
        workers.setKeepAlive(unit.toNanos(length));
    }

    /**
     * Returns the keep-alive time.
     *
     * @param unit the unit of the result
     * @return the keep-alive time, rounded down
     */
    public long getKeepAliveTime(TimeUnit unit) {
        return unit.convert(workers.keepAliveNanos, TimeUnit.NANOSECONDS);
    }

    /**
     * Sets whether core threads also end after they have been idle for the keep-alive time.
     *
     * @param value true if core threads may time out
     * @throws IllegalArgumentException if the value is true and the keep-alive time is zero
     */
    public void allowCoreThreadTimeOut(boolean value) {
        PoolBuilder.checkKeepAlive(workers.keepAliveNanos, value);
        if (value != workers.coreTimeout) {
            workers.coreTimeout = value;
            if (value) {
                workers.interruptIdleWorkers();
            }
        }
    }

    /** {@return whether core threads also end after they have been idle for the keep-alive time} */
    public boolean allowsCoreThreadTimeOut() {
        return workers.coreTimeout;
    }

    /**
     * Sets the factory for new threads.
     *
     * @param threadFactory the factory; it may return null if no thread is available
     */
    public void setThreadFactory(ThreadFactory threadFactory) {
        workers.threadFactory = Objects.requireNonNull(threadFactory, "threadFactory");
    }

    /** {@return the factory for new threads} */
    public ThreadFactory getThreadFactory() {
        return workers.threadFactory;
    }

    /**
     * Sets the handler for rejected tasks.
     *
     * @param handler the new handler
     */
    public void setRejectionHandler(RejectionHandler handler) {
        rejection = Objects.requireNonNull(handler, "handler");
    }

    /**
     * Sets a handler for rejected tasks that was written for a {@code ThreadPoolExecutor}.
     *
     * @param handler the new handler; it receives an executor that stands for this pool
     * @see RejectionHandler#from
     */
    public void setRejectedExecutionHandler(RejectedExecutionHandler handler) {
        setRejectionHandler(RejectionHandler.from(Objects.requireNonNull(handler, "handler")));
    }

    /**
     * Returns the handler for rejected tasks in the form in which it was set.
     *
     * @return a {@link RejectionHandler}, or a handler for a {@code ThreadPoolExecutor}
     */
    public RejectedExecutionHandler getRejectedExecutionHandler() {
        RejectionHandler handler = rejection;
        return handler instanceof JdkRejectionAdapter jdk ? jdk.handler : handler;
    }

    /**
     * Starts a core thread, which waits for tasks.
     *
     * @return false if all core threads have already been started
     */
    public boolean prestartCoreThread() {
        return workers.addWorker(null, true);
    }

    /**
     * Starts all core threads.
     *
     * @return the number of threads started
     */
    public int prestartAllCoreThreads() {
        int started = 0;
        while (workers.addWorker(null, true)) {
            started++;
        }
        return started;
    }

    // ---- counts

    /** {@return the current number of threads, which may already have changed} */
    public int getPoolSize() {
        return threads(workers.registry.snapshot());
    }

    /** A worker that has been uncounted stays in the registry for a moment. From TIDYING on there is no thread. */
    private int threads(WorkerRegistry.Snapshot snapshot) {
        return workers.control.state() >= Control.TIDYING ? 0 : snapshot.threads();
    }

    /** {@return the number of threads that are running tasks, which may already have changed} */
    public int getActiveCount() {
        return workers.registry.snapshot().active();
    }

    /** {@return the largest number of threads that have existed at the same time} */
    public int getLargestPoolSize() {
        return workers.registry.snapshot().largest();
    }

    /** {@return the number of tasks that are completed, running or queued; exact when the pool is quiescent} */
    public long getTaskCount() {
        WorkerRegistry.Snapshot snapshot = workers.registry.snapshot();
        return snapshot.completed() + snapshot.active() + queue.size();
    }

    /** {@return the number of tasks that have ended, normally or not; it never decreases} */
    public long getCompletedTaskCount() {
        return workers.registry.snapshot().completed();
    }

    /** {@return all counts; the threads and their tasks are read at one time, the other counts right after it} */
    public Stats stats() {
        WorkerRegistry.Snapshot snapshot = workers.registry.snapshot();
        return new Stats(
                runState(),
                workers.coreThreads,
                workers.maxThreads,
                threads(snapshot),
                snapshot.largest(),
                snapshot.active(),
                queue.size(),
                snapshot.completed(),
                observation.rejected.sum(),
                observation.handedBack.sum(),
                observation.removed.sum());
    }

    @Override
    public String toString() {
        WorkerRegistry.Snapshot snapshot = workers.registry.snapshot();
        int state = workers.control.state();
        String word =
                state == Control.RUNNING ? "Running" : state == Control.TERMINATED ? "Terminated" : "Shutting down";
        return super.toString() + "[" + word + ", pool size = " + threads(snapshot) + ", active threads = "
                + snapshot.active() + ", queued tasks = " + queue.size() + ", completed tasks = " + snapshot.completed()
                + "]";
    }

    // ---- rejection policies

    /** Throws a {@link RejectedExecutionException} to the submitter. */
    public static class AbortPolicy implements RejectionHandler {
        /** Creates the policy. */
        public AbortPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            throw pool.rejections.exception(task);
        }
    }

    /**
     * Runs the task in the submitter's thread, or drops it if the pool has been shut down. In both cases it counts as
     * rejected.
     */
    public static class CallerRunsPolicy implements RejectionHandler {
        /** Creates the policy. */
        public CallerRunsPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            pool.rejections.runInSubmitter(task);
        }
    }

    /** Drops the task; cancels it if it is a future and the pool was built with {@code cancelHandedBack}. */
    public static class DiscardPolicy implements RejectionHandler {
        /** Creates the policy. */
        public DiscardPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            pool.rejections.drop(task);
        }
    }

    /**
     * Drops the first queued task, as {@link DiscardPolicy} does, and submits the new one again. In a queue ordered by
     * priority the first task is the most urgent one. If no task is queued and the queue has no capacity, as with a
     * {@link java.util.concurrent.SynchronousQueue}, the new task is dropped.
     */
    public static class DiscardOldestPolicy implements RejectionHandler {
        /** Creates the policy. */
        public DiscardOldestPolicy() {}

        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            pool.rejections.acceptInPlaceOfOldest(task);
        }
    }

    /**
     * Makes the submitter wait until the task is accepted. A worker of the same pool does not wait, since it might wait
     * for itself: it runs the task. A task that is accepted or run so does not count as rejected, also if a handler
     * delegates to this policy.
     */
    public static class BlockPolicy implements RejectionHandler {
        private final @Nullable Duration timeout;

        /** Creates a policy that waits without a timeout. */
        public BlockPolicy() {
            timeout = null;
        }

        /**
         * Creates a policy that waits up to a timeout.
         *
         * @param timeout the maximum time to wait
         */
        public BlockPolicy(Duration timeout) {
            this.timeout = Objects.requireNonNull(timeout, "timeout");
        }

        /**
         * Waits until the task is accepted.
         *
         * @throws RejectedExecutionException if the pool is shut down, the timeout elapses, or the submitter is
         *     interrupted; in the last case its interrupt flag is set
         */
        @Override
        public void rejected(Runnable task, ThreadPool pool) {
            pool.rejections.awaitAcceptance(task, timeout);
        }
    }
}
