package dev.raddle.time;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.LinkedBlockingQueue;
import org.junit.jupiter.api.Test;

class SystemTimeTest {

    private final TimeSource time = TimeSource.system();

    @Test
    void the_clock_is_that_of_the_system() {
        long before = System.nanoTime();
        long read = time.nanoTime();
        long after = System.nanoTime();

        assertThat(read - before).isNotNegative();
        assertThat(after - read).isNotNegative();
        assertThat(TimeSource.system()).isSameAs(time).hasToString("system time");
    }

    @Test
    void an_alarm_does_not_ring_before_its_time() throws InterruptedException {
        BlockingQueue<Long> rang = new LinkedBlockingQueue<>();
        long start = time.nanoTime();

        time.after(Duration.ofMillis(20), () -> rang.add(time.nanoTime()));

        assertThat(rang.take() - start).isGreaterThanOrEqualTo(20_000_000);
    }

    @Test
    void an_alarm_rings_although_every_worker_of_the_common_pool_is_blocked() throws InterruptedException {
        int workers = ForkJoinPool.getCommonPoolParallelism();
        CountDownLatch blocked = new CountDownLatch(workers);
        CountDownLatch letGo = new CountDownLatch(1);
        BlockingQueue<Thread> rang = new LinkedBlockingQueue<>();
        try {
            for (int i = 0; i < workers; i++) {
                ForkJoinPool.commonPool().execute(() -> {
                    blocked.countDown();
                    awaitUninterruptibly(letGo);
                });
            }
            blocked.await();

            time.after(Duration.ofMillis(1), () -> rang.add(Thread.currentThread()));
            time.after(Duration.ZERO, () -> rang.add(Thread.currentThread()));
            time.after(Duration.ofSeconds(Long.MIN_VALUE), () -> rang.add(Thread.currentThread()));

            assertThat(rang.take()).isNotNull();
            assertThat(rang.take()).isNotNull();
            assertThat(rang.take()).isNotNull();
        } finally {
            letGo.countDown();
        }
    }

    @Test
    void alarms_of_many_threads_all_ring_and_none_before_its_time() throws InterruptedException {
        int threads = 8; // more than one to a wheel
        int each = 200;
        CountDownLatch rings = new CountDownLatch(threads * each);
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
                        rings.countDown();
                    });
                }
            });
        }

        rings.await();

        assertThat(early).isEmpty();
    }

    @Test
    void an_alarm_that_was_called_off_never_rings() throws InterruptedException {
        BlockingQueue<String> rang = new LinkedBlockingQueue<>();
        Duration delay = Duration.ofMillis(10);
        Alarm alarm = time.after(delay, () -> rang.add("called off"));
        while (!alarm.cancel()) { // this thread was kept from its processor for so long
            assertThat(rang.take()).isEqualTo("called off");
            delay = delay.multipliedBy(2);
            alarm = time.after(delay, () -> rang.add("called off"));
        }
        assertThat(alarm.cancel()).as("it still holds that it will never ring").isTrue();

        time.after(delay, () -> rang.add("later"));

        assertThat(rang.take()).isEqualTo("later");
        assertThat(rang).isEmpty();
    }

    @Test
    void an_alarm_that_rings_cannot_be_called_off_any_more() throws InterruptedException {
        CompletableFuture<Alarm> itself = new CompletableFuture<>();
        BlockingQueue<Boolean> answers = new LinkedBlockingQueue<>();
        Alarm alarm =
                time.after(Duration.ofMillis(1), () -> answers.add(itself.join().cancel()));
        itself.complete(alarm);

        assertThat(answers.take()).as("called off while it rings").isFalse();
        assertThat(alarm.cancel()).as("called off after it rang").isFalse();
    }

    @Test
    void an_alarm_too_far_away_for_a_long_is_accepted_and_can_be_called_off() {
        Alarm alarm = time.after(Duration.ofSeconds(Long.MAX_VALUE), () -> {
            throw new AssertionError("146 years have not passed");
        });

        assertThat(alarm.cancel()).isTrue();
    }

    @Test
    void what_an_alarm_throws_goes_to_the_uncaught_exception_handler_and_the_next_alarm_rings()
            throws InterruptedException {
        Thread.UncaughtExceptionHandler before = Thread.getDefaultUncaughtExceptionHandler();
        BlockingQueue<Throwable> uncaught = new LinkedBlockingQueue<>();
        BlockingQueue<String> rang = new LinkedBlockingQueue<>();
        Error thrown = new Error("from an alarm");
        Thread.setDefaultUncaughtExceptionHandler((thread, failure) -> uncaught.add(failure));
        try {
            time.after(Duration.ofMillis(1), () -> {
                throw thrown;
            });
            time.after(Duration.ofMillis(2), () -> rang.add("next"));

            assertThat(uncaught.take()).isSameAs(thrown);
            assertThat(rang.take()).isEqualTo("next");
        } finally {
            Thread.setDefaultUncaughtExceptionHandler(before);
        }
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            throw new AssertionError("nobody interrupts this", interrupt);
        }
    }
}
