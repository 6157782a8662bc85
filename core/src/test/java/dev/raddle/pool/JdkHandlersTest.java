package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.RejectedExecutionHandler;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Handlers written for a ThreadPoolExecutor, used by a ThreadPool. */
class JdkHandlersTest {

    private final TestPools pools = new TestPools();
    private final List<String> ran = new ArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private ThreadPool full(RejectedExecutionHandler handler) throws InterruptedException {
        ThreadPool pool = pools.keep(new ThreadPool(1, 1, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(1), handler));
        pools.occupy(pool);
        pool.execute(() -> {});
        return pool;
    }

    @Test
    void the_policies_of_the_jdk_have_the_effect_of_the_pools_own() throws Exception {
        ThreadPool aborting = full(new ThreadPoolExecutor.AbortPolicy());
        assertThatThrownBy(() -> aborting.execute(() -> ran.add("never")))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("it is full");

        full(new ThreadPoolExecutor.CallerRunsPolicy()).execute(() -> ran.add("in the caller"));
        assertThat(ran).containsExactly("in the caller");

        Future<?> dropped = full(new ThreadPoolExecutor.DiscardPolicy()).submit(() -> ran.add("never"));
        assertThat(dropped.isDone()).isFalse();

        ThreadPool oldest = full(new ThreadPoolExecutor.DiscardOldestPolicy());
        Runnable newest = () -> ran.add("never");
        oldest.execute(newest);
        assertThat(oldest.getQueue()).containsExactly(newest);
        assertThat(ran).hasSize(1);
    }

