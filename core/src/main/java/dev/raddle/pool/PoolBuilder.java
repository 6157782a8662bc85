package dev.raddle.pool;

import dev.raddle.kernel.Propagation;
import dev.raddle.task.ContextPropagator;
import dev.raddle.task.ExceptionSink;
import dev.raddle.task.TaskListener;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * The settings of a pool. A builder is confined to one thread, and may build several pools.
 *
 * @see ThreadPool#builder
 */
public final class PoolBuilder {
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

    RejectionHandler rejection = new ThreadPool.AbortPolicy();
    TimeSource timeSource = TimeSource.system();

    @Nullable
    PoolListener listener;

    @Nullable
    TaskListener taskListener;

    Propagation propagation = Propagation.plain(false); // with the sink of all exceptions
    boolean keepsTimer = true; // while the pool is open; otherwise its owner does

    @Nullable
    Duration stuckAfter;

    boolean followsJdk; // also where pools of a builder extend the contract of the JDK's
    boolean scaleBeforeQueueing;
    boolean cancelHandedBack = true;

    PoolBuilder(String name) {
        this.name = Objects.requireNonNull(name, "name");
    }

    /**
     * Sets the core size: the number of threads to keep even if they are idle. A smaller maximum is raised to it.
     *
     * @param count the core size, at least 0; the default is the number of processors
     * @return this builder
     * @throws IllegalArgumentException if it is less than 0
     */
    public PoolBuilder coreThreads(int count) {
        coreThreads = atLeast(nameOf("coreThreads"), 0, count);
        maxThreads = Math.max(maxThreads, count);
        return this;
    }

    /**
     * Sets the maximum number of threads. A larger core size is lowered to it.
     *
     * @param count the maximum, at least 1; the default is the number of processors
     * @return this builder
     * @throws IllegalArgumentException if it is less than 1
     */
    public PoolBuilder maxThreads(int count) {
        maxThreads = atLeast(nameOf("maxThreads"), 1, count);
        coreThreads = Math.min(coreThreads, count);
        return this;
    }

    /**
     * Sets the core size and the maximum to the same number.
     *
     * @param count the number of threads, at least 1
     * @return this builder
     * @throws IllegalArgumentException if it is less than 1
     */
    public PoolBuilder threads(int count) {
        return sizes(atLeast(nameOf("threads"), 1, count), count);
    }

    PoolBuilder followsJdk() {
        followsJdk = true;
        cancelHandedBack = false;
        return this;
    }

    PoolBuilder sizes(int core, int max) {
        coreThreads = core;
        maxThreads = max;
        return this;
    }

    /**
     * Sets the capacity of the built-in queue.
     *
     * @param tasks the capacity, at least 1; the default, {@link Integer#MAX_VALUE}, means unbounded
     * @return this builder
     * @throws IllegalArgumentException if it is less than 1
     */
    public PoolBuilder queueCapacity(int tasks) {
        queueCapacity = atLeast(nameOf("queueCapacity"), 1, tasks);
        return this;
    }

    /**
     * Sets the queue to use instead of the built-in one. That queue bounds and orders the tasks itself.
     *
     * @param userQueue a blocking queue that is used for nothing else
     * @return this builder
     */
    public PoolBuilder queue(BlockingQueue<Runnable> userQueue) {
        queue = Objects.requireNonNull(userQueue, "queue");
        return this;
    }

    /**
     * Makes the built-in queue serve tasks of a higher priority first, and tasks of equal priority in FIFO order.
     *
     * @param rank the function from a {@link Runnable} or {@link Callable}, as it was submitted, to its priority;
     *     called in the submitter's thread each time the task is offered to the queue
     * @return this builder
     */
    public PoolBuilder priority(ToIntFunction<Object> rank) {
        priority = Objects.requireNonNull(rank, "priority");
        return this;
    }

    /**
     * Sets the keep-alive time: how long a thread that may time out waits for a task.
     *
     * @param length the keep-alive time, not negative; the default is 60 seconds
     * @return this builder
     * @throws IllegalArgumentException if it is negative
     */
    public PoolBuilder keepAlive(Duration length) {
        if (length.isNegative()) {
            throw new IllegalArgumentException("keepAlive must not be negative, was " + length);
        }
        keepAlive = length;
        return this;
    }

    /**
     * Sets whether core threads also end after they have been idle for the keep-alive time.
     *
     * @param value true if core threads may time out; the default is false
     * @return this builder
     */
    public PoolBuilder allowCoreTimeout(boolean value) {
        coreTimeout = value;
        return this;
    }

    /**
     * Sets the factory for new threads.
     *
     * @param factory the factory; the default one makes platform threads named {@code name-1} and so on, which
     *     inherit no thread-locals and have the context class loader of the thread that calls {@link #build}
     * @return this builder
     */
    public PoolBuilder threadFactory(ThreadFactory factory) {
        threadFactory = Objects.requireNonNull(factory, "threadFactory");
        return this;
    }

    /**
     * Sets the handler for rejected tasks.
     *
     * @param handler the handler; the default is an {@link ThreadPool.AbortPolicy}
     * @return this builder
     */
    public PoolBuilder rejection(RejectionHandler handler) {
        rejection = Objects.requireNonNull(handler, "rejection");
        return this;
    }

    /**
     * Sets the time source.
     *
     * @param time the time source; the default is {@link TimeSource#system()}
     * @return this builder
     */
    public PoolBuilder timeSource(TimeSource time) {
        timeSource = Objects.requireNonNull(time, "timeSource");
        return this;
    }

