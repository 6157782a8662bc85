package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The effect of a pool's methods when little stack is left, called in each of the last frames. */
class NearTheEndOfTheStackTest {

    private static final long STACK = 256 << 10;
    private static final int FRAMES = 600;

    private final TestPools pools = new TestPools();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /**
     * Recurses to the end of the stack, and runs the action in the last frames on the way back. Returns the number of
     * frames left.
     */
    @SuppressWarnings("InfiniteRecursion") // the recursion ends with a StackOverflowError
    private static int descend(Runnable action) {
        int left;
        try {
            left = descend(action);
        } catch (StackOverflowError end) {
            left = FRAMES;
        }
        if (left == 0) {
            return 0;
        }
        try {
            action.run();
        } catch (StackOverflowError | RejectedExecutionException refused) {
            return left - 1;
        }
        return left - 1;
    }

    private static void atTheEndOfAStack(Runnable action) throws InterruptedException {
        Thread thread = new Thread(null, () -> descend(action), "deep", STACK);
        thread.setDaemon(true);
        thread.start();
        thread.join();
    }

    @EachQueue
    void a_submitter_leaves_no_lock_held_and_no_worker_counted(QueueKind queueKind) throws Exception {
        for (int round = 0; round < 2; round++) {
            ThreadPool pool = pools.of(queueKind, 1, 20, 3);
            AtomicInteger accepted = new AtomicInteger();
            AtomicInteger ran = new AtomicInteger();

            atTheEndOfAStack(() -> {
                pool.execute(ran::incrementAndGet);
                accepted.incrementAndGet();
            });

            pool.shutdown();
            assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
            assertThat(pool.getCompletedTaskCount()).isEqualTo(ran.get());
            assertThat(ran.get()).isGreaterThanOrEqualTo(accepted.get());
        }
    }

    @EachQueue
    void a_pool_that_is_shut_down_there_terminates(QueueKind queueKind) throws Exception {
        for (int round = 0; round < 2; round++) {
            ThreadPool pool = pools.of(queueKind, 2, 4, 10);
            pool.prestartAllCoreThreads();
            pool.execute(() -> {});

            atTheEndOfAStack(pool::shutdown);

            pool.shutdown(); // the call above may have failed for lack of stack
            assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
            assertThat(pool.getCompletedTaskCount()).isEqualTo(1);
        }
    }

    /** The methods that stop a pool. */
    enum Stop {
        SHUTDOWN(ThreadPool::shutdown),
        SHUTDOWN_NOW(ThreadPool::shutdownNow);

        final Consumer<ThreadPool> action;

        Stop(Consumer<ThreadPool> action) {
            this.action = action;
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_shutdown_for_which_the_stack_does_not_suffice_has_no_effect(Stop stop) throws Exception {
        stop.action.accept(pools.of(QueueKind.BUILT_IN, 1, 1, 3)); // links the calls, while there is room
        ThreadPool pool = pools.of(QueueKind.BUILT_IN, 1, 1, 3);
        AtomicInteger refused = new AtomicInteger();
        AtomicInteger halfDone = new AtomicInteger();

        atTheEndOfAStack(() -> {
            boolean before = pool.isShutdown(); // by a call in a deeper frame, with smaller frames above it
            try {
                stop.action.accept(pool);
            } catch (StackOverflowError end) {
                refused.incrementAndGet();
                if (!before && pool.isShutdown()) {
                    halfDone.incrementAndGet();
                }
            }
        });

        assertThat(refused).hasPositiveValue();
        assertThat(halfDone).hasValue(0);
        stop.action.accept(pool); // compiled frames are small, so no call above may have had room
        assertThat(pool.awaitTermination(1, TimeUnit.HOURS)).isTrue();
    }
}
