package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RunnableFuture;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class ThreadPoolHooksTest {

    private final TestPools pools = new TestPools();
    private final List<Object> events = new CopyOnWriteArrayList<>();
    private final RecordingFactory threads = new RecordingFactory();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    /** Makes threads, records them and their uncaught exceptions. */
    private static class RecordingFactory implements ThreadFactory {
        private final List<Thread> made = new CopyOnWriteArrayList<>();
        private final List<Throwable> uncaught = new CopyOnWriteArrayList<>();
        private final List<Boolean> interrupts = new CopyOnWriteArrayList<>();

        @Override
        public Thread newThread(Runnable task) {
            Thread thread = new Thread(task);
            thread.setUncaughtExceptionHandler((dying, thrown) -> {
                interrupts.add(Thread.currentThread().isInterrupted());
                uncaught.add(thrown);
            });
            made.add(thread);
            return thread;
        }
    }

    /** A pool that records the calls of its hooks, which can be made to throw. */
    private class HookRecordingPool extends ThreadPool {
        private volatile BiConsumer<Thread, Runnable> before = (thread, task) -> {};
        private volatile BiConsumer<Runnable, Throwable> after = (task, thrown) -> {};

        HookRecordingPool(int size) {
            super(size, size, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>(), threads);
        }

        @Override
        protected void beforeExecute(Thread thread, Runnable task) {
            super.beforeExecute(thread, task);
            before.accept(thread, task);
        }

        @Override
        protected void afterExecute(Runnable task, Throwable thrown) {
            super.afterExecute(task, thrown);
            after.accept(task, thrown);
        }
    }

    static Stream<Throwable> throwables() {
        return Stream.of(
                new IllegalStateException("simulated"),
                new OutOfMemoryError("simulated"),
                new IOException("simulated, and no Runnable may throw it"),
                new Throwable("simulated, and neither exception nor error"));
    }

    @Test
    void the_hooks_are_called_around_the_task_in_its_thread() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        pool.before = (thread, task) -> Collections.addAll(events, "before", thread, task, Thread.currentThread());
        pool.after = (task, thrown) -> Collections.addAll(events, "after", task, thrown, Thread.currentThread());
        Runnable task = () -> events.add("task");
        pool.execute(task);
        TestPools.awaitCompleted(pool, 1);

        Thread thread = threads.made.getFirst();
        assertThat(events).containsExactly("before", thread, task, thread, "task", "after", task, null, thread);
    }

    @Test
    void the_hooks_receive_the_future_of_a_submitted_task_and_not_its_failure() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        pool.before = (thread, task) -> Collections.addAll(events, "before", task);
        pool.after = (task, thrown) -> Collections.addAll(events, "after", task, thrown, ((Future<?>) task).state());
        Future<?> future = pool.submit(TestPools.throwing(new IllegalStateException("simulated")));
        TestPools.awaitCompleted(pool, 1);

        assertThat(events).containsExactly("before", future, "after", future, null, Future.State.FAILED);
        assertThat(threads.uncaught).isEmpty();
        assertThat(threads.made).as("a future's failure ends no thread").hasSize(1);
    }

    @Test
    void the_hooks_count_a_task_as_active_and_not_as_completed() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        pool.before = (thread, task) -> Collections.addAll(events, pool.getActiveCount(), pool.getCompletedTaskCount());
        pool.after = (task, thrown) -> Collections.addAll(events, pool.getActiveCount(), pool.getCompletedTaskCount());
        pool.execute(() -> {});
        TestPools.awaitCompleted(pool, 1);

        assertThat(events).containsExactly(1, 0L, 1, 0L);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @MethodSource("throwables")
    void an_exception_of_a_task_reaches_afterExecute_and_the_uncaught_exception_handler(Throwable thrown)
            throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        pool.after = (task, cause) -> Collections.addAll(events, task, cause, Thread.currentThread());
        Runnable task = TestPools.throwing(thrown);
        pool.execute(task);
        Thread thread = threads.made.getFirst();
        thread.join();

        assertThat(events).containsExactly(task, thrown, thread);
        assertThat(threads.uncaught).containsExactly(thrown);
        assertThat(threads.interrupts).containsExactly(false);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(1);
    }

    @EachQueue
    void a_thread_that_its_task_ends_is_replaced_by_exactly_one(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        pool.setThreadFactory(threads);
        pools.occupy(pool);
        BlockingTask second = pools.occupy(pool);
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        pool.execute(() -> events.add("behind"));
        second.release();
        second.thread().join();
        Wait.until(() -> pool.getCompletedTaskCount() == 3);

        assertThat(events).containsExactly("behind");
        assertThat(threads.made).hasSize(3);
        assertThat(pool.getPoolSize()).isEqualTo(2);
        assertThat(pool.getLargestPoolSize()).isEqualTo(2);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(threads.made.getLast());
    }

    @EachQueue
    void a_thread_that_its_task_ends_is_replaced_although_no_task_is_queued(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.setThreadFactory(threads);
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        threads.made.getFirst().join();

        assertThat(threads.made).hasSize(2);
        assertThat(pool.getPoolSize()).isEqualTo(1);
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(threads.made.getLast());
    }

    @EachQueue
    void each_failing_task_ends_a_thread_and_no_task_is_lost(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 100);
        pool.setThreadFactory(threads);
        BlockingTask blocker = pools.occupy(pool);
        for (int i = 0; i < 20; i++) {
            pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
            pool.execute(() -> events.add("between"));
        }
        blocker.release();
        pool.close();

        assertThat(events).hasSize(20);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(41);
        assertThat(threads.made).hasSize(21);
        assertThat(pool.getLargestPoolSize()).isEqualTo(1);
        threads.made.getLast().join();
        Wait.until(() -> threads.uncaught.size() == 20);
    }

    @Test
    void a_failing_task_of_a_thread_beyond_core_leaves_the_counts_correct() throws Exception {
        ThreadPool pool = pools.direct(0, 3);
        pool.setThreadFactory(threads);
        pools.occupy(pool);
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        threads.made.get(1).join();

        assertThat(threads.made).hasSize(3);
        assertThat(pool.getPoolSize()).isEqualTo(2);
        assertThat(pool.getActiveCount()).isGreaterThanOrEqualTo(1);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(1);
    }

    @EachQueue
    void the_failure_of_a_submitted_task_stays_in_its_future(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pool.setThreadFactory(threads);
        Throwable thrown = new OutOfMemoryError("simulated");

        Future<?> future = pool.submit(TestPools.throwing(thrown));

        assertThatThrownBy(future::get).hasCause(thrown);
        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(threads.made.getFirst());
        assertThat(threads.uncaught).isEmpty();
        assertThat(threads.made).hasSize(1);
    }

    @ParameterizedTest
    @MethodSource("throwables")
    void a_task_is_skipped_and_counted_when_beforeExecute_throws(Throwable thrown) throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        Runnable skipped = () -> events.add("skipped");
        pool.before = (thread, task) -> {
            if (task == skipped) {
                TestPools.<RuntimeException>sneaky(thrown);
            }
        };
        pool.execute(skipped);
        pool.execute(() -> events.add("behind"));
        threads.made.getFirst().join();
        TestPools.awaitCompleted(pool, 2);

        assertThat(events).containsExactly("behind");
        assertThat(threads.uncaught).containsExactly(thrown);
        assertThat(threads.made).hasSize(2);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
        assertThat(pool.getPoolSize()).isEqualTo(1);
    }

    @Test
    void an_exception_of_afterExecute_also_ends_the_thread() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        RuntimeException thrown = new IllegalStateException("simulated");
        Runnable first = () -> events.add("first");
        pool.after = (task, cause) -> {
            if (task == first) {
                throw thrown;
            }
        };
        pool.execute(first);
        pool.execute(() -> events.add("behind"));
        threads.made.getFirst().join();
        TestPools.awaitCompleted(pool, 2);

        assertThat(events).containsExactly("first", "behind");
        assertThat(threads.uncaught).containsExactly(thrown);
        assertThat(threads.made).hasSize(2);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(2);
    }

    @Test
    void afterExecute_may_replace_the_exception_of_the_task() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        RuntimeException replaced = new IllegalStateException("instead");
        pool.after = (task, cause) -> {
            throw replaced;
        };
        pool.execute(TestPools.throwing(new IllegalStateException("simulated")));
        threads.made.getFirst().join();

        assertThat(threads.uncaught).containsExactly(replaced);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(1);
    }

    @Test
    void hooks_and_tasks_that_throw_leave_every_count_correct() throws Exception {
        List<Throwable> thrown = new ArrayList<>(throwables().toList());
        thrown.add(null);
        record FailingTask(Throwable before, Throwable inside, AtomicInteger runs) implements Runnable {
            @Override
            public void run() {
                runs.incrementAndGet();
                raise(inside);
            }

            static void raise(Throwable thrown) {
                if (thrown != null) {
                    TestPools.<RuntimeException>sneaky(thrown);
                }
            }
        }
        HookRecordingPool pool = pools.keep(new HookRecordingPool(4));
        AtomicInteger befores = new AtomicInteger();
        pool.before = (thread, task) -> {
            befores.incrementAndGet();
            FailingTask.raise(((FailingTask) task).before);
        };
        List<FailingTask> tasks = new ArrayList<>();
        for (Throwable before : thrown) {
            for (Throwable inside : thrown) {
                tasks.add(new FailingTask(before, inside, new AtomicInteger()));
            }
        }

        tasks.forEach(pool::execute);
        Wait.until(() -> threads.uncaught.size() == 24);
        pool.close();

        assertThat(pool.getTaskCount()).isEqualTo(25);
        assertThat(pool.getCompletedTaskCount()).isEqualTo(25);
        assertThat(befores).hasValue(25);
        assertThat(tasks).allSatisfy(task -> assertThat(task.runs).hasValue(task.before == null ? 1 : 0));
        for (Throwable each : throwables().toList()) {
            assertThat(threads.uncaught)
                    .filteredOn(caught -> caught.getClass() == each.getClass())
                    .as("five times in the hook, once in the task")
                    .hasSize(6);
        }
        assertThat(threads.interrupts).containsOnly(false);
        assertThat(pool.getLargestPoolSize()).isEqualTo(4);
    }

    @Test
    void beforeExecute_never_sees_the_interrupt_of_another_task() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        pool.before = (thread, task) -> events.add(thread.isInterrupted());
        BlockingTask blocker = pools.occupy(pool);
        for (int i = 0; i < 3; i++) {
            pool.execute(() -> Thread.currentThread().interrupt());
        }
        blocker.release();
        TestPools.awaitCompleted(pool, 4);

        assertThat(events).containsExactly(false, false, false, false);
    }

    @Test
    void the_hooks_are_not_called_for_a_task_that_the_caller_runs() throws Exception {
        HookRecordingPool pool = pools.keep(new HookRecordingPool(1));
        pool.before = (thread, task) -> events.add("before");

        new ThreadPool.CallerRunsPolicy().rejected(() -> events.add("task"), pool);

        assertThat(events).containsExactly("task");
    }

    /** A pool with its own kind of future, as the javadoc of AbstractExecutorService proposes. */
    private class CustomFuturePool extends ThreadPool {
        private class CustomFuture<V> extends FutureTask<V> {
            CustomFuture(Callable<V> callable) {
                super(callable);
                events.add("callable");
            }

            CustomFuture(Runnable task, V value) {
                super(task, value);
                events.add("runnable");
            }
        }

        CustomFuturePool() {
            super(2, 2, 1, TimeUnit.HOURS, new ArrayBlockingQueue<>(10));
        }

        @Override
        protected <V> RunnableFuture<V> newTaskFor(Callable<V> callable) {
            return new CustomFuture<>(callable);
        }

        @Override
        protected <V> RunnableFuture<V> newTaskFor(Runnable task, V value) {
            return new CustomFuture<>(task, value);
        }
    }

    @Test
    void a_subclass_may_create_the_futures() throws Exception {
        CustomFuturePool pool = pools.keep(new CustomFuturePool());
        Callable<String> callable = () -> "value";
        Runnable runnable = () -> {};

        assertThat(pool.submit(callable)).isInstanceOf(CustomFuturePool.CustomFuture.class);
        assertThat(pool.submit(runnable)).isInstanceOf(CustomFuturePool.CustomFuture.class);
        assertThat(pool.submit(runnable, "value")).isInstanceOf(CustomFuturePool.CustomFuture.class);
        assertThat(events).containsExactly("callable", "runnable", "runnable");
        assertThat(pool.invokeAll(List.of(callable, callable))).allSatisfy(future -> {
            assertThat(future).isInstanceOf(CustomFuturePool.CustomFuture.class);
            assertThat(future.get()).isEqualTo("value");
        });
        assertThat(pool.invokeAny(List.of(callable))).isEqualTo("value");
        assertThat(pool.invokeAny(List.of(callable), 1, TimeUnit.HOURS)).isEqualTo("value");
        assertThat(pool.invokeAll(List.of(callable), 1, TimeUnit.HOURS))
                .hasOnlyElementsOfType(CustomFuturePool.CustomFuture.class);
        assertThat(events)
                .containsExactly(
                        "callable", "runnable", "runnable", "callable", "callable", "callable", "callable", "callable");
        pool.execute(runnable);
        assertThat(events).as("execute() makes no future").hasSize(8);
    }

    @Test
    void every_submission_goes_through_execute() throws Exception {
        class CountingPool extends ThreadPool {
            CountingPool() {
                super(1, 1, 1, TimeUnit.HOURS, new LinkedBlockingQueue<>());
            }

            @Override
            public void execute(Runnable task) {
                events.add(task);
                super.execute(task);
            }
        }
        CountingPool pool = pools.keep(new CountingPool());

        Future<String> future = pool.submit(() -> "value");
        assertThat(future.get()).isEqualTo("value");
        pool.submit(() -> {}, "value").get();
        pool.invokeAll(List.of(() -> "value", () -> "value"));
        pool.invokeAny(List.of(() -> "value"));

        assertThat(events).hasSize(5).startsWith(future);
    }

    @Test
    void a_subclass_may_pause_its_threads_before_a_task() throws Exception {
        CountDownLatch resumed = new CountDownLatch(1);
        HookRecordingPool pool = pools.keep(new HookRecordingPool(2));
        pool.before = (thread, task) -> {
            try {
                resumed.await();
            } catch (InterruptedException interrupt) {
                thread.interrupt();
            }
        };
        for (int i = 0; i < 3; i++) {
            pool.execute(() -> events.add("ran"));
        }
        Wait.until(() -> pool.getActiveCount() == 2);
        assertThat(events).isEmpty();
        assertThat(pool.getQueue()).hasSize(1);

        resumed.countDown();
        TestPools.awaitCompleted(pool, 3);

        assertThat(events).hasSize(3);
    }
}
