package dev.raddle.task;

import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;

/**
 * Runs tasks on threads. It is the extension point for threads.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .scheduler(key -> key.equals("reports") ? Scheduler.from(reportPool) : Scheduler.virtualThreads())
 *         .build();
 * }
 *
 * <p>A scheduler runs each task once, in any thread, which may be the calling thread before {@code execute} returns.
 * Tasks that become ready by a task that runs in the calling thread are started after it, in the same thread: {@code
 * Runnable::run} needs no more stack for many tasks than for one.
 */
@FunctionalInterface
public interface Scheduler extends Executor {

    /** A task for a scheduler, which the scheduler may also reject after it has accepted it. */
    interface Placeable extends Rejectable {
        /**
         * Called when this task will never run although it was accepted. Called at most once, instead of {@link
         * #run()}, and not if the task was withdrawn.
         *
         * @param reason the reason
         */
        @Override
        void reject(RejectedExecutionException reason);

        /**
         * Calls an action in the context of the thread that submitted this task to its API: the thread that places it
         * may be another one. A scheduler that captures a context for its tasks, or notifies listeners of them, does so
         * inside such an action. The task installs its {@link TaskContext} itself when it runs.
         *
         * @param <T> the type of the value
         * @param action the action, called in the calling thread
         * @return the value of the action
         * @throws Exception if the action throws
         */
        default <T> T inSubmittersContext(Callable<T> action) throws Exception {
            return action.call();
        }

        /**
         * Returns the priority of this task, for schedulers that order the waiting tasks.
         *
         * @return the priority; tasks of a higher priority run first
         */
        default int priority() {
            return 0;
        }

        /**
         * Returns the name for a thread that a scheduler starts for this task only, so that thread dumps show what the
         * thread belongs to.
         *
         * @return the key of a group or the name of a flow; empty, the default, if the thread needs no name
         */
        default String threadName() {
            return "";
        }
    }

    /** A task in a scheduler. It can be withdrawn until it begins. */
    @FunctionalInterface
    interface Placement {
        /** The placement of a task that cannot be withdrawn. */
        Placement FINAL = new Placement() {
            @Override
            public boolean withdraw() {
                return false;
            }
        };

        /**
         * Withdraws the task if it has not begun.
         *
         * @return true if the task has not begun and never will
         */
        boolean withdraw();

        /**
         * Records that a thread begins to wait for the task without a timeout. A scheduler with limits throws an
         * exception if the task could never begin because all running tasks wait like this. By default nothing is
         * recorded.
         *
         * @param waiter the waiting thread
         * @return true if the wait was recorded, so that the caller must call {@link #endWait}
         * @throws IllegalStateException if the task could never begin
         */
        default boolean beginWait(Thread waiter) {
            return false;
        }

        /**
         * Records that a wait has ended.
         *
         * @param waiter the thread that waited
         */
        default void endWait(Thread waiter) {}
    }

    /** A use of a scheduler that has an end. */
    @FunctionalInterface
    interface Lease extends AutoCloseable {
        /** A lease of a scheduler that keeps no resources for its users. */
        Lease NOTHING = new Lease() {
            @Override
            public void close() {}
        };

        /** Ends this lease. */
        @Override
        void close();
    }

    /**
     * Runs a task at some time in the future.
     *
     * @param task the task
     * @throws RejectedExecutionException if the task is not accepted
     */
    @Override
    void execute(Runnable task);

    /**
     * Runs a task at some time in the future, unless it is withdrawn or rejected before. By default it cannot be
     * withdrawn.
     *
     * @param task the task
     * @return the placement, which can withdraw the task
     * @throws RejectedExecutionException if the task is not accepted
     */
    default Placement place(Placeable task) {
        execute(task);
        return Placement.FINAL;
    }

    /**
     * Opens a lease: this scheduler is in use until the lease is closed. When the last lease is closed, a scheduler
     * ends its idle threads. It can be used again at any time.
     *
     * @return the lease
     */
    default Lease lease() {
        return Lease.NOTHING;
    }

    /**
     * Returns whether each task runs on a virtual thread of its own.
     *
     * @return true if tasks may block without occupying a platform thread
     */
    default boolean isVirtualThreadMode() {
        return false;
    }

