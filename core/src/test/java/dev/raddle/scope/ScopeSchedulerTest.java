package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.pool.ThreadPool;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskPriority;
import dev.raddle.task.TaskSpec;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

class ScopeSchedulerTest {

    /** Submits as many tasks as one thread accepts: one runs until the blocker is released, and 256 wait. */
    private static List<Task<String>> fill(ThreadScope scope, BlockingTask blocker) throws InterruptedException {
        List<Task<String>> tasks = new ArrayList<>();
        tasks.add(scope.submit(blocker::call));
        blocker.awaitBegun();
        for (int i = 0; i < 256; i++) {
            tasks.add(scope.submit(() -> "waited"));
        }
        return tasks;
    }

    @Test
    void tasks_run_on_virtual_threads_by_default() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            assertThat(scope.scheduler()).isSameAs(Scheduler.detect()).isSameAs(Scheduler.virtualThreads());
            assertThat(scope.scheduler().isVirtualThreadMode()).isTrue();
            assertThat(scope.submit(() -> Thread.currentThread().isVirtual()).await())
                    .isTrue();
        }
        assertThat(Scheduler.fixed(1).isVirtualThreadMode()).isFalse();
        assertThat(Scheduler.commonPool().isVirtualThreadMode()).isFalse();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.commonPool())) {
            assertThat(scope.submit(() -> Thread.currentThread().isVirtual()).await())
                    .isFalse();
        }
    }

    @Test
    void the_message_of_a_rejection_names_the_task_as_the_scope_does() throws Exception {
        ThreadPool pool = ThreadPool.builder("p").threads(1).build();
        pool.shutdown();
        ExecutorService discarding = new ThreadPoolExecutor(
                1, 1, 0, TimeUnit.SECONDS, new SynchronousQueue<>(), new ThreadPoolExecutor.DiscardPolicy());
        discarding.shutdown();
        for (ExecutorService ended : List.of(pool, discarding)) {
            try (ThreadScope scope = ThreadScope.open("s").withScheduler(Scheduler.from(ended))) {
                Task<String> task = scope.submit("t", () -> "never");
                assertThatThrownBy(task::await)
                        .isInstanceOf(RejectedExecutionException.class)
                        .hasMessageStartingWith("task \"t\" in scope \"s\"");
            }
        }
    }

    @Test
    void a_fixed_scheduler_has_platform_threads_with_a_name() throws Exception {
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(2))) {
            CyclicBarrier both = new CyclicBarrier(2);
            Task<Thread> one = scope.submit(() -> {
                both.await();
                return Thread.currentThread();
            });
            Task<Thread> other = scope.submit(() -> {
                both.await();
                return Thread.currentThread();
            });
            assertThat(List.of(one.await().getName(), other.await().getName()))
                    .containsExactlyInAnyOrder("raddle-fixed-1", "raddle-fixed-2");
            assertThat(one.await().isVirtual()).isFalse();
        }
    }

    @Test
    void a_task_runs_in_its_submitter_if_the_queue_is_full_and_is_counted_like_any_other() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(1))) {
            List<Task<String>> tasks = fill(scope, blocker);

            Task<Thread> here = scope.submit(Thread::currentThread);

            assertThat(here.state()).isEqualTo(Task.State.SUCCESS);
            assertThat(here.await()).isSameAs(Thread.currentThread());
            assertThat(scope.metrics().succeeded()).isEqualTo(1);
            assertThat(scope.metrics().running()).isEqualTo(1);
            blocker.release();
            scope.awaitAll(tasks);
            assertThat(scope.metrics().succeeded()).isEqualTo(258);
        }
    }

    @Test
    void a_task_in_its_submitter_runs_out_of_time_like_any_other() throws Exception {
        VirtualTime time = new VirtualTime();
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withScheduler(Scheduler.fixed(1))) {
            fill(scope, blocker);
            BlockingTask slow = BlockingTask.uninterruptible();
            Thread clock = Thread.startVirtualThread(() -> {
                try {
                    slow.awaitBegun();
                    time.advance(Duration.ofSeconds(2));
                    slow.awaitInterrupt();
                } catch (InterruptedException nobodyDoes) {
                    throw new AssertionError(nobodyDoes);
                } finally {
                    slow.release();
                }
            });

            Task<String> task = scope.submit("slow", slow, Duration.ofSeconds(2));

            clock.join();
            assertThat(slow.thread()).isSameAs(Thread.currentThread());
            assertThat(Thread.currentThread().isInterrupted()).isFalse();
            assertThatThrownBy(task::await).isInstanceOf(TaskTimeoutException.class);
            assertThat(scope.metrics().failed()).isEqualTo(1);
            assertThat(time.alarms()).isZero();
            blocker.release();
        }
    }

    @Test
    void the_submitters_own_interrupt_is_kept_regardless_of_the_task() throws Exception {
        BlockingTask blocker = new BlockingTask();
        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withScheduler(Scheduler.fixed(1))) {
            fill(scope, blocker);

            Thread.currentThread().interrupt();
            Task<Boolean> looks = scope.submit(() -> Thread.currentThread().isInterrupted());
            assertThat(Thread.interrupted()).as("after a task that only looks").isTrue();
            Thread.currentThread().interrupt();
            Task<Boolean> takes = scope.submit(Thread::interrupted);
            assertThat(Thread.interrupted()).as("after a task that clears it").isTrue();
            Thread.currentThread().interrupt();
            Task<String> waits = scope.submit(() -> {
                new CountDownLatch(0).await();
                return "value";
            });
            assertThat(Thread.interrupted()).as("after a task that waits").isTrue();
            Thread.currentThread().interrupt();
            Task<String> timedOut = scope.submit(
                    "timed out",
                    () -> {
                        time.advance(Duration.ofSeconds(1)); // interrupts this thread
                        return Thread.currentThread().isInterrupted() ? "interrupted" : "not interrupted";
                    },
                    Duration.ofSeconds(1));
            assertThat(Thread.interrupted())
                    .as("after a task that was interrupted")
                    .isTrue();
            assertThat(timedOut.state()).isEqualTo(Task.State.FAILED);

            assertThat(looks.await())
                    .as("the interrupt is none of the task's business")
                    .isFalse();
            assertThat(takes.await()).isFalse();
            assertThat(waits.await()).isEqualTo("value");
            blocker.release();
        }
    }

    @Test
    void an_interrupt_of_the_submitter_while_it_ran_a_task_is_kept() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(1))) {
            fill(scope, blocker);

            scope.submit(() -> {
                Thread.currentThread().interrupt();
                return "";
            });

            assertThat(Thread.interrupted()).isTrue();
            blocker.release();
        }
    }

    @Test
    void a_full_queue_with_a_concurrency_limit_does_not_recurse() throws Exception {
        BlockingTask blocker = new BlockingTask();
        BlockingTask first = new BlockingTask();
        AtomicInteger here = new AtomicInteger();
        Scheduler shared = Scheduler.fixed(1);
        try (ThreadScope other = ThreadScope.open().withScheduler(shared);
                ThreadScope scope = ThreadScope.open().withScheduler(shared).withConcurrencyLimit(1)) {
            fill(other, blocker);
            FutureTask<Task<String>> submitter = new FutureTask<>(() -> scope.submit(first::call));
            Thread thread = Thread.ofPlatform().start(submitter);
            first.awaitBegun(); // in its submitter
            List<Task<Integer>> tasks = new ArrayList<>();
            for (int i = 0; i < 20_000; i++) {
                tasks.add(scope.submit(() -> Thread.currentThread() == thread ? here.incrementAndGet() : here.get()));
            }

            first.release();
            thread.join();

            assertThat(here).hasValue(20_000);
            assertThat(scope.awaitAll(tasks)).hasSize(20_000).last().isEqualTo(20_000);
            blocker.release();
        }
    }

    @Test
    void a_scheduler_that_runs_tasks_in_the_calling_thread_does_not_recurse_into_waiting_tasks() {
        List<Runnable> placed = new ArrayList<>();
        AtomicInteger calls = new AtomicInteger();
        Scheduler scheduler = task -> {
            if (placed.isEmpty()) {
                placed.add(task);
            } else {
                task.run();
            }
        };
        try (ThreadScope scope = ThreadScope.open().withScheduler(scheduler).withConcurrencyLimit(1)) {
            for (int i = 0; i < 20_000; i++) {
                scope.submit(calls::incrementAndGet);
            }
            placed.getFirst().run();
        }
        assertThat(calls).hasValue(20_000);
    }

    @Test
    void a_priority_scheduler_runs_high_before_normal_before_low_and_equal_ones_in_order() throws Exception {
        List<String> ran = new CopyOnWriteArrayList<>();
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.priority(1))) {
            scope.submit(blocker::call);
            blocker.awaitBegun();
            List<Task<Boolean>> tasks = new ArrayList<>();
            for (TaskPriority priority :
                    List.of(TaskPriority.LOW, TaskPriority.NORMAL, TaskPriority.HIGH, TaskPriority.LOW)) {
                for (int i = 1; i <= 2; i++) {
                    String name = priority + " " + i;
                    tasks.add(scope.submit(
                            TaskSpec.named(name, () -> ran.add(name)).priority(priority)));
                }
            }
            blocker.release();
            scope.awaitAll(tasks);
        }
        assertThat(ran).containsExactly("HIGH 1", "HIGH 2", "NORMAL 1", "NORMAL 2", "LOW 1", "LOW 2", "LOW 1", "LOW 2");
    }

    @Test
    void other_schedulers_accept_priorities_and_ignore_them() {
        StepScheduler steps = new StepScheduler();
        List<String> ran = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open().withScheduler(steps)) {
            scope.submit(TaskSpec.named("low", () -> ran.add("low")).priority(TaskPriority.LOW));
            scope.submit(TaskSpec.named("high", () -> ran.add("high")).priority(TaskPriority.HIGH));
            steps.runAll();
        }
        assertThat(ran).containsExactly("low", "high");
    }

    @Test
    void a_scheduler_created_for_a_scope_ends_its_threads_when_the_scope_closes() throws Exception {
        List<Thread> threads = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(2))) {
            threads.add(scope.submit(Thread::currentThread).await());
        }
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.priority(2))) {
            threads.add(scope.submit(Thread::currentThread).await());
        }
        for (Thread thread : threads) {
            thread.join(); // long before the keep-alive time of a minute has elapsed
        }
        assertThat(threads).noneMatch(Thread::isAlive);
    }

    @Test
    void a_scheduler_of_two_scopes_keeps_running_when_one_of_them_closes() throws Exception {
        Scheduler shared = Scheduler.fixed(1);
        try (ThreadScope stays = ThreadScope.open().withScheduler(shared)) {
            Thread thread = stays.submit(Thread::currentThread).await();
            try (ThreadScope goes = ThreadScope.open().withScheduler(shared)) {
                assertThat(goes.submit(Thread::currentThread).await()).isSameAs(thread);
            }
            assertThat(stays.submit(Thread::currentThread).await()).isSameAs(thread);
        }
        try (ThreadScope later = ThreadScope.open().withScheduler(shared)) {
            assertThat(later.submit(() -> "of use again").await()).isEqualTo("of use again");
        }
    }

    @Test
    void a_scope_does_not_shut_down_an_executor() throws Exception {
        try (ExecutorService executor = Executors.newSingleThreadExecutor()) {
            Scheduler scheduler = Scheduler.from(executor);
            try (ThreadScope scope = ThreadScope.open().withScheduler(scheduler)) {
                assertThat(scope.submit(() -> "value").await()).isEqualTo("value");
            }
            assertThat(executor.isShutdown()).isFalse();
            executor.shutdown();
            try (ThreadScope scope = ThreadScope.open().withScheduler(scheduler)) {
                assertThatThrownBy(scope.submit(() -> "never")::await).isInstanceOf(RejectedExecutionException.class);
            }
        }
    }

    @Test
    void a_lease_is_taken_once_by_any_first_submitter_and_closed_once() throws Exception {
        AtomicInteger opened = new AtomicInteger();
        AtomicInteger ended = new AtomicInteger();
        Scheduler leased = new Scheduler() {
            @Override
            public void execute(Runnable task) {
                Scheduler.virtualThreads().execute(task);
            }

            @Override
            public Lease lease() {
                opened.incrementAndGet();
                return ended::incrementAndGet;
            }
        };
        try (ThreadScope scope = ThreadScope.open().withScheduler(leased)) {
            assertThat(opened).as("nothing was submitted").hasValue(0);
            scope.submit(() -> "");
            scope.submit(() -> "");
            assertThat(opened).hasValue(1);
            assertThat(ended).hasValue(0);
        }
        assertThat(ended).hasValue(1);
        int rounds = 3_000;
        AtomicInteger arrivals = new AtomicInteger();
        AtomicReference<ThreadScope> current = new AtomicReference<>();
        Thread other = Thread.ofPlatform().start(() -> {
            for (int round = 1; round <= rounds; round++) {
                meet(arrivals); // the scope is open
                current.get().submit(() -> "");
                meet(arrivals);
            }
        });
        for (int round = 1; round <= rounds; round++) {
            try (ThreadScope scope = ThreadScope.open().withScheduler(leased)) {
                current.set(scope);
                meet(arrivals);
                scope.submit(() -> "");
                meet(arrivals);
            }
            assertThat(opened.get() - ended.get())
                    .as("leases that were forgotten")
                    .isZero();
        }
        other.join();
    }

    /** Waits until two threads have called this method equally often. */
    private static void meet(AtomicInteger arrivals) {
        int both = Math.ceilDiv(arrivals.incrementAndGet(), 2) * 2;
        Wait.until(() -> arrivals.get() >= both);
    }

    @Test
    void a_cancelled_task_does_not_wait_in_a_pools_queue() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open().withScheduler(Scheduler.fixed(1))) {
            List<Task<String>> tasks = fill(scope, blocker);
            tasks.stream().skip(1).forEach(Task::cancel);
            assertThat(scope.tasks.pending.unfinished()).hasSize(1);

            List<Task<String>> more = new ArrayList<>();
            for (int i = 0; i < 256; i++) {
                more.add(scope.submit(() -> Thread.currentThread().getName()));
            }
            assertThat(more).as("there was room in the queue").noneMatch(Task::isDone);
            blocker.release();
            assertThat(scope.awaitAll(more)).containsOnly("raddle-fixed-1");
        }
    }
}
