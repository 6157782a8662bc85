package dev.raddle.pool;

import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;

/** The pools and the plugs of one test. They all end with it, whatever has become of it. */
final class TestPools {

    private final List<ThreadPool> pools = new ArrayList<>();
    private final List<Plug> plugs = new ArrayList<>();

    synchronized <P extends ThreadPool> P keep(P pool) {
        pools.add(pool);
        return pool;
    }

    /** A pool on a queue of the user's, whose threads stay idle for an hour. */
    ThreadPool on(BlockingQueue<Runnable> queue, int core, int max) {
        return keep(new ThreadPool(core, max, 1, TimeUnit.HOURS, queue));
    }

    ThreadPool of(Backlog backlog, int core, int max, int capacity) {
        return keep(backlog.pool(core, max, capacity));
    }

    /** A pool that hands tasks over and keeps none waiting. */
    ThreadPool direct(int core, int max) {
        return on(new SynchronousQueue<>(), core, max);
    }

    /** A pool of one thread and no end of room. */
    ThreadPool single() {
        return on(new LinkedBlockingQueue<>(), 1, 1);
    }

    Plug plug() {
        return keep(new Plug(false));
    }

    Plug stubborn() {
        return keep(new Plug(true));
    }

    private synchronized Plug keep(Plug plug) {
        plugs.add(plug);
        return plug;
    }

    /** Has a thread of the pool busy until the plug is let go. */
    Plug occupy(ThreadPool pool) throws InterruptedException {
        Plug plug = plug();
        pool.execute(plug);
        return plug.awaitBegun();
    }

    List<Plug> occupy(ThreadPool pool, int threads) throws InterruptedException {
        List<Plug> begun = new ArrayList<>();
        for (int i = 0; i < threads; i++) {
            begun.add(occupy(pool));
        }
        return begun;
    }

    static void letGo(List<Plug> plugs) {
        plugs.forEach(Plug::letGo);
    }

    /** Waits until a number of tasks is completed and no thread is at work. */
    static void awaitCompleted(ThreadPool pool, long tasks) {
        Wait.until(() -> pool.getCompletedTaskCount() == tasks && pool.getActiveCount() == 0);
    }

    /** Waits until a number of tasks is completed and others run. */
    static void awaitCompleted(ThreadPool pool, long tasks, int running) {
        Wait.until(() -> pool.getCompletedTaskCount() == tasks && pool.getActiveCount() == running);
    }

    /** Waits until a thread waits for whatever it may be. */
    static void awaitParked(Thread thread) {
        Wait.until(() -> thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING);
    }

    /** Waits until a thread waits inside a method, be it ever so deep. */
    static void awaitParkedIn(Thread thread, String method) {
        Wait.until(() -> {
            StackTraceElement[] stack = thread.getStackTrace();
            return (thread.getState() == Thread.State.WAITING || thread.getState() == Thread.State.TIMED_WAITING)
                    && Arrays.stream(stack)
                            .anyMatch(frame -> frame.getMethodName().equals(method));
        });
    }

    /** A thread that keeps no test run from ending. */
    static Thread started(Runnable body) {
        return Thread.ofPlatform().daemon().start(body);
    }

    /** Runs actions at the same time, each in a platform thread of its own, and returns when all have ended well. */
    static void together(List<? extends Callable<?>> actions) throws Exception {
        CyclicBarrier start = new CyclicBarrier(actions.size());
        List<Future<?>> ends = new ArrayList<>();
        ExecutorService threads = Executors.newFixedThreadPool(actions.size());
        try {
            for (Callable<?> action : actions) {
                ends.add(threads.submit(() -> {
                    start.await();
                    return action.call();
                }));
            }
            for (Future<?> end : ends) {
                end.get();
            }
        } finally {
            threads.shutdownNow(); // one that hangs must not keep the test from failing
        }
    }

    @SuppressWarnings("unchecked")
    static <X extends Throwable> void sneaky(Throwable thrown) throws X {
        throw (X) thrown;
    }

    /** A task that throws, be it an exception that a Runnable must not throw. */
    static Runnable throwing(Throwable thrown) {
        return () -> TestPools.<RuntimeException>sneaky(thrown);
    }

    /** Ends all pools, and waits for it: a pool that does not terminate fails the test that used it. */
    void endAll() throws InterruptedException {
        List<ThreadPool> ended;
        synchronized (this) {
            plugs.forEach(Plug::letGo);
            ended = List.copyOf(pools);
        }
        ended.forEach(ThreadPool::shutdownNow);
        for (ThreadPool pool : ended) {
            pool.awaitTermination(1, TimeUnit.HOURS);
        }
    }
}
