package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Compensations inside subflows that fail for good. */
@Timeout(60)
class FlowSubflowUndoTest {

    private final FlowBuilder<String> f = FlowPlan.define("order", String.class);
    private final Node<String> order = f.node("order", NodeContext::param);
    private final MemoryJournal memory = FlowJournal.inMemory();
    private final MemoryJournal before = FlowJournal.inMemory(); // of a process that has died
    private final List<String> events = Collections.synchronizedList(new ArrayList<>());
    private final AtomicInteger calls = new AtomicInteger();

    private RuntimeException closed(int failures) {
        return calls.incrementAndGet() <= failures ? new IllegalStateException("bank is closed") : null;
    }

    /** A subflow that pays, whose compensation fails at first, and then fails by its last node. */
    private FlowPlan<String, String> paying(int failures, CheckedFunction.F1<String, String> last) {
        FlowBuilder<String> inner = FlowPlan.define("paying", String.class);
        Node<String> price = inner.node("price", c -> "20 for " + c.param());
        Node<String> pay = inner.node("pay", price, value -> {
                    events.add("paid " + value);
                    return "payment";
                })
                .compensateWith((c, payment) -> {
                    RuntimeException failure = closed(failures);
                    if (failure != null) {
                        throw failure;
                    }
                    events.add("refunded " + payment + " of " + c.param() + ", " + c.read(price));
                });
        return inner.returning(inner.node("ship", pay, last));
    }

    private FlowPlan<String, String> paying(int failures) {
        return paying(failures, payment -> {
            throw new IllegalStateException("out of stock");
        });
    }

    private FlowResult<?> run(FlowPlan<String, ?> plan) throws Exception {
        return run(plan, memory);
    }

    private static FlowResult<?> run(FlowPlan<String, ?> plan, FlowJournal journal) throws Exception {
        return plan.run("order-1", RunOptions.defaults().withJournal(journal));
    }

    private static List<String> failedNodes(FlowResult<?> result) {
        return result.compensationFailures().stream()
                .map(CompensationFailure::node)
                .toList();
    }

    private List<Entry> ends() {
        return memory.entries().stream()
                .filter(Entry.RunEnded.class::isInstance)
                .toList();
    }

    @Test
    void the_result_names_a_compensation_of_a_subflow_by_its_path() throws Exception {
        FlowBuilder<String> middle = FlowPlan.define("middle", String.class);
        Node<String> param = middle.node("param", NodeContext::param);
        FlowPlan<String, String> deep = middle.returning(middle.subflow("inner", paying(1), param));
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", deep, order));

        assertThat(failedNodes(plan.run("order-1"))).containsExactly("sub/inner/pay");
    }

    @Test
    void a_stepper_names_it_likewise() {
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", paying(1), order));
        FlowStepper<String> stepper = plan.stepper("order-1", RunOptions.defaults());
        List<Step> steps = new ArrayList<>(stepper.start(Instant.EPOCH));
        for (int next = 0; next < steps.size(); next++) {
            if (steps.get(next) instanceof Step.Work work) {
                steps.addAll(stepper.settled(work, stepper.call(work), 0));
            }
        }

        assertThat(failedNodes(stepper.result())).containsExactly("sub/pay");
    }

