package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class DecisionThreadsTest {

    private static final long HOUR = TimeUnit.HOURS.toNanos(1);

    private final BlockingQueue<Thread> ran = new LinkedBlockingQueue<>();
    private final BlockingQueue<Boolean> interrupted = new LinkedBlockingQueue<>();
    private final CountDownLatch release = new CountDownLatch(1);

    private static void execute(DecisionThreads threads, Runnable action) {
        threads.execute(action, ExceptionSink.logging());
    }

    private void block() {
        ran.add(Thread.currentThread());
        Wait.uninterrupted(release);
    }

    private void report() {
        interrupted.add(Thread.currentThread().isInterrupted());
        ran.add(Thread.currentThread());
    }

    @Test
    void an_action_runs_on_a_daemon_of_the_outermost_group_without_a_class_loader() throws InterruptedException {
        execute(new DecisionThreads(2, HOUR), this::report);

        Thread thread = ran.take();

        assertThat(thread.isDaemon()).isTrue();
        assertThat(thread.isVirtual()).isFalse();
        assertThat(thread.getName()).isEqualTo("raddle-decisions-1");
        assertThat(thread.getThreadGroup().getParent()).isNull();
        assertThat(thread.getContextClassLoader()).isNull();
    }

    @Test
    void actions_run_on_virtual_threads_while_user_code_keeps_all_platform_threads() throws InterruptedException {
        DecisionThreads threads = new DecisionThreads(2, HOUR);
        execute(threads, this::block);
        execute(threads, this::block);
        List<Thread> kept = List.of(ran.take(), ran.take());
        assertThat(kept).noneMatch(Thread::isVirtual);

        execute(threads, this::block);
        execute(threads, this::report);

        assertThat(ran.take().isVirtual()).isTrue();
        assertThat(ran.take().isVirtual()).isTrue();
        release.countDown();
    }

    @Test
    void a_platform_thread_takes_the_actions_of_a_burst_before_their_virtual_threads_have_a_carrier()
            throws InterruptedException {
        DecisionThreads threads = new DecisionThreads(1, HOUR);
        execute(threads, () -> {
            block();
            Thread.currentThread().interrupt();
            throw new IllegalStateException("from an action");
        });
        Thread platform = ran.take();
        int carriers = Runtime.getRuntime().availableProcessors();
        CountDownLatch busy = new CountDownLatch(carriers);
        CountDownLatch ended = new CountDownLatch(1);
        for (int i = 0; i < carriers; i++) {
            Thread.ofVirtual().start(() -> {
                busy.countDown();
                while (ended.getCount() > 0) {
                    Thread.onSpinWait();
                }
            });
        }
        busy.await();
        try {
            execute(threads, this::report);
            execute(threads, this::report);
            release.countDown();

            assertThat(ran.take()).isSameAs(platform);
            assertThat(ran.take()).isSameAs(platform);
            assertThat(interrupted).as("when the action began").containsExactly(false, false);
        } finally {
            ended.countDown();
        }
    }

    @Test
    void an_idle_thread_ends_and_the_next_action_starts_another_one() throws InterruptedException {
        DecisionThreads threads = new DecisionThreads(1, 1);
        execute(threads, this::report);
        Thread first = ran.take();
        first.join();

        execute(threads, this::report);

        assertThat(ran.take()).isNotSameAs(first);
    }

    @Test
    void an_action_in_the_thread_that_advances_the_time_keeps_its_interrupt_for_that_thread() {
        VirtualTime time = new VirtualTime();
        List<Boolean> whileAdvancing = new ArrayList<>();
        OffloadExecutor executor = new OffloadExecutor(ExceptionSink.logging(), time);
        time.after(Duration.ofSeconds(1), () -> {
            Thread.currentThread().interrupt();
            executor.execute(() -> whileAdvancing.add(Thread.currentThread().isInterrupted()));
        });

        time.advance(Duration.ofSeconds(1));

        assertThat(whileAdvancing).containsExactly(false);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void each_action_is_carried_out_once_whatever_thread_is_free() throws InterruptedException {
        DecisionThreads threads = new DecisionThreads(2, 1);
        int each = 1_000;
        CountDownLatch left = new CountDownLatch(4 * each);
        AtomicInteger twice = new AtomicInteger();
        for (int i = 0; i < 4; i++) {
            Thread.ofPlatform().daemon().start(() -> {
                for (int n = 0; n < each; n++) {
                    AtomicInteger times = new AtomicInteger();
                    execute(threads, () -> {
                        if (times.getAndIncrement() > 0) {
                            twice.getAndIncrement();
                        }
                        left.countDown();
                    });
                }
            });
        }

        left.await();

        assertThat(twice).hasValue(0);
    }
}
