package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class SchedulerTest {

    private static final InheritableThreadLocal<String> INHERITABLE = new InheritableThreadLocal<>();

    @Test
    void each_task_runs_on_a_new_virtual_thread() throws InterruptedException {
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        Scheduler scheduler = Scheduler.virtualThreads();

        scheduler.execute(() -> threads.add(Thread.currentThread()));
        Thread one = threads.take();
        scheduler.execute(() -> threads.add(Thread.currentThread()));
        Thread other = threads.take();

        assertThat(one.isVirtual()).isTrue();
        assertThat(other.isVirtual()).isTrue();
        assertThat(one).isNotSameAs(other);
        assertThat(scheduler).isSameAs(Scheduler.virtualThreads()).hasToString("virtual threads");
    }

    @Test
    void virtual_threads_do_not_inherit_thread_locals() throws InterruptedException {
        BlockingQueue<List<String>> seen = new LinkedBlockingQueue<>();
        INHERITABLE.set("of the submitter");
        try {
            Scheduler.virtualThreads().execute(() -> {
                List<String> values = new ArrayList<>();
                values.add(INHERITABLE.get());
                seen.add(values);
            });

            assertThat(seen.take()).containsExactly((String) null);
        } finally {
            INHERITABLE.remove();
        }
    }

    @Test
    void an_executor_runs_the_tasks_in_its_threads_and_is_not_shut_down() throws InterruptedException {
        BlockingQueue<String> names = new LinkedBlockingQueue<>();
        try (ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "reports"))) {
            Scheduler.from(pool).execute(() -> names.add(Thread.currentThread().getName()));

            assertThat(names.take()).isEqualTo("reports");
            assertThat(pool.isShutdown()).isFalse();
        }
    }

    @Test
    void a_rejection_by_the_executor_is_thrown_to_the_submitter() {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        pool.shutdown();
        Scheduler scheduler = Scheduler.from(pool);

        assertThatThrownBy(() -> scheduler.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void a_placement_is_final_by_default() {
        List<Runnable> executed = new ArrayList<>();
        Scheduler scheduler = executed::add;
        Scheduler.Placeable task = new Scheduler.Placeable() {
            @Override
            public void run() {}

            @Override
            public void reject(RejectedExecutionException reason) {
                throw new AssertionError("the task was accepted", reason);
            }
        };

        Scheduler.Placement placement = scheduler.place(task);

        assertThat(executed).containsExactly(task);
        assertThat(placement.withdraw()).isFalse();
    }

    @Test
    void a_fixed_scheduler_has_the_given_number_of_platform_threads() throws InterruptedException {
        BlockingQueue<Thread> threads = new LinkedBlockingQueue<>();
        CountDownLatch end = new CountDownLatch(1);
        Scheduler scheduler = Scheduler.fixed(2);

        for (int i = 0; i < 3; i++) {
            scheduler.execute(() -> {
                threads.add(Thread.currentThread());
                await(end);
            });
        }
        List<String> names = List.of(threads.take().getName(), threads.take().getName());
        Thread third = threads.poll();
        end.countDown();

        assertThat(names).containsExactlyInAnyOrder("raddle-fixed-1", "raddle-fixed-2");
        assertThat(third).isNull();
        assertThat(threads.take().isVirtual()).isFalse();
        assertThat(scheduler.toString()).isEqualTo("scheduler on pool \"raddle-fixed\"");
    }

    @Test
    void a_fixed_scheduler_that_is_full_makes_the_submitter_run_the_task() throws InterruptedException {
        CountDownLatch end = new CountDownLatch(1);
        List<Thread> ran = new ArrayList<>();
        Scheduler scheduler = Scheduler.fixed(1);
        for (int i = 0; i < 1 + 256; i++) {
            scheduler.execute(() -> await(end));
        }

        scheduler.execute(() -> ran.add(Thread.currentThread()));
        end.countDown();

        assertThat(ran).containsExactly(Thread.currentThread());
    }

    @Test
    void a_priority_scheduler_runs_higher_priorities_first_and_equal_ones_in_order() throws InterruptedException {
        CountDownLatch begin = new CountDownLatch(1);
        BlockingQueue<String> ran = new LinkedBlockingQueue<>();
        Scheduler scheduler = Scheduler.priority(1);
        scheduler.execute(() -> await(begin));

        scheduler.place(new Ranked("low", -1, ran));
        scheduler.execute(() -> ran.add("plain"));
        scheduler.place(new Ranked("high", 7, ran));
        scheduler.place(new Ranked("high too", 7, ran));
        Scheduler.Placement withdrawn = scheduler.place(new Ranked("never", 9, ran));
        assertThat(withdrawn.withdraw()).isTrue();
        assertThat(withdrawn.withdraw()).isFalse();
        begin.countDown();

        assertThat(List.of(ran.take(), ran.take(), ran.take(), ran.take()))
                .containsExactly("high", "high too", "plain", "low");
        assertThat(ran).isEmpty();
    }

    @Test
    void a_scheduler_without_threads_is_refused() {
        assertThatThrownBy(() -> Scheduler.fixed(0))
                .hasMessage("threads of pool \"raddle-fixed\" must be at least 1, was 0");
        assertThatThrownBy(() -> Scheduler.priority(-1))
                .hasMessage("threads of pool \"raddle-priority\" must be at least 1, was -1");
    }

    private record Ranked(String name, int priority, BlockingQueue<String> ran) implements Scheduler.Placeable {
        @Override
        public void run() {
            ran.add(name);
        }

        @Override
        public void reject(RejectedExecutionException reason) {
            throw new AssertionError("the task was accepted", reason);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
