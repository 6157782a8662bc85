package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.RetryPolicy;
import dev.raddle.task.TaskTimeoutException;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.nio.channels.spi.AbstractInterruptibleChannel;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attempts and timeouts of compensations. */
@Timeout(60)
class FlowCompensationAttemptsTest {

    private final FlowBuilder<String> f = FlowPlan.define("order", String.class);
    private final MemoryJournal memory = FlowJournal.inMemory();
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger calls = new AtomicInteger();

    private Node<String> paid(int failures) {
        Node<String> pay = f.node("pay", c -> "payment").compensateWith((c, payment) -> {
            if (calls.incrementAndGet() <= failures) {
                throw new IllegalStateException("bank is closed " + calls);
            }
            events.add("refunded " + payment + " of " + c.param() + ", cancelled " + c.isCancelled());
        });
        fails(pay);
        return pay;
    }

    private void fails(Node<String> pay) {
        f.node("ship", pay, payment -> {
            throw new IllegalStateException("out of stock");
        });
    }

    private FlowResult<Void> run() throws Exception {
        return f.build().run("order-1", RunOptions.defaults().withJournal(memory));
    }

    private List<String> kinds() {
        return memory.entries().stream()
                .map(entry -> entry.getClass().getSimpleName())
                .toList();
    }

    @Test
    void a_compensation_is_attempted_as_its_retry_policy_says_and_each_failure_is_recorded() throws Exception {
        paid(2).compensationRetry(RetryPolicy.fixedDelay(3, Duration.ofMillis(1)));
        FlowResult<Void> result = run();

        assertThat(events).containsExactly("refunded payment of order-1, cancelled false");
        assertThat(result.compensationFailures()).isEmpty();
        assertThat(kinds())
                .containsSubsequence(
                        "Compensating",
                        "CompensationAttemptFailed",
                        "CompensationAttemptFailed",
                        "Compensated",
                        "RunEnded");
    }

