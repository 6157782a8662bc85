package dev.raddle.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.group.TaskHandle;
import dev.raddle.testing.Jvm;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

class InterruptWindowTest {

    private final List<Throwable> reported = new ArrayList<>();
    private final Window window = new Window();
    private final CountingThread runner = new CountingThread();

    private final class Window extends InterruptWindow {
        boolean interrupt(boolean closing) {
            return interrupt(runner, closing, reported::add);
        }

        void open() {
            openWindow();
        }

        boolean close() {
            return closeWindow();
        }

        boolean isOpen() {
            return isWindowOpen();
        }
    }

    /** A thread that is never started and counts its interrupts. */
    private static final class CountingThread extends Thread {
        int interrupts;
        Runnable whenInterrupted = () -> {};

        @Override
        public void interrupt() {
            interrupts++;
            whenInterrupted.run();
        }
    }

    @Test
    void while_it_is_open_each_interrupt_is_sent() {
        assertThat(window.interrupt(false)).isTrue();
        assertThat(window.interrupt(false)).isTrue();

        assertThat(runner.interrupts).isEqualTo(2);
        assertThat(window.close()).isTrue();
    }

    @Test
    void no_interrupt_is_sent_after_the_runner_has_closed_it() {
        assertThat(window.close()).isTrue();

        assertThat(window.interrupt(false)).isFalse();
        assertThat(window.isOpen()).isFalse();
        assertThat(runner.interrupts).isZero();
    }

    @Test
    void no_interrupt_is_sent_after_one_that_closed_it() {
        assertThat(window.interrupt(true)).isTrue();

        assertThat(window.interrupt(true)).isFalse();
        assertThat(window.close()).as("closed by the interrupt").isFalse();
        assertThat(runner.interrupts).isEqualTo(1);
    }

    @Test
    void interrupts_are_sent_again_after_it_was_opened_again() {
        window.close();
        window.open();

        assertThat(window.interrupt(false)).isTrue();
    }

    @Test
    void while_an_interrupt_is_being_sent_no_second_is_and_it_counts_as_open() {
        runner.whenInterrupted = () -> {
            assertThat(window.interrupt(false)).isFalse();
            assertThat(window.isOpen()).isTrue();
        };

        assertThat(window.interrupt(false)).isTrue();
        assertThat(reported).isEmpty();
        assertThat(runner.interrupts).isEqualTo(1);
    }

    @Test
    void the_runner_leaves_only_after_an_interrupt_that_is_being_sent() throws InterruptedException {
        List<String> events = new ArrayList<>(); // ordered by the latch and the window
        CountDownLatch sending = new CountDownLatch(1);
        CountDownLatch closing = new CountDownLatch(1);
        Thread sender = Thread.ofPlatform().unstarted(() -> window.interrupt(false));
        runner.whenInterrupted = () -> {
            sending.countDown();
            awaitUninterruptibly(closing);
            for (int i = 0; i < 1_000; i++) {
                Thread.yield(); // the runner tries to leave meanwhile
            }
            events.add("sent");
        };
        sender.start();
        sending.await();
        closing.countDown();

        assertThat(window.close()).isTrue();
        events.add("left");

        sender.join();
        assertThat(events).containsExactly("sent", "left");
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Test
    void an_exception_of_the_interrupt_is_reported_and_ends_the_handshake() {
        SecurityException refused = new SecurityException("refused");
        runner.whenInterrupted = () -> {
            throw refused;
        };

        assertThat(window.interrupt(false)).isTrue();

        assertThat(reported).containsExactly(refused);
        assertThat(window.close()).isTrue();
    }

    @Test
    void a_cancel_that_closes_a_channel_may_need_the_carrier_of_the_task() throws Exception {
        String status = Jvm.run(
                OneCarrier.class,
                "-Djdk.virtualThreadScheduler.parallelism=1",
                "-Djdk.virtualThreadScheduler.maxPoolSize=1");

        assertThat(status).isEqualTo("CANCELLED, closed 1 channel");
    }

    /** A program whose only carrier is needed by a task that leaves and by the virtual thread that interrupts it. */
    static final class OneCarrier {
        private OneCarrier() {}

        /** A channel whose close takes until the interrupted thread has left it, and some time more. */
        private static final class SlowChannel extends AbstractInterruptibleChannel {
            final CountDownLatch closing = new CountDownLatch(1);
            final CountDownLatch leaving = new CountDownLatch(1);
            final AtomicInteger closed = new AtomicInteger();

            void waitForInterrupt() throws InterruptedException {
                begin();
                try {
                    closing.await();
                } finally {
                    leaving.countDown();
                }
            }

            @Override
            protected void implCloseChannel() {
                closing.countDown();
                awaitUninterruptibly(leaving);
                for (int i = 0; i < 100; i++) {
                    Thread.yield(); // the task leaves meanwhile
                }
                closed.incrementAndGet();
            }
        }

        public static void main(String[] args) throws InterruptedException {
            SlowChannel channel = new SlowChannel();
            try (GroupExecutor executor =
                    GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder().build())) {
                CountDownLatch begun = new CountDownLatch(1);
                TaskHandle<Boolean> task = executor.submit("a", "t", () -> {
                    begun.countDown();
                    channel.waitForInterrupt();
                    return true;
                });
                begun.await();
                Thread canceller = Thread.ofVirtual().start(() -> task.cancel(true));
                System.out.print(task.await().status());
                canceller.join();
                System.out.println(", closed " + channel.closed + " channel");
            }
        }
    }
}
