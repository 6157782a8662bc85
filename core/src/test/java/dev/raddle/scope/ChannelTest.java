package dev.raddle.scope;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.Task;
import dev.raddle.testing.Wait;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.Test;

class ChannelTest {

    private static FutureTask<Object> waiting(java.util.concurrent.Callable<Object> action, List<Thread> threads) {
        FutureTask<Object> task = new FutureTask<>(action);
        Thread thread = Thread.ofPlatform().start(task);
        Wait.until(() -> thread.getState() == Thread.State.WAITING);
        threads.add(thread);
        return task;
    }

    @Test
    void values_are_received_in_the_order_in_which_they_were_sent() throws Exception {
        Channel<Integer> channel = Channel.bounded(3);
        channel.send(1);
        channel.send(2);
        assertThat(channel.receive()).isEqualTo(1);
        channel.send(3);
        channel.send(4);
        assertThat(channel).hasToString("channel, 3 of 3 values");
        assertThat(List.of(channel.receive(), channel.receive(), channel.receive()))
                .containsExactly(2, 3, 4);
    }

    @Test
    void a_sender_waits_while_the_channel_is_full_and_a_receiver_while_it_is_empty() throws Exception {
        List<Thread> threads = new ArrayList<>();
        Channel<String> channel = Channel.bounded(1);
        FutureTask<Object> receiver = waiting(channel::receive, threads);
        channel.send("a");
        assertThat(receiver.get()).isEqualTo("a");

        channel.send("b");
        FutureTask<Object> sender = waiting(
                () -> {
                    channel.send("c");
                    return "sent";
                },
                threads);
        assertThat(sender.isDone()).isFalse();
        assertThat(channel.receive()).isEqualTo("b");
        assertThat(sender.get()).isEqualTo("sent");
        assertThat(channel.receive()).isEqualTo("c");
    }

