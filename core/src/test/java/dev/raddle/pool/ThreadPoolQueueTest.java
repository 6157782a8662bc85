package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.BlockingTask;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.ConcurrentModificationException;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.PriorityBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ThreadPoolQueueTest {

    private final TestPools pools = new TestPools();
    private final List<String> ran = new CopyOnWriteArrayList<>();

    @AfterEach
    void endAll() throws InterruptedException {
        pools.endAll();
    }

    private Runnable task(String name) {
        return new NamedRunnable(name);
    }

    private class NamedRunnable implements Runnable {
        private final String name;

        NamedRunnable(String name) {
            this.name = name;
        }

        @Override
        public void run() {
            ran.add(name);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    @EachQueue
    void one_thread_runs_tasks_in_the_order_of_their_submission(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1000);
        List<String> expected = new ArrayList<>();
        BlockingTask blocker = pools.occupy(pool);
        for (int i = 0; i < 1000; i++) {
            expected.add("t" + i);
            pool.execute(task("t" + i));
        }
        blocker.release();
        TestPools.awaitCompleted(pool, 1001);

        assertThat(ran).isEqualTo(expected);
    }

    @Test
    void a_priority_queue_decides_which_task_is_next() throws Exception {
        ThreadPool pool = pools.on(new PriorityBlockingQueue<>(4, Comparator.comparing(Runnable::toString)), 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        for (String name : List.of("3", "1", "5", "2", "4")) {
            pool.execute(task(name));
        }
        blocker.release();
        TestPools.awaitCompleted(pool, 6);

        assertThat(ran).containsExactly("1", "2", "3", "4", "5");
    }

    @Test
    void an_exception_of_the_queue_propagates_to_the_submitter_and_leaves_the_pool_unchanged() throws Exception {
        ThreadPool pool = pools.on(new PriorityBlockingQueue<>(), 1, 1);
        BlockingTask blocker = pools.occupy(pool);

        assertThatThrownBy(() -> pool.execute(task("cannot be compared"))).isInstanceOf(ClassCastException.class);
        assertThatThrownBy(() -> pool.submit(task("cannot be compared"))).isInstanceOf(ClassCastException.class);

        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getTaskCount()).isEqualTo(1);
        blocker.release();
        TestPools.awaitCompleted(pool, 1);
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_queue_contains_the_waiting_tasks_and_not_the_running_ones(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingQueue<Runnable> queue = pool.getQueue();
        BlockingTask blocker = pools.occupy(pool);
        Runnable first = task("first");
        Runnable second = task("second");
        pool.execute(first);
        pool.execute(second);

        assertThat(queue).containsExactly(first, second).hasSize(2);
        assertThat(queue.contains(blocker)).isFalse();
        assertThat(queue.contains(second)).isTrue();
        assertThat(queue.peek()).isSameAs(first);
        assertThat(queue.remainingCapacity()).isEqualTo(8);
        assertThat(pool.getQueue()).isSameAs(queue);
        blocker.release();
        TestPools.awaitCompleted(pool, 3);
        assertThat(queue).isEmpty();
        assertThat(queue.peek()).isNull();
    }

    @EachQueue
    void the_queue_contains_the_future_that_submit_returned(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pools.occupy(pool);

        Future<?> future = pool.submit(task("waiting"));

        assertThat(pool.getQueue().peek()).isSameAs(future);
    }

    @EachQueue
    void a_task_that_is_removed_never_runs_and_is_not_counted(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        List<Runnable> tasks = List.of(task("0"), task("1"), task("2"), task("3"));
        tasks.forEach(pool::execute);
        assertThat(pool.getTaskCount()).isEqualTo(5);

        assertThat(pool.remove(tasks.get(3))).isTrue();
        assertThat(pool.remove(tasks.get(3))).as("a second time").isFalse();
        assertThat(pool.remove(tasks.get(1))).isTrue();
        assertThat(pool.remove(blocker)).as("it runs").isFalse();
        assertThat(pool.remove(task("0"))).as("another one, of the same name").isFalse();

        assertThat(pool.getQueue()).containsExactly(tasks.get(0), tasks.get(2));
        assertThat(pool.getTaskCount()).isEqualTo(3);
        blocker.release();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("0", "2");
        assertThat(pool.remove(tasks.get(0))).as("it has run").isFalse();
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
    }

    @EachQueue
    void a_task_that_is_queued_twice_is_removed_once(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        Runnable twice = task("twice");
        pool.execute(twice);
        pool.execute(task("between"));
        pool.execute(twice);

        assertThat(pool.remove(twice)).isTrue();
        blocker.release();
        TestPools.awaitCompleted(pool, 3);

        assertThat(ran).containsExactly("between", "twice");
    }

    @EachQueue
    void a_submitted_task_is_removed_by_its_future_and_not_by_the_task_itself(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        pools.occupy(pool);
        Runnable task = task("never");
        Future<?> future = pool.submit(task);

        assertThat(pool.remove(task)).isFalse();
        assertThat(pool.remove((Runnable) future)).isTrue();

        assertThat(pool.getQueue()).isEmpty();
        assertThat(future.isDone()).as("it is neither run nor cancelled").isFalse();
    }

    @EachQueue
    void removing_makes_room(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        BlockingTask blocker = pools.occupy(pool);
        Runnable first = task("first");
        pool.execute(first);
        assertThatThrownBy(() -> pool.execute(task("second"))).isInstanceOf(RejectedExecutionException.class);

        pool.remove(first);
        pool.execute(task("third"));
        blocker.release();
        TestPools.awaitCompleted(pool, 2);

        assertThat(ran).containsExactly("third");
    }

    @EachQueue
    void purge_removes_the_cancelled_futures_only(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        BlockingTask blocker = pools.occupy(pool);
        List<FutureTask<Object>> futures = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            FutureTask<Object> future = new FutureTask<>(task("f" + i), null);
            futures.add(future);
            pool.execute(future);
        }
        Runnable plain = task("plain");
        pool.execute(plain);
        futures.get(0).cancel(false);
        futures.get(3).cancel(true);
        futures.get(4).cancel(false);
        assertThat(pool.getQueue()).as("cancelling alone takes nothing out").hasSize(6);

        pool.purge();

        assertThat(pool.getQueue()).containsExactly(futures.get(1), futures.get(2), plain);
        assertThat(pool.getTaskCount()).isEqualTo(4);
        pool.purge();
        assertThat(pool.getTaskCount()).isEqualTo(4);
        blocker.release();
        TestPools.awaitCompleted(pool, 4);
        assertThat(ran).containsExactly("f1", "f2", "plain");
    }

    @Test
    void purge_works_on_a_queue_whose_iterator_fails() throws Exception {
        LinkedBlockingQueue<Runnable> queue = new LinkedBlockingQueue<>() {
            @Override
            public Iterator<Runnable> iterator() {
                throw new ConcurrentModificationException();
            }
        };
        ThreadPool pool = pools.on(queue, 1, 1);
        pools.occupy(pool);
        Future<?> cancelled = pool.submit(task("cancelled"));
        pool.submit(task("not cancelled"));
        cancelled.cancel(false);

        pool.purge();

        assertThat(queue.size()).isEqualTo(1);
    }

    @EachQueue
    void a_null_task_is_rejected(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 1, 1, 10);
        Runnable noRunnable = null;
        Callable<String> noCallable = null;

        assertThatNullPointerException().isThrownBy(() -> pool.execute(noRunnable));
        assertThatNullPointerException().isThrownBy(() -> pool.submit(noRunnable));
        assertThatNullPointerException().isThrownBy(() -> pool.submit(noRunnable, "result"));
        assertThatNullPointerException().isThrownBy(() -> pool.submit(noCallable));

        assertThat(pool.getPoolSize()).isZero();
        assertThat(pool.getTaskCount()).isZero();
    }

    @EachQueue
    void every_submission_is_rejected_when_the_pool_is_full_and_after_shutdown(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 2, 1);
        pools.occupy(pool);
        pool.execute(task("waiting"));
        pools.occupy(pool);
        assertEverythingRejected(pool);

        pool.shutdown();
        assertThat(pool.isTerminated()).isFalse();
        assertEverythingRejected(pool);

        pools.endAll();
        assertThat(pool.isTerminated()).isTrue();
        assertEverythingRejected(pool);
    }

    private void assertEverythingRejected(ThreadPool pool) {
        long before = pool.getTaskCount();
        Callable<String> callable = () -> "never";
        assertThatThrownBy(() -> pool.execute(task("never"))).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> pool.submit(task("never"))).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> pool.submit(task("never"), "")).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> pool.submit(callable)).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> pool.invokeAll(List.of(callable))).isInstanceOf(RejectedExecutionException.class);
        assertThatThrownBy(() -> pool.invokeAny(List.of(callable))).isInstanceOf(RejectedExecutionException.class);
        assertThat(pool.getTaskCount()).isEqualTo(before);
        assertThat(ran).doesNotContain("never");
    }

    @EachQueue
    void a_handler_receives_the_task_and_the_pool_once_in_the_submitters_thread(QueueKind queueKind) throws Exception {
        List<Object> heard = new ArrayList<>();
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pool.setRejectionHandler((task, rejecting) -> {
            heard.add(task);
            heard.add(rejecting);
            heard.add(Thread.currentThread());
        });
        pools.occupy(pool);
        pool.execute(task("waiting"));
        Runnable rejected = task("rejected");

        pool.execute(rejected);

        assertThat(heard).containsExactly(rejected, pool, Thread.currentThread());
        pool.shutdown();
        heard.clear();
        Future<?> future = pool.submit(rejected);
        assertThat(heard).containsExactly(future, pool, Thread.currentThread());
        assertThat(future.isDone()).isFalse();
    }

    @EachQueue
    void an_exception_of_a_handler_propagates_to_the_submitter(QueueKind queueKind) throws Exception {
        IllegalStateException thrown = new IllegalStateException("simulated");
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pool.setRejectionHandler((task, rejecting) -> {
            throw thrown;
        });
        pools.occupy(pool);
        pool.execute(task("waiting"));

        assertThatThrownBy(() -> pool.execute(task("rejected"))).isSameAs(thrown);

        assertThat(pool.getTaskCount()).isEqualTo(2);
    }

    @EachQueue
    void factory_and_handler_can_be_changed_but_not_to_null(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        assertThatNullPointerException().isThrownBy(() -> pool.setRejectionHandler(null));
        assertThatNullPointerException().isThrownBy(() -> pool.setThreadFactory(null));
        assertThat(pool.getRejectedExecutionHandler()).isInstanceOf(ThreadPool.AbortPolicy.class);
        RejectionHandler handler = new ThreadPool.DiscardPolicy();
        pool.setRejectionHandler(handler);
        pool.setThreadFactory(task -> new Thread(task, "of the new factory"));

        assertThat(pool.getRejectedExecutionHandler()).isSameAs(handler);
        assertThat(pool.submit(Thread::currentThread).get().getName()).isEqualTo("of the new factory");
    }

    @EachQueue
    void the_abort_policy_names_the_rejected_task(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pools.occupy(pool);
        pool.execute(task("waiting"));

        assertThatThrownBy(() -> pool.execute(task("a task with a name")))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("a task with a name")
                .hasMessageContaining("rejected");
    }

    @EachQueue
    void the_caller_runs_policy_runs_in_the_submitters_thread(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pool.setRejectionHandler(new ThreadPool.CallerRunsPolicy());
        pools.occupy(pool);
        pool.execute(task("waiting"));

        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(Thread.currentThread());
        RuntimeException thrown = new RuntimeException("simulated");
        assertThatThrownBy(() -> pool.execute(TestPools.throwing(thrown))).isSameAs(thrown);
        assertThat(pool.getTaskCount()).as("the pool is not involved").isEqualTo(2);
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_caller_runs_policy_drops_tasks_after_shutdown(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pool.setRejectionHandler(new ThreadPool.CallerRunsPolicy());
        pool.shutdown();

        pool.execute(task("dropped"));

        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_discard_policy_drops_the_task_silently(QueueKind queueKind) throws Exception {
        ThreadPool pool =
                pools.keep(queueKind.plan(1, 1, 1).cancelHandedBack(false).build());
        pool.setRejectionHandler(new ThreadPool.DiscardPolicy());
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("waiting"));

        Future<?> dropped = pool.submit(task("dropped"));
        blocker.release();
        TestPools.awaitCompleted(pool, 2);

        assertThat(ran).containsExactly("waiting");
        assertThat(dropped.isDone()).isFalse();
        assertThat(pool.getTaskCount()).isEqualTo(2);
        pool.shutdown();
        pool.execute(task("dropped"));
        assertThat(ran).containsExactly("waiting");
    }

    @EachQueue
    void the_discard_oldest_policy_drops_the_task_that_waits_longest(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 2);
        pool.setRejectionHandler(new ThreadPool.DiscardOldestPolicy());
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("oldest"));
        Runnable older = task("older");
        Runnable newest = task("newest");
        pool.execute(older);

        pool.execute(newest);

        assertThat(pool.getQueue()).containsExactly(older, newest);
        blocker.release();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("older", "newest");
    }

    @Test
    void the_discard_oldest_policy_drops_the_new_task_if_the_queue_cannot_hold_any() throws Exception {
        AtomicInteger rejections = new AtomicInteger();
        ThreadPool pool = pools.keep(ThreadPool.builder("pool")
                .threads(1)
                .queue(new SynchronousQueue<>())
                .rejection(new ThreadPool.DiscardOldestPolicy())
                .listener(new PoolListener() {
                    @Override
                    public void rejected(Runnable task) {
                        rejections.incrementAndGet();
                    }
                })
                .build());
        BlockingTask blocker = pools.occupy(pool);

        Future<?> dropped = pool.submit(task("dropped"));

        assertThat(dropped.isCancelled()).isTrue();
        assertThat(rejections).hasValue(1);
        assertThat(pool.stats().rejected()).isEqualTo(1);
        blocker.release();
        pool.close();
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_discard_oldest_policy_drops_the_new_task_when_no_thread_is_available(QueueKind queueKind) {
        ThreadPool pool = pools.keep(queueKind
                .plan(1, 1, 1)
                .threadFactory(task -> null)
                .rejection(new ThreadPool.DiscardOldestPolicy())
                .build());

        Future<?> dropped = pool.submit(task("dropped"));

        assertThat(dropped.isCancelled()).isTrue();
        assertThat(pool.getQueue()).isEmpty();
    }

    @EachQueue
    void the_discard_oldest_policy_drops_the_new_task_after_shutdown(QueueKind queueKind) throws Exception {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);
        pool.setRejectionHandler(new ThreadPool.DiscardOldestPolicy());
        BlockingTask blocker = pools.occupy(pool);
        pool.execute(task("waiting"));
        pool.shutdown();

        pool.execute(task("dropped"));
        blocker.release();
        pool.close();

        assertThat(ran).containsExactly("waiting");
    }

    @EachQueue
    void the_policies_can_be_called_directly_and_change_nothing(QueueKind queueKind) {
        ThreadPool pool = pools.of(queueKind, 1, 1, 1);

        assertThatThrownBy(() -> new ThreadPool.AbortPolicy().rejected(task("aborted"), pool))
                .isInstanceOf(RejectedExecutionException.class);
        new ThreadPool.DiscardPolicy().rejected(task("discarded"), pool);
        new ThreadPool.CallerRunsPolicy().rejected(task("called"), pool);

        assertThat(ran).containsExactly("called");
        assertThat(pool.getRejectedExecutionHandler()).isInstanceOf(ThreadPool.AbortPolicy.class);
        assertThat(pool.getTaskCount()).isZero();
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void the_same_task_can_be_submitted_again_and_again_rejected_or_not(QueueKind queueKind) throws Exception {
        CountDownLatch runs = new CountDownLatch(1000);
        ThreadPool pool = pools.of(queueKind, 1, 8, 8);
        Runnable task = runs::countDown;

        for (int accepted = 0; accepted < 1000; ) {
            try {
                pool.execute(task);
                accepted++;
            } catch (RejectedExecutionException full) {
                Thread.onSpinWait();
            }
        }
        runs.await();
        TestPools.awaitCompleted(pool, 1000);

        assertThat(pool.getCompletedTaskCount()).isEqualTo(1000);
    }

    @EachQueue
    void actions_before_submission_happen_before_the_task_and_its_actions_before_get_returns(QueueKind queueKind)
            throws Exception {
        ThreadPool pool = pools.of(queueKind, 2, 2, 10);
        int[] plain = new int[1];
        for (int i = 0; i < 2000; i++) {
            plain[0]++;
            pool.submit(() -> {
                        plain[0]++;
                    })
                    .get();
        }

        assertThat(plain[0]).isEqualTo(4000);
    }

    @Test
    void a_task_put_into_the_queue_directly_is_run_by_an_idle_thread() throws Exception {
        BlockingQueue<Runnable> queue = new ArrayBlockingQueue<>(10);
        ThreadPool pool = pools.on(queue, 1, 1);
        BlockingTask blocker = pools.blocker();
        pool.prestartCoreThread();

        queue.put(blocker);

        blocker.awaitBegun();
        assertThat(pool.getActiveCount()).isEqualTo(1);
    }
}
