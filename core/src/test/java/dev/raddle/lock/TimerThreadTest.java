package dev.raddle.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(60)
class TimerThreadTest {

    private static final long HOUR = TimeUnit.HOURS.toNanos(1);
    private static final long SOON = TimeUnit.MILLISECONDS.toNanos(20);

    /** A wakeup that reports its thread. */
    private static class Reporting implements TimerThread.Wakeup {
        final BlockingQueue<Thread> ran = new LinkedBlockingQueue<>();
        final CountDownLatch withdrawn = new CountDownLatch(1);
        volatile TimerThread.Request request;

        static Reporting on(TimerThread timer, long nanos) {
            Reporting wakeup = new Reporting();
            wakeup.request = timer.after(nanos, wakeup);
            return wakeup;
        }

        @Override
        public void run() {
            ran.add(Thread.currentThread());
        }

        @Override
        public void withdrawIfUnneeded() {
            if (request != null && request.cancel()) {
                withdrawn.countDown();
            }
        }
    }

    @Test
    void the_thread_is_a_daemon_of_the_outermost_group_without_a_class_loader() throws Exception {
        ThreadGroup inner = new ThreadGroup("of an application");
        BlockingQueue<Thread> timers = new LinkedBlockingQueue<>();
        Thread starter = new Thread(inner, () -> {
            try {
                timers.add(Reporting.on(new TimerThread(HOUR), 0).ran.take());
            } catch (InterruptedException impossible) {
                throw new AssertionError(impossible);
            }
        });
        starter.start();

        Thread timer = timers.take();

        assertThat(timer.isDaemon()).isTrue();
        assertThat(timer.getName()).isEqualTo("raddle-timer");
        assertThat(timer.getThreadGroup().getParent()).isNull();
        assertThat(timer.getContextClassLoader()).isNull();
    }

    @Test
    void wakeups_run_in_the_order_of_their_moments() throws InterruptedException {
        TimerThread timer = new TimerThread(HOUR);
        CountDownLatch requested = new CountDownLatch(1);
        timer.after(0, new Reporting() {
            @Override
            public void run() {
                Wait.uninterrupted(requested);
            }
        });
        Reporting late = Reporting.on(timer, HOUR);
        Reporting second = Reporting.on(timer, 0);
        Reporting first = Reporting.on(timer, -HOUR);
        requested.countDown();

        second.ran.take();

        assertThat(first.ran).hasSize(1);
        assertThat(late.ran).isEmpty();
        assertThat(late.request.cancel()).isTrue();
        assertThat(first.request.cancel()).isFalse();
    }

    @Test
    void an_idle_thread_ends_and_the_next_request_starts_another_one() throws InterruptedException {
        TimerThread timer = new TimerThread(1);
        Thread first = Reporting.on(timer, 0).ran.take();

        first.join();

        assertThat(Reporting.on(timer, 0).ran.take()).isNotSameAs(first);
    }

    @Test
    void a_wakeup_for_which_there_is_nothing_to_do_does_not_keep_the_thread() throws InterruptedException {
        TimerThread timer = new TimerThread(SOON);
        Reporting unneeded = Reporting.on(timer, HOUR);
        Thread thread = Reporting.on(timer, 0).ran.take();

        thread.join();

        assertThat(unneeded.withdrawn.getCount()).isZero();
    }

    @Test
    void a_user_keeps_the_thread_until_it_is_released() throws InterruptedException {
        TimerThread timer = new TimerThread(1);
        timer.retain();
        Thread thread = Reporting.on(timer, 0).ran.take();

        assertThat(Reporting.on(timer, SOON).ran.take())
                .as("not withdrawn before")
                .isSameAs(thread);
        timer.release();
        thread.join();
    }

    @Test
    void a_release_ends_the_thread_although_it_is_parked_for_an_hour() throws InterruptedException {
        TimerThread timer = new TimerThread(1);
        timer.retain();
        Reporting distant = Reporting.on(timer, HOUR);
        Thread thread = Reporting.on(timer, 0).ran.take();

        timer.release();
        thread.join();

        assertThat(distant.withdrawn.getCount()).isZero();
    }

    @Test
    void an_interrupt_has_no_effect() throws InterruptedException {
        TimerThread timer = new TimerThread(HOUR);
        Thread thread = Reporting.on(timer, 0).ran.take();

        thread.interrupt();

        assertThat(Reporting.on(timer, SOON).ran.take()).isSameAs(thread);
    }

    @Test
    void no_wakeup_is_lost_beside_threads_that_end() throws InterruptedException {
        TimerThread timer = new TimerThread(1);
        List<Thread> requesters = new ArrayList<>();
        CountDownLatch ran = new CountDownLatch(4 * 500);
        for (int i = 0; i < 4; i++) {
            requesters.add(Thread.ofPlatform().daemon().start(() -> {
                for (int n = 0; n < 500; n++) {
                    try {
                        Reporting needed = new Reporting(); // without a request, it is not withdrawn
                        timer.after(n % 3 * 1000L, needed);
                        needed.ran.take();
                    } catch (InterruptedException impossible) {
                        return;
                    }
                    ran.countDown();
                }
            }));
        }

        ran.await();

        for (Thread each : requesters) {
            each.join();
        }
    }
}