    @Test
    void a_compensation_that_fails_for_good_is_in_the_result_and_the_next_run_goes_on_undoing() throws Exception {
        Node<String> first = f.node("first", c -> "first").compensate(value -> events.add("undone " + value));
        paid(3).needs(Dependency.order(first)).compensationRetry(RetryPolicy.attempts(2));
        FlowResult<Void> result = run();

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(result.compensationFailures())
                .extracting(CompensationFailure::node)
                .containsExactly("pay");
        assertThat(events).containsExactly("undone first");
        assertThat(kinds()).doesNotContain("RunEnded");

        FlowResult<Void> next = run();
        assertThat(next.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(next.compensationFailures()).isEmpty();
        assertThat(calls).as("two attempts, and two anew").hasValue(4);
        assertThat(events).containsExactly("undone first", "refunded payment of order-1, cancelled false");
        assertThat(kinds()).endsWith("Compensated", "RunEnded");
    }

    @Test
    void a_process_that_continues_counts_the_failed_attempts_of_the_earlier_one() throws Exception {
        paid(9).compensationRetry(RetryPolicy.attempts(3));
        CuttingJournal cut = new CuttingJournal(memory, 6, false);
        FlowResult<Void> lost = f.build().run("order-1", RunOptions.defaults().withJournal(cut));
        assertThat(lost.status()).isEqualTo(FlowStatus.LOST);
        long failed =
                kinds().stream().filter("CompensationAttemptFailed"::equals).count();
        assertThat(failed).isPositive();
        int before = calls.get();
        run();

        assertThat(calls.get() - before).isEqualTo(3 - (int) failed);
    }

    @Test
    void a_compensation_that_takes_too_long_is_interrupted_and_the_others_run() throws Exception {
        BlockingTask refund = new BlockingTask();
        Node<String> first = f.node("first", c -> "first")
                .compensate(value -> events.add("undone " + value + ", interrupted " + Thread.interrupted()));
        Node<String> pay = f.node("pay", c -> "payment")
                .needs(Dependency.order(first))
                .compensate(value -> refund.call())
                .compensationTimeout(Duration.ofMillis(1));
        fails(pay);
        FlowResult<Void> result = run();

        assertThat(events).containsExactly("undone first, interrupted false");
        assertThat(result.compensationFailures().getFirst().cause())
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessage(
                        "the compensation of node \"pay\" of flow \"order\" ran out of time after 1 ms (its timeout)");
    }

    /** A channel that is closed by the thread which interrupts the user. */
    private static final class Connection extends AbstractInterruptibleChannel {
        private final CompletableFuture<String> closer = new CompletableFuture<>();
        private volatile boolean isAwaited;

        @Override
        protected void implCloseChannel() {
            closer.complete(Thread.currentThread().getName());
        }

        String awaitCloser() throws Exception {
            isAwaited = true;
            begin();
            try {
                return closer.join(); // which an interrupt does not end
            } finally {
                end(true);
            }
        }
    }

    @Test
    void the_thread_of_the_timer_does_not_close_the_channel_of_a_compensation_that_takes_too_long() throws Exception {
        Connection connection = new Connection();
        Node<String> pay = f.node("pay", c -> "payment")
                .compensate(value -> connection.awaitCloser())
                .compensationTimeout(Duration.ofMillis(1));
        fails(pay);
        FlowPlan<String, Void> plan = f.build();
        while (!connection.isAwaited) { // the time may have passed before the compensation began
            plan.run("order-1");
        }

        assertThat(connection.closer.join()).isNotEqualTo("raddle-timer");
    }

    @Test
    void the_loss_of_the_run_ends_the_wait_for_the_next_attempt() throws Exception {
        CountDownLatch failed = new CountDownLatch(1);
        Node<String> pay = f.node("pay", c -> "payment")
                .compensate(value -> {
                    calls.incrementAndGet();
                    failed.countDown();
                    throw new IllegalStateException("closed");
                })
                .compensationRetry(RetryPolicy.fixedDelay(3, Duration.ofDays(1)));
        fails(pay);
        try (FlowRun<Void> run =
                f.build().start("order-1", RunOptions.defaults().withJournal(memory))) {
            failed.await();
            run.abandon("this process ends");
            assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
        }
        assertThat(calls).hasValue(1);
        assertThat(kinds()).doesNotContain("RunEnded");
    }

    @Test
    void the_journal_is_called_around_each_attempt_in_its_thread() throws Exception {
        ThreadLocal<String> open = new ThreadLocal<>();
        FlowJournal noting = new FlowJournal() {
            @Override
            public List<Entry> open(Work work) {
                return List.of();
            }

            @Override
            public void record(Entry entry) {
                if (entry instanceof Entry.CompensationAttemptFailed || entry instanceof Entry.Compensated) {
                    events.add(entry.getClass().getSimpleName() + " with " + open.get());
                }
            }

            @Override
            public void attemptBegan(NodeContext<?> context) {
                open.set(context.id() + " " + calls);
            }

            @Override
            public void attemptReturned(String id) {
                if (id.equals("pay") && calls.get() > 0) {
                    events.add("returned with " + open.get());
                }
            }

            @Override
            public void attemptEnded(String id) {
                if (id.equals("pay") && calls.get() > 0) {
                    events.add("ended with " + open.get());
                    open.remove();
                }
            }
        };
        paid(1).compensationRetry(RetryPolicy.attempts(2));
        f.build().run("order-1", RunOptions.defaults().withJournal(noting));

        events.removeIf(event -> event.startsWith("refunded"));
        assertThat(events)
                .containsExactly(
                        "CompensationAttemptFailed with pay 0",
                        "ended with pay 0",
                        "returned with pay 1",
                        "Compensated with pay 1",
                        "ended with pay 1");
    }

    @Test
    void options_of_a_compensation_need_one() {
        assertThatThrownBy(() -> f.node("a", () -> "A").compensationRetry(RetryPolicy.attempts(2)))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("node \"a\" has no compensation; call compensate before compensationRetry");
    }

    // In a stepper.

    private FlowStepper<Void> undoing() {
        FlowStepper<Void> stepper = f.build().stepper("order-1", RunOptions.defaults());
        stepper.start(Instant.EPOCH);
        for (String node : List.of("pay", "ship")) {
            Step.Work start = new Step.Start(node, 1, null, Long.MAX_VALUE);
            stepper.settled(start, stepper.call(start), 0);
        }
        return stepper;
    }

    @Test
    void a_stepper_attempts_a_compensation_again_and_ignores_repeated_reports() {
        paid(1).compensationRetry(RetryPolicy.fixedDelay(2, Duration.ofNanos(5)));
        FlowStepper<Void> stepper = undoing();
        Step.Work first = new Step.Compensate("pay", 1);
        CallResult retry = stepper.call(first);
        assertThat(retry).isInstanceOf(CallResult.Retry.class);
        assertThat(stepper.settled(first, retry, 1)).containsExactly(new Step.SleepUntil("pay", 6));
        assertThat(stepper.settled(first, retry, 2)).as("a repeated report").isEmpty();
        Step.Work second = new Step.Compensate("pay", 2);
        assertThat(stepper.passed(6)).containsExactly(second);
        assertThat(stepper.settled(first, retry, 6)).as("a repeated report").isEmpty();
        assertThat(stepper.settled(second, stepper.call(second), 7))
                .containsExactly(new Step.Complete(FlowStatus.FAILED));
        assertThat(stepper.result().compensationFailures()).isEmpty();
    }

    /** Calls a compensation and reports its result. */
    private static List<Step> undo(FlowStepper<Void> stepper, int attempt, long at) {
        Step.Work call = new Step.Compensate("pay", attempt);
        return stepper.settled(call, stepper.call(call), at);
    }

    private static String textOf(Throwable failure) {
        return Stream.concat(Stream.of(failure), Stream.of(failure.getSuppressed()))
                .map(each -> each.getClass().getSimpleName() + ": " + each.getMessage())
                .collect(Collectors.joining("; "));
    }

    @Test
    void a_compensation_that_fails_for_good_has_the_earlier_failures_in_a_run_and_in_a_stepper() throws Exception {
        paid(9).compensationRetry(RetryPolicy.attempts(3));
        FlowStepper<Void> stepper = undoing();
        for (int attempt = 1; attempt <= 3; attempt++) {
            undo(stepper, attempt, 0);
        }
        calls.set(0);
        Throwable ofRun = run().compensationFailures().getFirst().cause();

        assertThat(textOf(stepper.result().compensationFailures().getFirst().cause()))
                .isEqualTo("IllegalStateException: bank is closed 3; IllegalStateException: bank is closed 1; "
                        + "IllegalStateException: bank is closed 2")
                .isEqualTo(textOf(ofRun));
    }

    @Test
    void a_compensation_without_time_for_its_next_attempt_ends_alike_in_a_run_and_in_a_stepper() throws Exception {
        VirtualTime time = new VirtualTime();
        paid(9).compensationRetry(RetryPolicy.exponentialBackoff(3, Duration.ofNanos(2), 3, Duration.ofSeconds(1)))
                .compensationTimeout(Duration.ofNanos(8));
        FlowStepper<Void> stepper = undoing();
        undo(stepper, 1, 0);
        stepper.passed(2);
        assertThat(undo(stepper, 2, 2)).containsExactly(new Step.Complete(FlowStatus.FAILED));
        calls.set(0);
        Throwable ofRun;
        try (FlowRun<Void> run =
                f.build().start("order-1", RunOptions.defaults().withTimeSource(time))) {
            time.awaitAlarms(2); // the timeout, and the delay
            time.advance(Duration.ofNanos(2));
            ofRun = run.join().compensationFailures().getFirst().cause();
        }

        Throwable cause = stepper.result().compensationFailures().getFirst().cause();
        assertThat(cause)
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessageContaining("gave up after attempt 2 of 3")
                .cause()
                .hasMessage("bank is closed 2");
        assertThat(textOf(cause)).contains("bank is closed 1").isEqualTo(textOf(ofRun));
    }

    @Test
    void a_compensation_that_times_out_has_the_earlier_failures_in_a_stepper() {
        paid(1).compensationRetry(RetryPolicy.attempts(3)).compensationTimeout(Duration.ofNanos(5));
        FlowStepper<Void> stepper = undoing();
        undo(stepper, 1, 0);
        stepper.passed(5);

        assertThat(stepper.result().compensationFailures().getFirst().cause())
                .isInstanceOf(TaskTimeoutException.class)
                .hasMessageContaining("ran out of time")
                .satisfies(late -> assertThat(textOf(late)).contains("bank is closed 1"));
    }

    @Test
    void a_stepper_cancels_a_compensation_at_its_timeout() {
        paid(0).compensationTimeout(Duration.ofNanos(5));
        FlowStepper<Void> stepper = undoing();
        assertThat(stepper.nextMoment()).isEqualTo(5);
        assertThat(stepper.passed(5)).containsExactly(new Step.Cancel("pay"), new Step.Complete(FlowStatus.FAILED));
        assertThat(stepper.result().compensationFailures().getFirst().cause()).isInstanceOf(TaskTimeoutException.class);
    }

    /** A run whose nodes fail in one of several ways, which is stopped after it has begun to compensate. */
    private static void comparesFailure(
            OnFailure policy, BiFunction<FlowBuilder<String>, List<Node<String>>, FlowPlan<String, ?>> outputs)
            throws Exception {
        FlowBuilder<String> f = FlowPlan.define("order", String.class);
        Node<String> pay = f.node("pay", c -> "paid").compensate(value -> {});
        Node<String> ship = f.node("ship", pay, (c, paid) -> {
            throw new IllegalStateException("no stock");
        });
        Node<String> mail = f.node("mail", ship, (c, shipped) -> shipped);
        Node<String> bill = f.node("bill", Dependency.after(ship), (c, ended) -> {
            throw new IllegalStateException("no printer");
        });
        FlowPlan<String, ?> plan = outputs.apply(f, List.of(mail, bill, pay));
        RunOptions options = RunOptions.defaults().onFailure(policy);
        FlowResult<?> whole = plan.run("x", options);
        MemoryJournal memory = FlowJournal.inMemory();
        MemoryJournal complete = FlowJournal.inMemory();
        plan.run("x", options.withJournal(complete));
        int begun = 0;
        while (!(complete.entries().get(begun) instanceof Entry.Compensating)) {
            begun++;
        }
        FlowResult<?> stopped = plan.run("x", options.withJournal(new CuttingJournal(memory, begun + 1, false)));
        FlowResult<?> continued = plan.run("x", options.withJournal(memory));

        String what = policy + ", outputs "
                + plan.nodes().stream()
                        .filter(PlanNode::output)
                        .map(PlanNode::id)
                        .toList();
        assertThat(stopped.status()).as(what).isEqualTo(FlowStatus.LOST);
        assertThat(continued.status()).as(what).isEqualTo(whole.status());
        assertThat(text(continued.failure())).as(what).isEqualTo(text(whole.failure()));
    }

    private static String text(Throwable failure) {
        return failure == null ? null : RecordedFailure.of(failure).toString();
    }

    @Test
    void a_run_that_was_stopped_while_it_compensated_has_the_failure_that_it_had_before() throws Exception {
        for (OnFailure policy : OnFailure.values()) {
            comparesFailure(policy, (f, nodes) -> f.build());
            comparesFailure(policy, (f, nodes) -> f.returning(nodes.get(0)));
            comparesFailure(policy, (f, nodes) -> f.returning(List.of(nodes.get(0), nodes.get(1))));
            comparesFailure(policy, (f, nodes) -> f.returning(List.of(nodes.get(2), nodes.get(1))));
        }
    }
}
