package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.CancelledException;
import dev.raddle.task.Scheduler;
import dev.raddle.task.Task;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.Jvm;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.io.IOException;
import java.lang.ref.WeakReference;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.junit.jupiter.api.Test;

/** Channels that are closed with a failure. */
class FailingChannelTest {

    private static final IOException BROKEN = new IOException("broken pipe");

    private static int sum(Channel<Integer> channel) {
        int sum = 0;
        for (int value : channel) {
            sum += value;
        }
        return sum;
    }

    @Test
    void a_failed_channel_returns_sent_values_and_then_throws_the_failure() throws Exception {
        Channel<Integer> channel = Channel.bounded(3);
        channel.send(1);
        channel.send(2);
        channel.close(BROKEN);

        assertThat(channel.isClosed()).isTrue();
        assertThat(channel).hasToString("channel, 2 of 3 values, failed");
        assertThatThrownBy(() -> channel.send(3))
                .isInstanceOf(ChannelClosedException.class)
                .hasMessage("channel has failed: java.io.IOException: broken pipe")
                .hasCause(BROKEN);
        assertThat(channel.receive()).isEqualTo(1);
        Iterator<Integer> rest = channel.iterator();
        assertThat(rest.next()).isEqualTo(2);
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(rest::hasNext)
                    .isInstanceOf(ChannelClosedException.class)
                    .hasCause(BROKEN);
            assertThatThrownBy(rest::next).isInstanceOf(ChannelClosedException.class);
            assertThatThrownBy(channel::receive)
                    .isInstanceOf(ChannelClosedException.class)
                    .hasCause(BROKEN);
        }
    }

    @Test
    void a_failure_wakes_senders_and_receivers() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            Channel<Integer> empty = Channel.bounded(1);
            Channel<Integer> full = Channel.bounded(1);
            full.send(1);
            Task<Integer> receiver = scope.submit(() -> sum(empty));
            Task<Void> sender = scope.submit(() -> {
                full.send(2);
                return null;
            });
            awaitParked(receiver);
            awaitParked(sender);
            empty.close(BROKEN);
            full.close(BROKEN);
            assertThatThrownBy(receiver::await)
                    .isInstanceOf(ChannelClosedException.class)
                    .hasCause(BROKEN);
            assertThatThrownBy(sender::await)
                    .isInstanceOf(ChannelClosedException.class)
                    .hasCause(BROKEN);
        }
    }

    private static void awaitParked(Task<?> task) {
        Wait.until(() -> task.runner()
                .filter(thread -> thread.getState() == Thread.State.WAITING)
                .isPresent());
    }

    @Test
    void the_first_failure_is_kept_and_counts_after_a_normal_end_too() {
        Channel<Integer> channel = Channel.bounded(1);
        channel.close();
        assertThat(channel).hasToString("channel, 0 of 1 values, closed");
        channel.close(BROKEN);
        channel.close(new IOException("later"));
        channel.close();
        assertThatThrownBy(channel::receive).hasCause(BROKEN);
        assertThatNullPointerException().isThrownBy(() -> channel.close(null));
    }

    @Test
    void a_producer_that_throws_is_no_normal_end_for_the_consumer() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            Channel<Integer> numbers = scope.openChannel(10);
            Task<Void> producer = scope.submit("read", () -> {
                try (numbers) { // its close() does not pass on the exception
                    numbers.send(1);
                    throw BROKEN;
                }
            });
            numbers.closeAfter(producer);
            Wait.until(() -> numbers.toString().endsWith("failed"));
            assertThatThrownBy(() -> sum(numbers))
                    .isInstanceOf(ChannelClosedException.class)
                    .hasCause(BROKEN);
        }
    }

    @Test
    void a_channel_ends_normally_when_the_last_of_its_producers_has_succeeded() throws Exception {
        BlockingTask blocker = new BlockingTask();
        try (ThreadScope scope = ThreadScope.open()) {
            Channel<Integer> numbers = scope.openChannel(10);
            Task<Void> one = scope.submit(() -> {
                numbers.send(1);
                return null;
            });
            Task<String> two = scope.submit(() -> {
                numbers.send(2);
                return blocker.call();
            });
            assertThat(numbers.closeAfter(one, two)).isSameAs(numbers);
            one.await();
            blocker.awaitBegun();
            assertThat(numbers.isClosed()).isFalse();
            blocker.release();
            assertThat(sum(numbers)).isEqualTo(3);
            assertThat(numbers).hasToString("channel, 0 of 10 values, closed");
        }
    }

    @Test
    void a_channel_fails_with_the_first_producer_that_fails() throws Exception {
        try (ThreadScope scope = ThreadScope.open()) {
            Channel<Integer> numbers = scope.openChannel(10);
            Task<Void> goesOn = scope.submit(() -> Tasks.forever());
            Task<Void> fails = scope.submit(() -> {
                throw BROKEN;
            });
            numbers.closeAfter(goesOn, fails);
            assertThatThrownBy(() -> sum(numbers)).hasCause(BROKEN);
        }
    }

    @Test
    void a_producer_that_never_begins_fails_its_channel() {
        VirtualTime time = new VirtualTime();
        StepScheduler steps = new StepScheduler();
        try (ThreadScope scope = ThreadScope.open().withTimeSource(time).withScheduler(steps)) {
            Channel<Integer> late = scope.openChannel(1);
            late.closeAfter(scope.submit("late", () -> sum(late), Duration.ofSeconds(1)));
            Channel<Integer> cancelled = scope.openChannel(1);
            Task<Integer> task = scope.submit("cancelled", () -> sum(cancelled));
            cancelled.closeAfter(task);
            task.cancel();
            assertThatThrownBy(() -> sum(cancelled)).hasCauseInstanceOf(CancelledException.class);
            time.advance(Duration.ofSeconds(1));
            assertThatThrownBy(() -> sum(late)).hasCauseInstanceOf(TaskTimeoutException.class);
        }
        Scheduler refuses = run -> {
            throw new RejectedExecutionException("full");
        };
        try (ThreadScope scope = ThreadScope.open().withScheduler(refuses)) {
            Channel<Integer> rejected = scope.openChannel(1);
            rejected.closeAfter(scope.submit(() -> sum(rejected)));
            assertThatThrownBy(() -> sum(rejected)).hasCauseInstanceOf(RejectedExecutionException.class);
        }
    }

    @Test
    void a_channel_without_producers_is_closed() {
        assertThat(sum(Channel.<Integer>bounded(1).closeAfter())).isZero();
    }

    @Test
    void a_scope_that_ends_before_its_channel_fails_it() throws Exception {
        Channel<Integer> byCancel;
        Channel<Integer> ended;
        try (ThreadScope scope = ThreadScope.open("s")) {
            byCancel = scope.openChannel(1);
            ended = scope.openChannel(1);
            ended.close();
            scope.cancel("enough");
            assertThatThrownBy(() -> sum(byCancel))
                    .isInstanceOf(ChannelClosedException.class)
                    .hasCauseInstanceOf(CancelledException.class);
        }
        assertThat(sum(ended)).as("it had come to its end before").isZero();

        VirtualTime time = new VirtualTime();
        try (ThreadScope scope = ThreadScope.open("s").withTimeSource(time).withDeadline(Duration.ofSeconds(1))) {
            Channel<Integer> byDeadline = scope.openChannel(1);
            time.advance(Duration.ofSeconds(1));
            assertThatThrownBy(() -> sum(byDeadline)).hasCauseInstanceOf(ScopeTimeoutException.class);
        }
        Channel<Integer> byClose;
        try (ThreadScope scope = ThreadScope.open("s")) {
            byClose = scope.openChannel(1);
        }
        assertThatThrownBy(() -> sum(byClose)).hasCauseInstanceOf(CancelledException.class);
    }

    /**
     * Opens and closes more channels in one scope than fit into the heap with anything that the scope keeps of each.
     */
    static final class ManyChannels {
        private ManyChannels() {}

        public static void main(String[] args) throws Exception {
            try (ThreadScope scope = ThreadScope.open("server")) {
                for (int i = 0; i < 300_000; i++) {
                    scope.openChannel(1).close();
                }
            }
            System.out.print("closed");
        }
    }

    @Test
    void a_scope_keeps_nothing_of_the_channels_that_were_closed() throws Exception {
        assertThat(Jvm.run(ManyChannels.class, "-Xmx16m", "-XX:+UseSerialGC")).isEqualTo("closed");
    }

    @Test
    void a_scope_does_not_keep_unreachable_channels() throws Exception {
        List<WeakReference<Channel<byte[]>>> opened = new ArrayList<>();
        try (ThreadScope scope = ThreadScope.open("s")) {
            for (int i = 0; i < 100; i++) {
                Channel<byte[]> channel = scope.openChannel(1);
                channel.send(new byte[1000]);
                opened.add(new WeakReference<>(channel));
            }
            Retained.awaitCleared(opened);
            assertThat(scope.token().isCancelled()).isFalse();
        }
    }

    @Test
    void a_producer_is_a_task_of_a_scope() {
        Task<?> foreign = (Task<?>) Proxy.newProxyInstance(
                Task.class.getClassLoader(), new Class<?>[] {Task.class}, (proxy, method, args) -> "foreign");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Channel.bounded(1).closeAfter(foreign))
                .withMessageStartingWith("a producer is a task of a ThreadScope, was ");
    }
}
