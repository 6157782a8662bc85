package dev.raddle.pool;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

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
        return new Named(name);
    }

    private class Named implements Runnable {
        private final String name;

        Named(String name) {
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

    // K5
    @EachQueue
    void one_thread_runs_tasks_in_the_order_of_their_submission(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1000);
        List<String> expected = new ArrayList<>();
        Plug plug = pools.occupy(pool);
        for (int i = 0; i < 1000; i++) {
            expected.add("t" + i);
            pool.execute(task("t" + i));
        }
        plug.letGo();
        TestPools.awaitCompleted(pool, 1001);

        assertThat(ran).isEqualTo(expected);
    }

    // K5
    @Test
    void a_priority_queue_decides_which_task_is_next() throws Exception {
        ThreadPool pool = pools.on(new PriorityBlockingQueue<>(4, Comparator.comparing(Runnable::toString)), 1, 1);
        Plug plug = pools.occupy(pool);
        for (String name : List.of("3", "1", "5", "2", "4")) {
            pool.execute(task(name));
        }
        plug.letGo();
        TestPools.awaitCompleted(pool, 6);

        assertThat(ran).containsExactly("1", "2", "3", "4", "5");
    }

    // K5
    @Test
    void what_a_queue_throws_reaches_the_submitter_and_leaves_the_pool_as_it_was() throws Exception {
        ThreadPool pool = pools.on(new PriorityBlockingQueue<>(), 1, 1);
        Plug plug = pools.occupy(pool);

        assertThatThrownBy(() -> pool.execute(task("cannot be compared"))).isInstanceOf(ClassCastException.class);
        assertThatThrownBy(() -> pool.submit(task("cannot be compared"))).isInstanceOf(ClassCastException.class);

        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getTaskCount()).isEqualTo(1);
        plug.letGo();
        TestPools.awaitCompleted(pool, 1);
        assertThat(ran).isEmpty();
    }

    // K5
    @EachQueue
    void the_queue_shows_the_tasks_that_wait_and_not_those_that_run(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        BlockingQueue<Runnable> queue = pool.getQueue();
        Plug plug = pools.occupy(pool);
        Runnable first = task("first");
        Runnable second = task("second");
        pool.execute(first);
        pool.execute(second);

        assertThat(queue).containsExactly(first, second).hasSize(2);
        assertThat(queue.contains(plug)).isFalse();
        assertThat(queue.contains(second)).isTrue();
        assertThat(queue.peek()).isSameAs(first);
        assertThat(queue.remainingCapacity()).isEqualTo(8);
        assertThat(pool.getQueue()).isSameAs(queue);
        plug.letGo();
        TestPools.awaitCompleted(pool, 3);
        assertThat(queue).isEmpty();
        assertThat(queue.peek()).isNull();
    }

    // K5
    @EachQueue
    void the_queue_holds_the_very_future_that_submit_returned(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        pools.occupy(pool);

        Future<?> future = pool.submit(task("waiting"));

        assertThat(pool.getQueue().peek()).isSameAs(future);
    }

    // K4
    @EachQueue
    void a_task_that_is_removed_never_runs_and_is_not_counted(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        List<Runnable> tasks = List.of(task("0"), task("1"), task("2"), task("3"));
        tasks.forEach(pool::execute);
        assertThat(pool.getTaskCount()).isEqualTo(5);

        assertThat(pool.remove(tasks.get(3))).isTrue();
        assertThat(pool.remove(tasks.get(3))).as("a second time").isFalse();
        assertThat(pool.remove(tasks.get(1))).isTrue();
        assertThat(pool.remove(plug)).as("it runs").isFalse();
        assertThat(pool.remove(task("0"))).as("another one, of the same name").isFalse();

        assertThat(pool.getQueue()).containsExactly(tasks.get(0), tasks.get(2));
        assertThat(pool.getTaskCount()).isEqualTo(3);
        plug.letGo();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("0", "2");
        assertThat(pool.remove(tasks.get(0))).as("it has run").isFalse();
        assertThat(pool.getCompletedTaskCount()).isEqualTo(3);
    }

    // K4
    @EachQueue
    void of_a_task_that_waits_twice_one_is_removed(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
        Runnable twice = task("twice");
        pool.execute(twice);
        pool.execute(task("between"));
        pool.execute(twice);

        assertThat(pool.remove(twice)).isTrue();
        plug.letGo();
        TestPools.awaitCompleted(pool, 3);

        assertThat(ran).containsExactly("between", "twice");
    }

    // K4
    @EachQueue
    void what_was_submitted_is_removed_by_its_future_and_not_by_the_task_in_it(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        pools.occupy(pool);
        Runnable task = task("never");
        Future<?> future = pool.submit(task);

        assertThat(pool.remove(task)).isFalse();
        assertThat(pool.remove((Runnable) future)).isTrue();

        assertThat(pool.getQueue()).isEmpty();
        assertThat(future.isDone()).as("nobody runs it, nobody cancels it").isFalse();
    }

    // K4
    @EachQueue
    void removing_makes_room(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        Plug plug = pools.occupy(pool);
        Runnable first = task("first");
        pool.execute(first);
        assertThatThrownBy(() -> pool.execute(task("second"))).isInstanceOf(RejectedExecutionException.class);

        pool.remove(first);
        pool.execute(task("third"));
        plug.letGo();
        TestPools.awaitCompleted(pool, 2);

        assertThat(ran).containsExactly("third");
    }

    // K4
    @EachQueue
    void purge_takes_out_the_cancelled_futures_and_nothing_else(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Plug plug = pools.occupy(pool);
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
        plug.letGo();
        TestPools.awaitCompleted(pool, 4);
        assertThat(ran).containsExactly("f1", "f2", "plain");
    }

    // K4
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
    void no_task_is_null(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 1, 1, 10);
        Runnable noRunnable = null;
        Callable<String> noCallable = null;

        assertThatNullPointerException().isThrownBy(() -> pool.execute(noRunnable));
        assertThatNullPointerException().isThrownBy(() -> pool.submit(noRunnable));
        assertThatNullPointerException().isThrownBy(() -> pool.submit(noRunnable, "result"));
        assertThatNullPointerException().isThrownBy(() -> pool.submit(noCallable));

        assertThat(pool.getPoolSize()).isZero();
        assertThat(pool.getTaskCount()).isZero();
    }

    // K1
    @EachQueue
    void whatever_is_submitted_is_rejected_when_there_is_no_room_and_after_shutdown(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 2, 1);
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

    // K1
    @EachQueue
    void a_handler_gets_the_task_and_the_pool_once_in_the_submitters_thread(Backlog backlog) throws Exception {
        List<Object> heard = new ArrayList<>();
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
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
    void what_a_handler_throws_reaches_the_submitter(Backlog backlog) throws Exception {
        IllegalStateException thrown = new IllegalStateException("simulated");
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        pool.setRejectionHandler((task, rejecting) -> {
            throw thrown;
        });
        pools.occupy(pool);
        pool.execute(task("waiting"));

        assertThatThrownBy(() -> pool.execute(task("rejected"))).isSameAs(thrown);

        assertThat(pool.getTaskCount()).isEqualTo(2);
    }

    @EachQueue
    void factory_and_handler_can_be_changed_but_not_to_null(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        assertThatNullPointerException().isThrownBy(() -> pool.setRejectionHandler(null));
        assertThatNullPointerException().isThrownBy(() -> pool.setThreadFactory(null));
        assertThat(pool.getRejectionHandler()).isInstanceOf(ThreadPool.AbortPolicy.class);
        RejectionHandler handler = new ThreadPool.DiscardPolicy();
        pool.setRejectionHandler(handler);
        pool.setThreadFactory(task -> new Thread(task, "of the new factory"));

        assertThat(pool.getRejectionHandler()).isSameAs(handler);
        assertThat(pool.submit(Thread::currentThread).get().getName()).isEqualTo("of the new factory");
    }

    @EachQueue
    void the_abort_policy_says_what_was_rejected(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        pools.occupy(pool);
        pool.execute(task("waiting"));

        assertThatThrownBy(() -> pool.execute(task("a task with a name")))
                .isInstanceOf(RejectedExecutionException.class)
                .hasMessageContaining("a task with a name")
                .hasMessageContaining("rejected");
    }

    @EachQueue
    void the_caller_runs_policy_runs_in_the_submitters_thread(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        pool.setRejectionHandler(new ThreadPool.CallerRunsPolicy());
        pools.occupy(pool);
        pool.execute(task("waiting"));

        assertThat(pool.submit(Thread::currentThread).get()).isSameAs(Thread.currentThread());
        RuntimeException thrown = new RuntimeException("simulated");
        assertThatThrownBy(() -> pool.execute(TestPools.throwing(thrown))).isSameAs(thrown);
        assertThat(pool.getTaskCount()).as("the pool has no part in it").isEqualTo(2);
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_caller_runs_policy_drops_tasks_after_shutdown(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        pool.setRejectionHandler(new ThreadPool.CallerRunsPolicy());
        pool.shutdown();

        pool.execute(task("dropped"));

        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_discard_policy_drops_the_task_silently(Backlog backlog) throws Exception {
        ThreadPool pool =
                pools.keep(backlog.plan(1, 1, 1).cancelHandedBack(false).build());
        pool.setRejectionHandler(new ThreadPool.DiscardPolicy());
        Plug plug = pools.occupy(pool);
        pool.execute(task("waiting"));

        Future<?> dropped = pool.submit(task("dropped"));
        plug.letGo();
        TestPools.awaitCompleted(pool, 2);

        assertThat(ran).containsExactly("waiting");
        assertThat(dropped.isDone()).isFalse();
        assertThat(pool.getTaskCount()).isEqualTo(2);
        pool.shutdown();
        pool.execute(task("dropped"));
        assertThat(ran).containsExactly("waiting");
    }

    @EachQueue
    void the_discard_oldest_policy_drops_the_task_that_waits_longest(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 2);
        pool.setRejectionHandler(new ThreadPool.DiscardOldestPolicy());
        Plug plug = pools.occupy(pool);
        pool.execute(task("oldest"));
        Runnable older = task("older");
        Runnable newest = task("newest");
        pool.execute(older);

        pool.execute(newest);

        assertThat(pool.getQueue()).containsExactly(older, newest);
        plug.letGo();
        TestPools.awaitCompleted(pool, 3);
        assertThat(ran).containsExactly("older", "newest");
    }

    @Test
    void the_discard_oldest_policy_drops_the_new_task_where_none_can_wait() throws Exception {
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
        Plug plug = pools.occupy(pool);

        Future<?> dropped = pool.submit(task("dropped"));

        assertThat(dropped.isCancelled()).isTrue();
        assertThat(rejections).hasValue(1);
        assertThat(pool.stats().rejected()).isEqualTo(1);
        plug.letGo();
        pool.close();
        assertThat(ran).isEmpty();
    }

    @EachQueue
    void the_discard_oldest_policy_drops_the_new_task_when_no_thread_is_available(Backlog backlog) {
        ThreadPool pool = pools.keep(backlog.plan(1, 1, 1)
                .threadFactory(task -> null)
                .rejection(new ThreadPool.DiscardOldestPolicy())
                .build());

        Future<?> dropped = pool.submit(task("dropped"));

        assertThat(dropped.isCancelled()).isTrue();
        assertThat(pool.getQueue()).isEmpty();
    }

    @EachQueue
    void the_discard_oldest_policy_drops_the_new_task_after_shutdown(Backlog backlog) throws Exception {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);
        pool.setRejectionHandler(new ThreadPool.DiscardOldestPolicy());
        Plug plug = pools.occupy(pool);
        pool.execute(task("waiting"));
        pool.shutdown();

        pool.execute(task("dropped"));
        plug.letGo();
        pool.close();

        assertThat(ran).containsExactly("waiting");
    }

    @EachQueue
    void the_policies_can_be_called_by_anybody_and_change_nothing(Backlog backlog) {
        ThreadPool pool = pools.of(backlog, 1, 1, 1);

        assertThatThrownBy(() -> new ThreadPool.AbortPolicy().rejected(task("aborted"), pool))
                .isInstanceOf(RejectedExecutionException.class);
        new ThreadPool.DiscardPolicy().rejected(task("discarded"), pool);
        new ThreadPool.CallerRunsPolicy().rejected(task("called"), pool);

        assertThat(ran).containsExactly("called");
        assertThat(pool.getRejectionHandler()).isInstanceOf(ThreadPool.AbortPolicy.class);
        assertThat(pool.getTaskCount()).isZero();
        assertThat(pool.getQueue()).isEmpty();
        assertThat(pool.getPoolSize()).isZero();
    }

    @EachQueue
    void the_same_task_can_be_submitted_again_and_again_rejected_or_not(Backlog backlog) throws Exception {
        CountDownLatch runs = new CountDownLatch(1000);
        ThreadPool pool = pools.of(backlog, 1, 8, 8);
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

    // K6
    @EachQueue
    void a_task_sees_what_was_done_before_it_was_submitted_and_its_future_what_it_did(Backlog backlog)
            throws Exception {
        ThreadPool pool = pools.of(backlog, 2, 2, 10);
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

    // K5
    @Test
    void a_task_that_is_put_into_the_queue_by_hand_is_run_by_a_thread_that_waits() throws Exception {
        BlockingQueue<Runnable> queue = new ArrayBlockingQueue<>(10);
        ThreadPool pool = pools.on(queue, 1, 1);
        Plug plug = pools.plug();
        pool.prestartCoreThread();

        queue.put(plug);

        plug.awaitBegun();
        assertThat(pool.getActiveCount()).isEqualTo(1);
    }
}
