package dev.raddle.pool;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** The pools and blocking tasks of one test. All of them end with the test, even if it fails. */
final class TestPools {

    private final List<ThreadPool> pools = new ArrayList<>();
    private final List<BlockingTask> blockers = new ArrayList<>();

    synchronized <P extends ThreadPool> P keep(P pool) {
        pools.add(pool);
        return pool;
    }

    /** Returns a pool with a user-supplied queue, whose threads stay idle for an hour. */
    ThreadPool on(BlockingQueue<Runnable> queue, int core, int max) {
        return keep(new ThreadPool(core, max, 1, TimeUnit.HOURS, queue));
    }

    ThreadPool of(QueueKind queueKind, int core, int max, int capacity) {
        return keep(queueKind.pool(core, max, capacity));
    }

    /** Returns a pool with a direct handoff queue. */
    ThreadPool direct(int core, int max) {
        return on(new SynchronousQueue<>(), core, max);
    }

    /** Returns a pool with one thread and an unbounded queue. */
    ThreadPool single() {
        return on(new LinkedBlockingQueue<>(), 1, 1);
    }

    BlockingTask blocker() {
        return keep(new BlockingTask());
    }

    BlockingTask uninterruptible() {
        return keep(BlockingTask.uninterruptible());
    }

    private synchronized BlockingTask keep(BlockingTask blocker) {
        blockers.add(blocker);
        return blocker;
    }

    /** Keeps one thread of the pool busy until the returned task is released. */
    BlockingTask occupy(ThreadPool pool) throws InterruptedException {
        BlockingTask blocker = blocker();
        pool.execute(blocker);
        return blocker.awaitBegun();
    }

    List<BlockingTask> occupy(ThreadPool pool, int threads) throws InterruptedException {
        List<BlockingTask> begun = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            begun.add(occupy(pool));
        }
        return begun;
    }

    static void release(List<BlockingTask> blockers) {
        blockers.forEach(BlockingTask::release);
    }

    /** Waits until a number of tasks is completed and no thread is active. */
    static void awaitCompleted(ThreadPool pool, long tasks) {
        Wait.until(() -> pool.getCompletedTaskCount() == tasks && pool.getActiveCount() == 0);
    }

    /** Waits until a number of tasks is completed and another number is running. */
    static void awaitCompleted(ThreadPool pool, long tasks, int running) {
        Wait.until(() -> pool.getCompletedTaskCount() == tasks && pool.getActiveCount() == running);
    }

    /** Waits until a thread waits. */
    static void awaitParked(Thread thread) {
        Wait.until(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    /** Waits until a thread waits with a method on its stack. */
    static void awaitParkedIn(Thread thread, String method) {
        Wait.until(() -> {
            StackTraceElement[] stack = thread.getStackTrace();
            return (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING)
                    && Arrays.stream(stack)
                            .anyMatch(frame -> frame.getMethodName().equals(method));
        });
    }

    /** Starts a daemon thread. */
    static Thread started(Runnable body) {
        return Thread.ofPlatform().daemon().start(body);
    }

    @SuppressWarnings("unchecked")
    static <X extends Throwable> void sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    /** Returns a task that throws an exception, which may be a checked one. */
    static Runnable throwing(Throwable thrown) {
        return () -> TestPools.<RuntimeException>sneaky(thrown);
    }

    /** Stops all pools and waits for their termination: a pool that does not terminate fails the test that used it. */
    void endAll() throws InterruptedException {
        List<ThreadPool> ended;
        synchronized (this) {
            blockers.forEach(BlockingTask::release);
            ended = List.copyOf(pools);
        }
        ended.forEach(ThreadPool::shutdownNow);
        for (ThreadPool pool : ended) {
            pool.awaitTermination(1, TimeUnit.HOURS);
        }
    }
}