    /**
     * Returns the maximum number of threads that run tasks, if it is useless to have more tasks pending: a thread that
     * has finished one task takes the next at once. A flow has at most this number of requests pending at a time.
     *
     * {@snippet :
     * record Counted(Scheduler inner, LongAdder requests) implements Scheduler {
     *     @Override public void execute(Runnable task) {
     *         requests.increment();
     *         inner.execute(task);
     *     }
     *
     *     @Override public Placement place(Placeable task) {
     *         requests.increment();
     *         return inner.place(task); // so that it can reject the task later
     *     }
     *
     *     @Override public int parallelism() {
     *         return inner.parallelism(); // otherwise the inner one gets a request for each node
     *     }
     * }
     * }
     *
     * <p>A scheduler that wraps another should forward this method, as in the example. Each run of a flow calls it
     * once, in the thread that starts the run, and also on the scheduler for CPU-bound nodes if the flow has such
     * nodes. If it throws, the method that starts the run throws the same exception, and no node has begun.
     *
     * <p>A scheduler that returns less than {@link Integer#MAX_VALUE} must either run or {@linkplain Placeable#reject
     * reject} every request that it has accepted: until then the flow counts the request as a thread that is about to
     * start. If a request is silently dropped, the run may never end.
     *
     * @return the maximum, at least 1 and the same at every call; {@link Integer#MAX_VALUE}, the default, if there is
     *     no such maximum or it is unknown; a value less than 1 is treated as 1
     */
    default int parallelism() {
        return Integer.MAX_VALUE;
    }

    /**
     * Returns the preferred scheduler of this Java version: on Java 25, virtual threads.
     *
     * @return {@link #virtualThreads()}
     */
    static Scheduler detect() {
        return virtualThreads();
    }

    /**
     * Returns a scheduler that runs tasks on the JDK's {@link ForkJoinPool#commonPool()}, which is for short tasks that
     * do not block.
     *
     * @return a new scheduler
     */
    static Scheduler commonPool() {
        return Providers.schedulers().from(ForkJoinPool.commonPool(), "common pool");
    }

    /**
     * Returns a scheduler that runs each task on a new virtual thread, which inherits no thread-locals. The thread has
     * the {@linkplain Placeable#threadName() name} that the task has for it.
     *
     * @return the scheduler, always the same object
     */
    static Scheduler virtualThreads() {
        return VirtualThreads.INSTANCE;
    }

    /**
     * Returns a scheduler that runs tasks on a fixed number of platform threads, in submission order. Up to {@code
     * max(256, 100 * threads)} tasks wait; a submitter runs any further task itself. A thread ends after 60 idle
     * seconds, so the scheduler need not be closed.
     *
     * @param threads the number of threads, at least 1
     * @return a new scheduler on a {@link dev.raddle.pool.ThreadPool} of its own
     * @throws IllegalArgumentException if {@code threads} is less than 1
     */
    static Scheduler fixed(int threads) {
        return Providers.schedulers().fixed(threads);
    }

    /**
     * Returns a scheduler like that of {@link #fixed} that runs tasks of a higher {@linkplain Placeable#priority()
     * priority} first.
     *
     * @param threads the number of threads, at least 1
     * @return a new scheduler on a {@link dev.raddle.pool.ThreadPool} of its own
     * @throws IllegalArgumentException if {@code threads} is less than 1
     */
    static Scheduler priority(int threads) {
        return Providers.schedulers().priority(threads);
    }

    /**
     * Returns a scheduler that runs each task on an executor. The scheduler never shuts the executor down.
     *
     * <p>A task that the executor accepts and never runs is rejected as soon as that can be detected. A {@link
     * dev.raddle.pool.ThreadPool} rejects each task that it drops or returns. Other executors receive a {@link
     * java.util.concurrent.Future}, and cancelling it rejects the task; so cancel the futures in the list that {@code
     * shutdownNow()} of a {@link java.util.concurrent.ThreadPoolExecutor} returns. A task that is placed on a
     * terminated executor is rejected, too. It cannot be detected that another executor silently drops a task, as
     * {@link java.util.concurrent.ThreadPoolExecutor.DiscardPolicy} and {@code getQueue().clear()} do: such a task
     * keeps its permit.
     *
     * @param executor the executor, preferably with threads of its own
     * @return a new scheduler
     */
    static Scheduler from(ExecutorService executor) {
        return Providers.schedulers()
                .from(Objects.requireNonNull(executor, "executor"), "executor " + Objects.toIdentityString(executor));
    }
}
