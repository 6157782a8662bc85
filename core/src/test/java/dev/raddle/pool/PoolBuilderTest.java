package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.testing.BlockingTask;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PoolBuilderTest {

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    @Test
    void the_defaults_are_one_thread_per_processor_and_an_unbounded_queue() {
        ThreadPool pool = pools.keep(ThreadPool.builder("plain").build());

        int processors = Runtime.getRuntime().availableProcessors();
        assertThat(pool.getCorePoolSize()).isEqualTo(processors);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(processors);
        assertThat(pool.getQueueCapacity()).isEqualTo(Integer.MAX_VALUE);
        assertThat(pool.getQueue().remainingCapacity()).isEqualTo(Integer.MAX_VALUE);
        assertThat(pool.getKeepAliveTime(TimeUnit.SECONDS)).isEqualTo(60);
        assertThat(pool.allowsCoreThreadTimeOut()).isFalse();
        assertThat(pool.getRejectedExecutionHandler()).isInstanceOf(ThreadPool.AbortPolicy.class);
        assertThat(pool.getPoolSize()).isZero();
    }

    @Test
    void a_pool_has_the_settings_of_its_builder() {
        ThreadFactory factory = Thread::new;
        RejectionHandler handler = (task, rejecting) -> {};
        ThreadPool pool = pools.keep(ThreadPool.builder("set")
                .coreThreads(3)
                .maxThreads(7)
                .queueCapacity(11)
                .keepAlive(Duration.ofMillis(1500))
                .allowCoreTimeout(true)
                .threadFactory(factory)
                .rejection(handler)
                .build());

        assertThat(pool.getCorePoolSize()).isEqualTo(3);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(7);
        assertThat(pool.getQueueCapacity()).isEqualTo(11);
        assertThat(pool.getKeepAliveTime(TimeUnit.MILLISECONDS)).isEqualTo(1500);
        assertThat(pool.allowsCoreThreadTimeOut()).isTrue();
        assertThat(pool.getThreadFactory()).isSameAs(factory);
        assertThat(pool.getRejectedExecutionHandler()).isSameAs(handler);
    }

    @Test
    void the_order_of_the_settings_does_not_matter() {
        ThreadPool maxFirst =
                pools.keep(ThreadPool.builder("a").maxThreads(9).coreThreads(5).build());
        ThreadPool coreFirst =
                pools.keep(ThreadPool.builder("b").coreThreads(5).maxThreads(9).build());
        assertThat(List.of(maxFirst.getCorePoolSize(), maxFirst.getMaximumPoolSize()))
                .containsExactly(5, 9);
        assertThat(List.of(coreFirst.getCorePoolSize(), coreFirst.getMaximumPoolSize()))
                .containsExactly(5, 9);
        ThreadPool both = pools.keep(ThreadPool.builder("c").threads(4).build());
        assertThat(List.of(both.getCorePoolSize(), both.getMaximumPoolSize())).containsExactly(4, 4);
    }

    @Test
    void a_user_supplied_queue_is_used_unchanged() {
        BlockingQueue<Runnable> queue = new LinkedBlockingQueue<>(5);

        ThreadPool pool = pools.keep(ThreadPool.builder("foreign").queue(queue).build());

        assertThat(pool.getQueue()).isSameAs(queue);
    }

    @Test
    void threads_are_numbered_under_the_name_of_their_pool() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("reports").threads(3).build());

        List<String> names = new ArrayList<>();
        for (BlockingTask blocker : pools.occupy(pool, 3)) {
            names.add(blocker.thread().getName());
            assertThat(blocker.thread().isDaemon()).isFalse();
            assertThat(blocker.thread().isVirtual()).isFalse();
        }

        assertThat(names).containsExactly("reports-1", "reports-2", "reports-3");
    }

    @Test
    void threads_are_no_daemons_also_if_a_virtual_thread_submits() throws Exception {
        ThreadPool pool = pools.keep(ThreadPool.builder("reports").build());
        FutureTask<String> seen = new FutureTask<>(() -> {
            Thread self = Thread.currentThread();
            return "daemon: " + self.isDaemon() + ", priority " + self.getPriority();
        });

        Thread.ofVirtual().start(() -> pool.execute(seen));

        assertThat(seen.get()).isEqualTo("daemon: false, priority 5");
    }

    @Test
    void illegal_settings_are_rejected() {
        PoolBuilder builder = ThreadPool.builder("refusing");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.coreThreads(-1).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadPool.builder("a").maxThreads(0).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadPool.builder("a").threads(0).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadPool.builder("a").queueCapacity(0).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadPool.builder("a").queueCapacity(-1).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        ThreadPool.builder("a").keepAlive(Duration.ofNanos(-1)).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ThreadPool.builder("a")
                        .keepAlive(Duration.ZERO)
                        .allowCoreTimeout(true)
                        .build());
        assertThatIllegalArgumentException()
                .isThrownBy(
                        () -> ThreadPool.builder("a").stuckAfter(Duration.ZERO).build());
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        ThreadPool.builder("a").stuckAfter(Duration.ofNanos(-1)).build());
    }

    @Test
    void null_settings_are_rejected() {
        PoolBuilder builder = ThreadPool.builder("a");
        assertThatNullPointerException().isThrownBy(() -> ThreadPool.builder(null));
        assertThatNullPointerException().isThrownBy(() -> builder.queue(null));
        assertThatNullPointerException().isThrownBy(() -> builder.keepAlive(null));
        assertThatNullPointerException().isThrownBy(() -> builder.threadFactory(null));
        assertThatNullPointerException().isThrownBy(() -> builder.rejection(null));
        assertThatNullPointerException().isThrownBy(() -> builder.priority(null));
        assertThatNullPointerException().isThrownBy(() -> builder.timeSource(null));
        assertThatNullPointerException().isThrownBy(() -> builder.listener(null));
        assertThatNullPointerException().isThrownBy(() -> builder.stuckAfter(null));
    }

    @Test
    void a_builder_makes_pools_that_share_nothing() throws Exception {
        PoolBuilder builder = ThreadPool.builder("twin").threads(1);
        ThreadPool first = pools.keep(builder.build());
        ThreadPool second = pools.keep(builder.build());

        pools.occupy(first);
        first.execute(() -> {});

        assertThat(second.getQueue()).isEmpty();
        assertThat(second.submit(() -> "ran").get()).isEqualTo("ran");
        first.shutdownNow();
        assertThat(second.isShutdown()).isFalse();
    }

    /** A subclass with the built-in queue that records the calls of its hooks. */
    private class HookRecordingPool extends ThreadPool {
        private final List<Object> events = new CopyOnWriteArrayList<>();
        private volatile Runnable refused;

        HookRecordingPool(QueueKind queueKind) {
            super(queueKind.plan(1, 1, 10).threadFactory(task -> {
                Thread thread = new Thread(task);
                thread.setUncaughtExceptionHandler((dying, thrown) -> {});
                return thread;
            }));
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable task) {
            if (task == refused) {
                throw new IllegalStateException("refused");
            }
        }

        @Override
        protected void afterExecute(Runnable task, Throwable thrown) {
            events.add(task);
            events.add(thrown == null ? "fine" : thrown.getMessage());
        }
    }

    @EachQueue
    void afterExecute_receives_the_exception_of_beforeExecute_and_the_task_is_skipped(QueueKind queueKind)
            throws Exception {
        List<String> ran = new CopyOnWriteArrayList<>();
        HookRecordingPool pool = pools.keep(new HookRecordingPool(queueKind));
        Runnable refused = () -> ran.add("refused");
        Runnable next = () -> ran.add("next");
        pool.refused = refused;
        pool.execute(refused);
        pool.execute(next);
        TestPools.awaitCompleted(pool, 2);

        assertThat(ran).containsExactly("next");
        assertThat(pool.events).containsExactly(refused, "refused", next, "fine");
        assertThat(pool.getTaskCount()).isEqualTo(2);
        assertThat(pool.getPoolSize()).isEqualTo(1);
    }

    @EachQueue
    void the_future_of_a_skipped_task_is_cancelled(QueueKind queueKind) throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(queueKind));
        BlockingTask blocker = pools.occupy(pool);
        Callable<String> callable = () -> "never";
        Future<String> future = pool.submit(callable);
        pool.refused = (Runnable) future;
        blocker.release();
        TestPools.awaitCompleted(pool, 2);

        assertThat(future.isCancelled()).isTrue();
    }
}