    @Test
    void a_discarding_policy_of_the_jdk_cancels_futures_if_the_pool_was_built_to_do_so() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("full")
                .threads(1)
                .queueCapacity(1)
                .rejection(RejectionHandler.from(new ThreadPoolExecutor.DiscardPolicy()))
                .build());
        pools.occupy(pool);
        pool.execute(() -> {});

        assertThat(pool.submit(() -> ran.add("never")).isCancelled()).isTrue();
    }

    @Test
    void a_handler_receives_an_executor_with_the_numbers_the_queue_and_the_life_cycle_of_the_pool() throws Exception {
        List<ThreadPoolExecutor> shown = new ArrayList<>();
        ThreadPool pool = full((Runnable task, ThreadPoolExecutor executor) -> shown.add(executor));
        pool.execute(() -> {});
        ThreadPoolExecutor executor = shown.getFirst();

        assertThat(executor.getQueue()).isSameAs(pool.getQueue());
        assertThat(executor.getCorePoolSize()).isEqualTo(1);
        assertThat(executor.getMaximumPoolSize()).isEqualTo(1);
        assertThat(executor.getPoolSize()).isEqualTo(1);
        assertThat(executor.getLargestPoolSize()).isEqualTo(1);
        assertThat(executor.getActiveCount()).isEqualTo(1);
        assertThat(executor.getTaskCount()).isEqualTo(2);
        assertThat(executor.getCompletedTaskCount()).isZero();
        assertThat(executor.getThreadFactory()).isSameAs(pool.getThreadFactory());
        assertThat(executor.getRejectedExecutionHandler()).isSameAs(pool.getRejectedExecutionHandler());
        assertThat(executor).hasToString(pool.toString());
        Runnable queued = pool.getQueue().peek();
        assertThat(executor.remove(queued)).isTrue();
        assertThat(pool.stats().removed()).isEqualTo(1);
        Future<?> submitted = executor.submit(() -> "runs in the pool");
        assertThat(pool.getQueue()).hasSize(1);
        executor.shutdownNow();
        assertThat(pool.isShutdown()).isTrue();
        assertThat(submitted.isDone()).as("as in the JDK").isFalse();
        assertThat(executor.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        assertThat(executor.isShutdown() && executor.isTerminated() && !executor.isTerminating())
                .isTrue();
    }

    @Test
    void what_a_handler_sets_and_starts_is_set_and_started_in_the_pool() throws Exception {
        List<Thread> threads = new CopyOnWriteArrayList<>();
        RejectedExecutionHandler grows = (Runnable task, ThreadPoolExecutor executor) -> {
            executor.setMaximumPoolSize(executor.getMaximumPoolSize() + 2);
            executor.setCorePoolSize(executor.getCorePoolSize() + 1); // starts a thread for the waiting task
            executor.setCorePoolSize(executor.getMaximumPoolSize());
            executor.prestartAllCoreThreads();
            executor.setKeepAliveTime(2, TimeUnit.HOURS);
            executor.allowCoreThreadTimeOut(true);
            executor.setRejectedExecutionHandler(new ThreadPoolExecutor.AbortPolicy());
            ran.add(executor.getKeepAliveTime(TimeUnit.HOURS) + " " + executor.allowsCoreThreadTimeOut() + " "
                    + executor.getRejectedExecutionHandler().getClass().getSimpleName());
        };
        ThreadPool pool = pools.keep(new ThreadPool(
                1,
                1,
                1,
                TimeUnit.HOURS,
                new ArrayBlockingQueue<>(1),
                body -> {
                    Thread thread = new Thread(body);
                    threads.add(thread);
                    return thread;
                },
                grows));
        pools.occupy(pool);
        BlockingTask waiting = pools.blocker();
        pool.execute(waiting);

        pool.execute(() -> ran.add("never"));

        waiting.awaitBegun();
        assertThat(ran).containsExactly("2 true AbortPolicy"); // the handler reads what it has set
        assertThat(threads).hasSize(3);
        assertThat(pool.stats())
                .returns(2, ThreadPool.Stats::active)
                .returns(3, ThreadPool.Stats::threads)
                .returns(3, ThreadPool.Stats::coreThreads)
                .returns(3, ThreadPool.Stats::maxThreads);
        assertThat(pool.getKeepAliveTime(TimeUnit.HOURS)).isEqualTo(2);
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
        assertThat(pool.getRejectedExecutionHandler()).isInstanceOf(ThreadPoolExecutor.AbortPolicy.class);
        pool.shutdownNow();
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
        for (Thread thread : threads) {
            thread.join(); // none of them belongs to the executor that the handler has received
        }
    }

    @Test
    void the_handler_is_returned_as_it_was_set() throws Exception {
        RejectedExecutionHandler jdk = new ThreadPoolExecutor.CallerRunsPolicy();
        ThreadPool pool = full(jdk);
        assertThat(pool.getRejectedExecutionHandler()).isSameAs(jdk);
        assertThat(pool.getRejectedExecutionHandler()).hasToString(jdk.toString());

        RejectionHandler own = new ThreadPool.DiscardPolicy();
        pool.setRejectedExecutionHandler(own);
        assertThat(pool.getRejectedExecutionHandler()).isSameAs(own);
        assertThat(pool.getRejectedExecutionHandler()).isSameAs(own);
        assertThat(RejectionHandler.from(own)).isSameAs(own);
        assertThatNullPointerException().isThrownBy(() -> pool.setRejectedExecutionHandler(null));
        assertThatNullPointerException().isThrownBy(() -> full(null));
    }

    @Test
    void a_lambda_without_types_is_a_handler_for_a_pool() throws Exception {
        List<ThreadPool> rejecting = new ArrayList<>();
        ThreadPool pool = pools.keep(new ThreadPool(
                1, 1, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(1), (task, full) -> rejecting.add(full)));
        pools.occupy(pool);
        pool.execute(() -> {});

        pool.execute(() -> ran.add("never"));

        assertThat(rejecting).containsExactly(pool);
    }

    @Test
    void a_handler_for_a_pool_rejects_in_an_executor_of_the_jdk_and_decides_in_a_view_of_a_pool() throws Exception {
        RejectionHandler handler = (task, pool) -> ran.add("for " + pool.name());
        try (ThreadPoolExecutor executor =
                new ThreadPoolExecutor(1, 1, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(1), handler)) {
            executor.shutdown();
            assertThatThrownBy(() -> executor.execute(() -> ran.add("never")))
                    .isInstanceOf(RejectedExecutionException.class)
                    .hasMessageContaining("is for a dev.raddle.pool.ThreadPool");
        }
        ThreadPool pool = full((Runnable task, ThreadPoolExecutor view) -> handler.rejectedExecution(task, view));

        pool.execute(() -> ran.add("never"));

        assertThat(ran).containsExactly("for thread-pool");
    }
}