    @Test
    void an_interrupt_of_a_sender_or_receiver_loses_no_value() throws Exception {
        List<Thread> threads = new ArrayList<>();
        Channel<String> channel = Channel.bounded(1);
        FutureTask<Object> receiver = waiting(channel::receive, threads);
        threads.getFirst().interrupt();
        threads.getFirst().join();
        assertThat(receiver.exceptionNow()).isInstanceOf(InterruptedException.class);

        channel.send("a");
        FutureTask<Object> sender = waiting(
                () -> {
                    channel.send("never");
                    return "";
                },
                threads);
        threads.getLast().interrupt();
        threads.getLast().join();
        assertThat(sender.exceptionNow()).isInstanceOf(InterruptedException.class);
        assertThat(channel).hasToString("channel, 1 of 1 values");

        Thread.currentThread().interrupt();
        assertThatThrownBy(channel::receive).isInstanceOf(InterruptedException.class);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> channel.send("x")).isInstanceOf(InterruptedException.class);
        assertThat(channel.receive()).isEqualTo("a");
    }

    @Test
    void closing_wakes_all_waiting_threads() throws Exception {
        List<Thread> threads = new ArrayList<>();
        Channel<String> empty = Channel.bounded(1);
        Channel<String> full = Channel.bounded(1);
        full.send("a");
        List<FutureTask<Object>> waiters = List.of(
                waiting(empty::receive, threads),
                waiting(empty::receive, threads),
                waiting(() -> empty.iterator().hasNext() ? "more" : "no more", threads),
                waiting(
                        () -> {
                            full.send("b");
                            return "";
                        },
                        threads),
                waiting(
                        () -> {
                            full.send("c");
                            return "";
                        },
                        threads));

        empty.close();
        full.close();
        full.close();

        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(waiters.get(2).resultNow()).isEqualTo("no more");
        for (int each : new int[] {0, 1, 3, 4}) {
            assertThat(waiters.get(each).exceptionNow()).isInstanceOf(ChannelClosedException.class);
        }
    }

    @Test
    void values_sent_before_the_close_are_received_and_then_receive_throws() throws Exception {
        Channel<String> channel = Channel.bounded(2);
        channel.send("a");
        channel.send("b");
        channel.close();

        assertThat(channel.isClosed()).isTrue();
        assertThat(channel).hasToString("channel, 2 of 2 values, closed");
        assertThatThrownBy(() -> channel.send("c"))
                .isInstanceOf(ChannelClosedException.class)
                .hasMessage("channel is closed; send before close()");
        assertThat(channel.receive()).isEqualTo("a");
        assertThat(channel.receive()).isEqualTo("b");
        for (int i = 0; i < 2; i++) {
            assertThatThrownBy(channel::receive)
                    .isInstanceOf(ChannelClosedException.class)
                    .hasMessage("channel is closed, and every value was received");
        }
    }

    @Test
    void an_iterator_receives_until_the_end() throws Exception {
        Channel<String> channel = Channel.bounded(3);
        channel.send("a");
        channel.send("b");
        channel.send("c");
        channel.close();
        Iterator<String> values = channel.iterator();
        assertThat(values.hasNext()).isTrue();
        assertThat(values.hasNext()).as("looking takes nothing").isTrue();
        assertThat(values.next()).isEqualTo("a");
        assertThat(values.next()).as("without looking").isEqualTo("b");
        assertThat(channel).containsExactly("c");
        assertThat(values.hasNext()).isFalse();
        assertThatThrownBy(values::next).isInstanceOf(NoSuchElementException.class);
    }

    @Test
    void an_interrupted_iterator_throws_and_leaves_the_status_set() {
        Channel<String> channel = Channel.bounded(1);
        Thread.currentThread().interrupt();
        assertThatThrownBy(() -> channel.iterator().hasNext())
                .isInstanceOf(CancellationException.class)
                .hasCauseInstanceOf(InterruptedException.class);
        assertThat(Thread.interrupted()).isTrue();
    }

    @Test
    void invalid_arguments_are_rejected() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Channel.bounded(0))
                .withMessage("capacity of a channel must be at least 1, was 0");
        assertThatNullPointerException().isThrownBy(() -> Channel.bounded(1).send(null));
    }

    @Test
    void many_producers_and_consumers_lose_and_repeat_nothing() throws Exception {
        int each = 2_000;
        try (ThreadScope scope = ThreadScope.open()) {
            Channel<Integer> channel = scope.openChannel(3);
            List<Task<Integer>> producers = new ArrayList<>();
            List<Task<Long>> consumers = new ArrayList<>();
            for (int p = 0; p < 3; p++) {
                int from = p * each;
                producers.add(scope.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        channel.send(from + i);
                    }
                    return each;
                }));
                consumers.add(scope.submit(() -> {
                    long sum = 0;
                    for (int value : channel) {
                        sum += value;
                    }
                    return sum;
                }));
            }
            scope.awaitAll(producers);
            channel.close();
            long n = 3L * each;
            assertThat(scope.awaitAll(consumers).stream()
                            .mapToLong(Long::longValue)
                            .sum())
                    .isEqualTo(n * (n - 1) / 2);
        }
    }

    @Test
    void a_channel_of_a_scope_closes_with_it() throws Exception {
        Channel<String> byClose;
        try (ThreadScope scope = ThreadScope.open()) {
            byClose = scope.openChannel(1);
            Task<String> receiver = scope.submit(byClose::receive);
            assertThat(byClose.isClosed()).isFalse();
            assertThat(receiver.isDone()).isFalse();
        }
        assertThat(byClose.isClosed()).isTrue();
        try (ThreadScope scope = ThreadScope.open()) {
            Channel<String> byCancel = scope.openChannel(1);
            byCancel.send("sent before");
            scope.cancel("enough");
            assertThat(byCancel.isClosed()).isTrue();
            assertThat(byCancel.receive()).isEqualTo("sent before");
            assertThat(scope.openChannel(1).isClosed())
                    .as("one that is opened later")
                    .isTrue();
        }
    }
}
