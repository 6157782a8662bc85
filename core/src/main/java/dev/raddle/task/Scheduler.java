package dev.raddle.task;

import dev.raddle.time.UserCode;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.RejectedExecutionException;

/**
 * Where tasks run: the socket for threads.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .scheduler(key -> key.equals("reports") ? Scheduler.from(reportPool) : Scheduler.virtualThreads())
 *         .build();
 * }
 *
 * <p>A scheduler runs each task once, in any thread, also in the calling one before {@code execute} returns. What becomes
 * possible by a task that runs so is started after it, in the same thread: {@code Runnable::run} needs no more stack for
 * many tasks than for one.
 */
@FunctionalInterface
public interface Scheduler extends Executor {

    /** What a scheduler can place: a task that can also be told that it will never run. */
    interface Placeable extends Rejectable {
        /**
         * Hears that this task was refused after it had been accepted, and will never run. Called at most once, instead of
         * {@link #run()}, and not if it was withdrawn.
         *
         * @param reason why
         */
        @Override
        void reject(RejectedExecutionException reason);

        /**
         * Calls an action in the context of the thread that submitted this task to its API: the thread that places it may be
         * another one. A scheduler that captures a context for its tasks, or notifies listeners of them, does that in here. The
         * task puts its {@link TaskContext} in force by itself when it runs.
         *
         * @param <T> the type of the value
         * @param action what to call, in the calling thread
         * @return what it returned
         * @throws Exception what it threw
         */
        default <T> T inSubmittersContext(Callable<T> action) throws Exception {
            return action.call();
        }

        /**
         * Returns its rank among the tasks that wait with it, for schedulers that have an order.
         *
         * @return any number; the higher goes first
         */
        default int priority() {
            return 0;
        }
    }

    /** A placed task's place, which can be left as long as the task has not begun. */
    @FunctionalInterface
    interface Placement {
        /** The placement of a task that cannot be taken back. */
        Placement FINAL = () -> false;

        /**
         * Takes the task back.
         *
         * @return true if it has not begun and never will
         */
        boolean withdraw();

        /**
         * Notes that a thread waits for the task, for as long as it takes. A scheduler with limits refuses this if the task
         * could never begin, because all that it lets run wait like this.
         *
         * @param waiter the thread
         * @return true if this was noted, and {@link #endWait} shall be called; false unless a scheduler says otherwise
         * @throws IllegalStateException if the task could never begin
         */
        default boolean beginWait(Thread waiter) {
            return false;
        }

        /**
         * Notes that a wait is over.
         *
         * @param waiter the thread that waited
         */
        default void endWait(Thread waiter) {}
    }

    /** The use of a scheduler by somebody who will be through with it. */
    @FunctionalInterface
    interface Lease extends AutoCloseable {
        /** A lease of a scheduler that keeps nothing for its users. */
        Lease NOTHING = () -> {};

        /** Ends the use. */
        @Override
        void close();
    }

    /**
     * Runs a task at some time in the future.
     *
     * @param task what to run
     * @throws RejectedExecutionException if it is not accepted
     */
    @Override
    void execute(Runnable task);

    /**
     * Runs a task at some time in the future, and lets it be taken back. Unless a scheduler says otherwise, it cannot be.
     *
     * @param task what to run, or to tell that it will not
     * @return its place
     * @throws RejectedExecutionException if it is not accepted
     */
    default Placement place(Placeable task) {
        execute(task);
        return Placement.FINAL;
    }

    /**
     * Says that somebody uses this scheduler, until the lease is closed. When the last lease is closed, a scheduler lets go
     * of threads that it only kept in case they were needed; it can be used again at any time.
     *
     * @return the lease
     */
    default Lease lease() {
        return Lease.NOTHING;
    }

    /**
     * Tells whether each task gets a virtual thread of its own.
     *
     * @return true if tasks may block without keeping a thread of the system
     */
    default boolean isVirtualThreadMode() {
        return false;
    }

    /**
     * Tells how many threads run its tasks at most, if more requests than that are of no use at once: a thread that has
     * finished one fetches the next as soon as it is there. A flow has no more requests under way at a time.
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
     * <p>A scheduler that wraps another should forward this, as the one above. Each run of a flow asks once, in the thread
     * that starts it; the scheduler of nodes that compute, too, if there are such nodes. What this throws leaves the method
     * that starts the run, and nothing has begun.
     *
     * <p>Who returns less than {@link Integer#MAX_VALUE} must run every request that it has accepted, or tell it by
     * {@link Placeable#reject reject} that it will not: until it has heard of either, the flow counts it as a thread that is on
     * its way. A request that is dropped in silence may leave a run that never ends.
     *
     * @return at least 1, and the same at every call; {@link Integer#MAX_VALUE}, unless overridden, if that is not so or not
     *     known; less than 1 is taken for 1
     */
    default int parallelism() {
        return Integer.MAX_VALUE;
    }

    /**
     * Returns the scheduler that suits this Java best: on Java 25, virtual threads.
     *
     * @return {@link #virtualThreads()}
     */
    static Scheduler detect() {
        return virtualThreads();
    }

    /**
     * Runs tasks on the JDK's {@link ForkJoinPool#commonPool()}, which is for short tasks that do not block.
     *
     * @return a new scheduler
     */
    static Scheduler commonPool() {
        return Providers.SCHEDULERS.from(ForkJoinPool.commonPool(), "common pool");
    }

    /**
     * Runs each task on a fresh virtual thread, which inherits no thread-locals.
     *
     * @return the same scheduler at every call
     */
    static Scheduler virtualThreads() {
        return VirtualThreads.INSTANCE;
    }

    /**
     * Runs tasks on a fixed number of platform threads, in order of arrival. Up to {@code max(256, 100 * threads)} tasks wait;
     * one more is run by its submitter. A thread ends when it has had nothing to do for 60 seconds, so the scheduler need not
     * be closed.
     *
     * @param threads how many, at least 1
     * @return a new scheduler on a {@link dev.raddle.pool.ThreadPool} of its own
     * @throws IllegalArgumentException if it is less than 1
     */
    static Scheduler fixed(int threads) {
        return Providers.SCHEDULERS.fixed(threads);
    }

    /**
     * Runs tasks as {@link #fixed} does, but those of a higher {@linkplain Placeable#priority() priority} first.
     *
     * @param threads how many, at least 1
     * @return a new scheduler on a {@link dev.raddle.pool.ThreadPool} of its own
     * @throws IllegalArgumentException if it is less than 1
     */
    static Scheduler priority(int threads) {
        return Providers.SCHEDULERS.priority(threads);
    }

    /**
     * Runs each task on an executor, which stays its owner's: it is never shut down from here.
     *
     * <p>A task that the executor takes and never runs is rejected as soon as that can be known: a {@link
     * dev.raddle.pool.ThreadPool} says so whenever it drops a task or hands one back; other executors get a {@link
     * java.util.concurrent.Future}, and cancelling that rejects the task. So cancel the futures in the list that {@code
     * shutdownNow()} of a {@link java.util.concurrent.ThreadPoolExecutor} returns. An executor that is terminated has no task
     * that it will run. What no program can know is that a foreign executor has dropped a task without a word, as {@link
     * java.util.concurrent.ThreadPoolExecutor.DiscardPolicy} does, or {@code getQueue().clear()}: that task keeps its permit.
     *
     * @param executor the executor, preferably with threads of its own
     * @return a new scheduler
     */
    static Scheduler from(ExecutorService executor) {
        return Providers.SCHEDULERS.from(
                Objects.requireNonNull(executor, "executor"), "executor " + UserCode.textOf(executor));
    }
}
