package dev.raddle.time;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.Jvm;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

class SystemTimeTest {

    private final TimeSource time = TimeSource.system();

    @Test
    void system_time_reads_the_clock_of_the_system() {
        long before = System.nanoTime();
        long read = time.nanoTime();
        long after = System.nanoTime();

        assertThat(read - before).isNotNegative();
        assertThat(after - read).isNotNegative();
        assertThat(TimeSource.system()).isSameAs(time).hasToString("system time");
    }

    @Test
    void an_alarm_does_not_fire_before_its_time() throws InterruptedException {
        BlockingQueue<Long> fired = new LinkedBlockingQueue<>();
        long start = time.nanoTime();

        time.after(Duration.ofMillis(20), () -> fired.add(time.nanoTime()));

        assertThat(fired.take() - start).isGreaterThanOrEqualTo(20_000_000);
    }

    @Test
    @Timeout(60)
    void alarms_fire_although_the_virtual_thread_that_armed_the_first_one_never_runs_again() throws Exception {
        assertThat(Jvm.run(FirstAlarm.class, "-Djdk.virtualThreadScheduler.parallelism=1"))
                .isEqualTo("fired");
    }

    @Test
    void an_alarm_fires_although_every_worker_of_the_common_pool_is_blocked() throws InterruptedException {
        int workers = ForkJoinPool.getCommonPoolParallelism();
        CountDownLatch blocked = new CountDownLatch(workers);
        CountDownLatch release = new CountDownLatch(1);
        BlockingQueue<Thread> fired = new LinkedBlockingQueue<>();
        try {
            for (int i = 0; i < workers; i++) {
                ForkJoinPool.commonPool().execute(() -> {
                    blocked.countDown();
                    Wait.uninterrupted(release);
                });
            }
            blocked.await();

            time.after(Duration.ofMillis(1), () -> fired.add(Thread.currentThread()));
            time.after(Duration.ZERO, () -> fired.add(Thread.currentThread()));
            time.after(Duration.ofSeconds(Long.MIN_VALUE), () -> fired.add(Thread.currentThread()));

            assertThat(fired.take()).isNotNull();
            assertThat(fired.take()).isNotNull();
            assertThat(fired.take()).isNotNull();
        } finally {
            release.countDown();
        }
    }

    @Test
    void alarms_of_many_threads_all_fire_and_none_before_its_time() throws InterruptedException {
        int threads = 8; // more than one to a wheel
        int each = 200;
        CountDownLatch pending = new CountDownLatch(threads * each);
        BlockingQueue<Long> early = new LinkedBlockingQueue<>();
        for (int thread = 0; thread < threads; thread++) {
            Thread.ofVirtual().start(() -> {
                for (int i = 0; i < each; i++) {
                    Duration delay = Duration.ofNanos(100_000L * i);
                    Deadline moment = Deadline.after(time, delay);
                    time.after(delay, () -> {
                        if (!moment.hasPassed()) {
                            early.add(moment.nanoTime());
                        }
                        pending.countDown();
                    });
                }
            });
        }

        pending.await();

        assertThat(early).isEmpty();
    }

    @Test
    void a_cancelled_alarm_never_fires() throws InterruptedException {
        BlockingQueue<String> fired = new LinkedBlockingQueue<>();
        Duration delay = Duration.ofMillis(10);
        Alarm alarm = time.after(delay, () -> fired.add("cancelled"));
        while (!alarm.cancel()) { // the alarm fired first: this thread had lost its processor
            assertThat(fired.take()).isEqualTo("cancelled");
            delay = delay.multipliedBy(2);
            alarm = time.after(delay, () -> fired.add("cancelled"));
        }
        assertThat(alarm.cancel()).as("a second cancellation returns the same").isTrue();

        time.after(delay, () -> fired.add("later"));

        assertThat(fired.take()).isEqualTo("later");
        assertThat(fired).isEmpty();
    }

    @Test
    void an_alarm_that_fires_cannot_be_cancelled_any_more() throws InterruptedException {
        CompletableFuture<Alarm> itself = new CompletableFuture<>();
        BlockingQueue<Boolean> answers = new LinkedBlockingQueue<>();
        Alarm alarm =
                time.after(Duration.ofMillis(1), () -> answers.add(itself.join().cancel()));
        itself.complete(alarm);

        assertThat(answers.take()).as("cancelled while it fires").isFalse();
        assertThat(alarm.cancel()).as("cancelled after it fired").isFalse();
    }

    @Test
    void an_alarm_too_far_away_for_a_long_is_accepted_and_can_be_cancelled() {
        Alarm alarm = time.after(Duration.ofSeconds(Long.MAX_VALUE), () -> {
            throw new AssertionError("146 years have not passed");
        });

        assertThat(alarm.cancel()).isTrue();
    }

    @Test
    void an_exception_from_an_alarm_goes_to_the_uncaught_exception_handler_and_the_next_alarm_fires()
            throws InterruptedException {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
        BlockingQueue<String> fired = new LinkedBlockingQueue<>();
        Error thrown = new Error("from an alarm");
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        try {
            time.after(Duration.ofMillis(1), () -> {
                throw thrown;
            });
            time.after(Duration.ofMillis(2), () -> fired.add("next"));

            assertThat(uncaught.take()).isSameAs(thrown);
            assertThat(fired.take()).isEqualTo("next");
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }
}