    /**
     * Sets the listener that is notified of what only a pool has: the {@link Runnable}s and their threads, what it
     * accepts and hands back, and stuck tasks. For names and outcomes see {@link #addListener}.
     *
     * @param poolListener the listener; by default there is none
     * @return this builder
     */
    public PoolBuilder listener(PoolListener poolListener) {
        listener = Objects.requireNonNull(poolListener, "listener");
        return this;
    }

    /**
     * Adds a listener that is notified of the submission, start and end of every task, as for the other APIs. The
     * owner of a task is this pool; its name is that of a {@link dev.raddle.task.NamedTask}, or of its class. A
     * task that the pool runs for a group, a scope or a flow belongs to that API, whose listener is notified.
     *
     * @param added the listener to add, which is notified after those added before
     * @return this builder
     */
    public PoolBuilder addListener(TaskListener added) {
        Objects.requireNonNull(added, "listener");
        taskListener = taskListener == null ? added : taskListener.and(added);
        return this;
    }

    /**
     * Adds a propagator of a context, such as that of logging or tracing, from submitters to tasks. The tasks that the
     * pool runs for a group, a scope or a flow have the contexts of that API.
     *
     * @param propagator the propagator to add, which is installed around each task after those added before, and
     *     restored before them
     * @return this builder
     */
    public PoolBuilder addPropagator(ContextPropagator propagator) {
        propagation = propagation.with(propagator);
        return this;
    }

    /**
     * Sets the sink of exceptions that have no effect on a task: those of the task listener and the propagators,
     * and what the function of a future throws after the future was cancelled.
     *
     * @param sink the sink; the default is {@link ExceptionSink#logging()}
     * @return this builder
     */
    public PoolBuilder exceptionSink(ExceptionSink sink) {
        propagation = propagation.with(sink);
        return this;
    }

    /**
     * Reports tasks that run for longer than this, with their stacks, once in each such interval. The reports go to
     * the listener, or to the log if there is none. The last wait of {@link ThreadPool#drain} takes at most as
     * long.
     *
     * @param length the interval, more than zero; by default there is no watch, and the last wait is 5 seconds
     * @return this builder
     * @throws IllegalArgumentException if it is zero or less
     */
    public PoolBuilder stuckAfter(Duration length) {
        if (!length.isPositive()) {
            throw new IllegalArgumentException("stuckAfter must be more than zero, was " + length);
        }
        stuckAfter = length;
        return this;
    }

    /**
     * Sets whether the pool starts threads up to the maximum before it queues tasks, as the pools of web servers
     * do.
     *
     * @param value true to start threads first; the default is false: tasks are queued once the core size is
     *     reached
     * @return this builder
     */
    public PoolBuilder scaleBeforeQueueing(boolean value) {
        scaleBeforeQueueing = value;
        return this;
    }

    /**
     * Sets whether the pool cancels the futures that it hands back or drops, so that no thread waits for them
     * forever.
     *
     * @param value true to cancel them, the default; if false, their owner may run them and must complete them
     * @return this builder
     */
    public PoolBuilder cancelHandedBack(boolean value) {
        cancelHandedBack = value;
        return this;
    }

    /**
     * Creates the pool. No thread is started before the first task.
     *
     * @return a new pool
     * @throws IllegalArgumentException if core threads may time out and the keep-alive time is zero, or if a
     *     capacity or a priority was set together with a user-supplied queue
     */
    public ThreadPool build() {
        return new ThreadPool(this);
    }

    void check() {
        atLeast(nameOf("corePoolSize"), 0, coreThreads);
        atLeast(nameOf("maximumPoolSize"), Math.max(1, coreThreads), maxThreads);
        checkKeepAlive(keepAliveNanos(), coreTimeout);
        if (queue != null && (queueCapacity != Integer.MAX_VALUE || priority != null)) {
            throw new IllegalArgumentException(
                    "queueCapacity and priority are settings of the built-in queue; remove them, or configure the "
                            + queue.getClass().getName() + " that was supplied");
        }
    }

    private String nameOf(String setting) {
        return setting + " of pool \"" + name + "\"";
    }

    static int atLeast(String what, int least, int value) {
        if (value < least) {
            throw new IllegalArgumentException(what + " must be at least " + least + ", was " + value);
        }
        return value;
    }

    static void checkKeepAlive(long length, boolean allCanTimeOut) {
        if (length < 0 || (length == 0 && allCanTimeOut)) {
            throw new IllegalArgumentException("keepAliveTime must be " + (allCanTimeOut ? "more than" : "at least")
                    + " 0" + (allCanTimeOut ? " if core threads may time out" : "") + ", was " + length);
        }
    }

    long keepAliveNanos() {
        return TimeUnit.NANOSECONDS.convert(keepAlive);
    }

    ThreadFactory factory() {
        return threadFactory != null ? threadFactory : new DefaultFactory(name);
    }

    /** Creates threads that inherit nothing from a submitter, and the class loader from the creator of the pool. */
    private static final class DefaultFactory implements ThreadFactory {
        private final String pool;
        private final @Nullable ClassLoader loader = Thread.currentThread().getContextClassLoader();
        private final AtomicLong created = new AtomicLong();

        DefaultFactory(String pool) {
            this.pool = pool;
        }

        @Override
        @SuppressWarnings("ThreadPriorityCheck") // the same for all threads, as in the JDK's default factory
        public Thread newThread(Runnable run) {
            Thread made = Thread.ofPlatform()
                    .name(pool + "-" + created.incrementAndGet())
                    .daemon(false) // otherwise inherited from the submitter, and a virtual thread is a daemon
                    .priority(Thread.NORM_PRIORITY)
                    .inheritInheritableThreadLocals(false)
                    .unstarted(run);
            made.setContextClassLoader(loader);
            return made;
        }
    }
}
