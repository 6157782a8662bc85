package dev.raddle.task;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

class SchedulerTest {

    private static final InheritableThreadLocal<String> INHERITABLE = new InheritableThreadLocal<>();

    @Test
    void virtual_threads_are_fresh_for_each_task() throws InterruptedException {
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
    void an_executor_runs_the_tasks_in_its_threads_and_stays_its_owners() throws InterruptedException {
        BlockingQueue<String> names = new LinkedBlockingQueue<>();
        try (ExecutorService pool = Executors.newSingleThreadExecutor(task -> new Thread(task, "reports"))) {
            Scheduler.from(pool).execute(() -> names.add(Thread.currentThread().getName()));

            assertThat(names.take()).isEqualTo("reports");
            assertThat(pool.isShutdown()).isFalse();
        }
    }

    @Test
    void an_executor_that_refuses_says_so() {
        ExecutorService pool = Executors.newSingleThreadExecutor();
        pool.shutdown();
        Scheduler scheduler = Scheduler.from(pool);

        assertThatThrownBy(() -> scheduler.execute(() -> {})).isInstanceOf(RejectedExecutionException.class);
    }

    @Test
    void a_placement_is_final_unless_the_scheduler_says_otherwise() {
        List<Runnable> executed = new ArrayList<>();
        Scheduler scheduler = executed::add;
        Scheduler.Placeable task = new Scheduler.Placeable() {
            @Override
            public void run() {}

            @Override
            public void reject(RejectedExecutionException reason) {
                throw new AssertionError("it was accepted", reason);
            }
        };

        Scheduler.Placement place = scheduler.place(task);

        assertThat(executed).containsExactly(task);
        assertThat(place.withdraw()).isFalse();
    }
}
