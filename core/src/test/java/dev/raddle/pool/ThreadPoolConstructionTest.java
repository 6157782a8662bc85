package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import dev.raddle.testing.BlockingTask;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ThreadPoolConstructionTest {

    private static final ThreadFactory FACTORY = Thread::new;
    private static final RejectionHandler HANDLER = (task, pool) -> {};

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /** One of the four constructors. */
    interface Constructor {
        ThreadPool construct(int core, int max, long keepAlive, TimeUnit unit, BlockingQueue<Runnable> queue);
    }

    static Stream<Named<Constructor>> constructors() {
        return Stream.of(
                Named.of("five arguments", ThreadPool::new),
                Named.of(
                        "and a factory",
                        (core, max, time, unit, queue) -> new ThreadPool(core, max, time, unit, queue, FACTORY)),
                Named.of(
                        "and a handler",
                        (core, max, time, unit, queue) -> new ThreadPool(core, max, time, unit, queue, HANDLER)),
                Named.of(
                        "and both",
                        (core, max, time, unit, queue) ->
                                new ThreadPool(core, max, time, unit, queue, FACTORY, HANDLER)));
    }

    private static BlockingQueue<Runnable> queue() {
        return new ArrayBlockingQueue<>(10);
    }

    @ParameterizedTest
    @MethodSource("constructors")
    void illegal_sizes_and_times_throw_an_IllegalArgumentException(Constructor constructor) {
        assertThatIllegalArgumentException()
                .as("core below 0")
                .isThrownBy(() -> constructor.construct(-1, 1, 1, TimeUnit.SECONDS, queue()));
        assertThatIllegalArgumentException()
                .as("maximum below 0")
                .isThrownBy(() -> constructor.construct(1, -1, 1, TimeUnit.SECONDS, queue()));
        assertThatIllegalArgumentException()
                .as("maximum of 0")
                .isThrownBy(() -> constructor.construct(1, 0, 1, TimeUnit.SECONDS, queue()));
        assertThatIllegalArgumentException()
                .as("both 0")
                .isThrownBy(() -> constructor.construct(0, 0, 1, TimeUnit.SECONDS, queue()));
        assertThatIllegalArgumentException()
                .as("core above maximum")
                .isThrownBy(() -> constructor.construct(2, 1, 1, TimeUnit.SECONDS, queue()));
        assertThatIllegalArgumentException()
                .as("keep-alive below 0")
                .isThrownBy(() -> constructor.construct(1, 2, -1, TimeUnit.SECONDS, queue()));
    }

    @ParameterizedTest
    @MethodSource("constructors")
    void a_null_queue_or_unit_is_rejected(Constructor constructor) {
        assertThatNullPointerException().isThrownBy(() -> constructor.construct(1, 2, 1, TimeUnit.SECONDS, null));
        assertThatNullPointerException().isThrownBy(() -> constructor.construct(1, 2, 1, null, queue()));
    }

    @Test
    void a_null_factory_or_handler_is_rejected() {
        ThreadFactory noFactory = null;
        RejectionHandler noHandler = null;
        assertThatNullPointerException()
                .isThrownBy(() -> new ThreadPool(1, 2, 1, TimeUnit.SECONDS, queue(), noFactory));
        assertThatNullPointerException()
                .isThrownBy(() -> new ThreadPool(1, 2, 1, TimeUnit.SECONDS, queue(), noHandler));
        assertThatNullPointerException()
                .isThrownBy(() -> new ThreadPool(1, 2, 1, TimeUnit.SECONDS, queue(), noFactory, HANDLER));
        assertThatNullPointerException()
                .isThrownBy(() -> new ThreadPool(1, 2, 1, TimeUnit.SECONDS, queue(), FACTORY, noHandler));
    }

    @ParameterizedTest
    @MethodSource("constructors")
    void a_new_pool_has_the_given_settings_and_no_thread(Constructor constructor) {
        BlockingQueue<Runnable> queue = queue();
        ThreadPool pool = pools.keep(constructor.construct(2, 5, 1500, TimeUnit.MILLISECONDS, queue));

        assertThat(pool.getCorePoolSize()).isEqualTo(2);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(5);
        assertThat(pool.getKeepAliveTime(TimeUnit.MILLISECONDS)).isEqualTo(1500);
        assertThat(pool.getKeepAliveTime(TimeUnit.SECONDS)).isEqualTo(1);
        assertThat(pool.getQueue()).isSameAs(queue);
        assertThat(pool.allowsCoreThreadTimeOut()).isFalse();
        assertThat(pool.getPoolSize()).isZero();
        assertThat(pool.getActiveCount()).isZero();
        assertThat(pool.getLargestPoolSize()).isZero();
        assertThat(pool.getTaskCount()).isZero();
        assertThat(pool.getCompletedTaskCount()).isZero();
        assertThat(pool.isShutdown()).isFalse();
        assertThat(pool.isTerminating()).isFalse();
        assertThat(pool.isTerminated()).isFalse();
    }

    @Test
    void the_factory_and_the_handler_are_the_given_ones() {
        ThreadPool both = pools.keep(new ThreadPool(1, 1, 0, TimeUnit.SECONDS, queue(), FACTORY, HANDLER));
        assertThat(both.getThreadFactory()).isSameAs(FACTORY);
        assertThat(both.getRejectedExecutionHandler()).isSameAs(HANDLER);
        ThreadPool factory = pools.keep(new ThreadPool(1, 1, 0, TimeUnit.SECONDS, queue(), FACTORY));
        assertThat(factory.getThreadFactory()).isSameAs(FACTORY);
        assertThat(factory.getRejectedExecutionHandler()).isInstanceOf(ThreadPool.AbortPolicy.class);
        ThreadPool handler = pools.keep(new ThreadPool(1, 1, 0, TimeUnit.SECONDS, queue(), HANDLER));
        assertThat(handler.getRejectedExecutionHandler()).isSameAs(HANDLER);
    }

    @Test
    void without_a_factory_threads_are_of_normal_priority_and_no_daemons() throws Exception {
        ThreadPool pool = pools.on(queue(), 1, 1);

        Thread thread = pool.submit(Thread::currentThread).get();

        assertThat(thread.isDaemon()).isFalse();
        assertThat(thread.isVirtual()).isFalse();
        assertThat(thread.getPriority()).isEqualTo(Thread.NORM_PRIORITY);
        assertThat(thread.getName()).matches("pool-\\d+-thread-1");
    }

    @Test
    void a_keep_alive_that_overflows_nanoseconds_is_the_longest_possible() {
        ThreadPool pool = pools.keep(new ThreadPool(1, 1, Long.MAX_VALUE, TimeUnit.DAYS, queue()));

        assertThat(pool.getKeepAliveTime(TimeUnit.NANOSECONDS)).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void the_largest_possible_sizes_are_allowed() throws Exception {
        ThreadPool pool = pools.direct(0, Integer.MAX_VALUE);
        assertThat(pool.getMaximumPoolSize()).isEqualTo(Integer.MAX_VALUE);
        assertThat(pool.submit(() -> "ran").get()).isEqualTo("ran");

        ThreadPool wide = pools.on(new LinkedBlockingQueue<>(), Integer.MAX_VALUE, Integer.MAX_VALUE);
        assertThat(wide.getCorePoolSize()).isEqualTo(Integer.MAX_VALUE);
        assertThat(wide.submit(() -> "ran").get()).isEqualTo("ran");
        assertThat(wide.getPoolSize()).isEqualTo(1);
    }

    @Test
    void tasks_in_the_queue_at_construction_run_when_threads_are_started() throws Exception {
        BlockingTask first = pools.blocker();
        BlockingTask second = pools.blocker();
        ThreadPool pool = pools.on(new LinkedBlockingQueue<>(List.of(first, second)), 2, 2);
        assertThat(pool.getTaskCount()).isEqualTo(2);

        assertThat(pool.prestartAllCoreThreads()).isEqualTo(2);

        first.awaitBegun();
        second.awaitBegun();
        assertThat(pool.getQueue()).isEmpty();
    }
}