    @Test
    void a_run_does_not_end_and_the_next_one_goes_on_undoing() throws Exception {
        Node<String> first = f.node("first", order, value -> "first").compensate(value -> events.add("undone first"));
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", paying(2), first));
        FlowResult<?> result = run(plan);

        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(failedNodes(result)).containsExactly("sub/pay");
        assertThat(events).containsExactly("paid 20 for first", "undone first");
        assertThat(ends()).isEmpty();

        assertThat(failedNodes(run(plan))).as("fails again").containsExactly("sub/pay");
        assertThat(ends()).isEmpty();

        FlowResult<?> last = run(plan);
        assertThat(last.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(failedNodes(last)).isEmpty();
        assertThat(events)
                .containsExactly("paid 20 for first", "undone first", "refunded payment of first, 20 for first");
        assertThat(ends()).containsExactly(new Entry.RunEnded(FlowStatus.FAILED));
    }

    @Test
    void likewise_in_a_subflow_of_a_subflow() throws Exception {
        FlowBuilder<String> middle = FlowPlan.define("middle", String.class);
        Node<String> param = middle.node("param", c -> c.param() + "!");
        FlowPlan<String, String> deep = middle.returning(middle.subflow("inner", paying(1), param));
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", deep, order));

        assertThat(failedNodes(run(plan))).containsExactly("sub/inner/pay");
        assertThat(failedNodes(run(plan))).isEmpty();
        assertThat(events).containsExactly("paid 20 for order-1!", "refunded payment of order-1!, 20 for order-1!");
        assertThat(ends()).hasSize(1);
    }

    @Test
    void likewise_if_the_id_of_the_subflow_begins_with_that_of_another_node() throws Exception {
        FlowPlan<String, String> plan = f.returning(f.subflow("order/pay", paying(1), order));

        assertThat(failedNodes(run(plan))).containsExactly("order/pay/pay");
        assertThat(failedNodes(run(plan))).isEmpty();
        assertThat(events).containsExactly("paid 20 for order-1", "refunded payment of order-1, 20 for order-1");
        assertThat(ends()).hasSize(1);
    }

    @Test
    void a_run_that_goes_on_although_a_subflow_has_failed_does_not_end_either() throws Exception {
        Node<String> sub = f.subflow("sub", paying(1), order).fallbackValue("later");
        FlowPlan<String, String> plan = f.returning(f.node("end", sub, value -> {
            events.add("end " + value);
            return value;
        }));
        FlowResult<?> result = run(plan);

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(failedNodes(result)).containsExactly("sub/pay");
        assertThat(ends()).isEmpty();

        FlowResult<?> next = run(plan);
        assertThat(next.value()).isEqualTo("later");
        assertThat(failedNodes(next)).isEmpty();
        assertThat(events)
                .containsExactly("paid 20 for order-1", "end later", "refunded payment of order-1, 20 for order-1");
        assertThat(ends()).containsExactly(new Entry.RunEnded(FlowStatus.SUCCESS));
    }

    @Test
    void a_run_that_is_cancelled_in_a_subflow_runs_no_node_when_it_goes_on() throws Exception {
        BlockingTask ship = new BlockingTask();
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", paying(1, payment -> ship.call()), order));
        FlowRun<String> run = plan.start("order-1", RunOptions.defaults().withJournal(memory));
        ship.awaitBegun();
        run.cancel("too late");

        assertThat(failedNodes(run.join())).containsExactly("sub/pay");
        FlowResult<?> next = run(plan);
        assertThat(next.status()).isEqualTo(FlowStatus.CANCELLED);
        assertThat(failedNodes(next)).isEmpty();
        assertThat(events).containsExactly("paid 20 for order-1", "refunded payment of order-1, 20 for order-1");
        assertThat(ends()).containsExactly(new Entry.RunEnded(FlowStatus.CANCELLED));
    }

    @Test
    void another_try_gives_it_up() throws Exception {
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", paying(1), order));
        run(plan);
        plan.run("order-1", RunOptions.defaults().withJournal(memory).rerun("order"));

        assertThat(events)
                .as("only what this try has paid is refunded")
                .containsExactly(
                        "paid 20 for order-1", "paid 20 for order-1", "refunded payment of order-1, 20 for order-1");
        assertThat(ends()).hasSize(1);
    }

    @Test
    void a_value_that_cannot_be_stored_leaves_the_run_as_it_is() throws Exception {
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", paying(1), order));
        FlowJournal noValues = new FlowJournal() {
            @Override
            public List<Entry> open(Work work) {
                return memory.open(work);
            }

            @Override
            public void record(Entry entry) throws Exception {
                if (entry instanceof Entry.ElementEnded) {
                    throw new IOException("no codec");
                }
                memory.record(entry);
            }
        };
        CompensationFailure failure = run(plan, noValues).compensationFailures().getFirst();
        assertThat(failure.cause().getSuppressed()[0]).hasMessage("no codec");

        CompensationFailure next = run(plan, noValues).compensationFailures().getFirst();
        assertThat(next)
                .hasToString("the compensation of node \"sub/pay\" failed: java.lang.IllegalStateException: "
                        + "its value is not in the journal");
        assertThat(ends()).isEmpty();
    }

    @Test
    void nothing_is_left_to_undo_if_the_subflow_had_not_ended_and_succeeds_when_it_runs_again() throws Exception {
        FlowPlan<String, String> failing = f.returning(f.subflow("sub", paying(1), order));
        run(failing);
        memory.entries().stream() // as if the process had died before the end of the subflow was recorded
                .filter(entry ->
                        !(entry instanceof Entry.NodeEnded end && end.id().equals("sub")))
                .filter(entry -> !(entry instanceof Entry.Compensating))
                .forEach(before::record);

        FlowBuilder<String> again = FlowPlan.define("order", String.class);
        Node<String> first = again.node("order", NodeContext::param);
        FlowPlan<String, String> mended =
                again.returning(again.subflow("sub", paying(0, payment -> payment + " shipped"), first));
        FlowResult<?> result = run(mended, before);

        assertThat(result.value()).isEqualTo("payment shipped");
        assertThat(events).containsExactly("paid 20 for order-1", "paid 20 for order-1");
        assertThat(before.entries()).endsWith(new Entry.RunEnded(FlowStatus.SUCCESS));
    }

    @Test
    void a_file_keeps_what_is_left_to_undo(@TempDir Path folder) throws Exception {
        FlowPlan<String, String> plan = f.returning(f.subflow("sub", paying(1), order));
        for (List<String> left : List.of(List.of("sub/pay"), List.<String>of())) {
            try (FileJournal journal = FileJournal.open(folder.resolve("order-1"), FlowCodec.text())) {
                assertThat(failedNodes(run(plan, journal))).isEqualTo(left);
            }
        }
        assertThat(events).containsExactly("paid 20 for order-1", "refunded payment of order-1, 20 for order-1");
    }

    @Test
    void the_success_of_a_subflow_that_ran_again_leaves_nothing_to_undo() {
        Recovered recovered = new Recovered(List.of(
                new Entry.ElementEnded("sub", 1, "payment"),
                new Entry.CompensationAttemptFailed(
                        "sub/pay", 1, RecordedFailure.of(new IllegalStateException("closed")), true),
                Entry.NodeEnded.succeeded("sub", "shipped")));

        assertThat(recovered.undoAttempts).isEmpty();
        assertThat(recovered.elements).isEqualTo(Map.of());
    }

    /** The ways to stop a run. */
    private enum Stop {
        CANCEL(FlowStatus.CANCELLED),
        CLOSE(FlowStatus.CANCELLED),
        DEADLINE(FlowStatus.TIMED_OUT);

        private final FlowStatus status;

        Stop(FlowStatus status) {
            this.status = status;
        }
    }

    @ParameterizedTest(name = "{0}")
    @EnumSource
    void a_compensation_of_a_subflow_that_fails_after_the_run_was_stopped_is_left_to_the_next_run(Stop how)
            throws Exception {
        VirtualTime time = new VirtualTime();
        CountDownLatch undoing = new CountDownLatch(1);
        CountDownLatch stopped = new CountDownLatch(1);
        FlowBuilder<String> inner = FlowPlan.define("paying", String.class);
        Node<String> pay = inner.node("pay", () -> "payment").compensate(payment -> {
            undoing.countDown();
            stopped.await();
            RuntimeException failure = closed(1);
            if (failure != null) {
                throw failure;
            }
            events.add("refunded");
        });
        FlowPlan<String, String> paying = inner.returning(inner.node("ship", pay, payment -> {
            throw new IllegalStateException("out of stock");
        }));
        Node<String> sub = f.subflow("sub", paying, order).onResult(report -> stopped.countDown());
        FlowPlan<String, String> plan = f.returning(sub);
        RunOptions options = RunOptions.defaults().withJournal(memory).withTimeSource(time);

        FlowResult<?> result;
        try (FlowRun<String> run = plan.start("order-1", options.withTimeout(Duration.ofSeconds(1)))) {
            undoing.await();
            switch (how) {
                case CANCEL -> run.cancel("the customer has left");
                case CLOSE -> run.close();
                case DEADLINE -> time.advance(Duration.ofSeconds(2));
            }
            result = run.join();
        }
        assertThat(result.status()).isEqualTo(how.status);
        assertThat(failedNodes(result)).containsExactly("sub/pay");
        assertThat(ends()).isEmpty();

        assertThat(failedNodes(plan.run("order-1", options))).isEmpty();
        assertThat(events).containsExactly("refunded");
        assertThat(ends()).containsExactly(new Entry.RunEnded(how.status));
    }
}
