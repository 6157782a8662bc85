package dev.raddle.flow;

import static dev.raddle.flow.Dependency.anyOf;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.CancelledException;
import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Nodes that something else wants to end while their end is being recorded. */
@Timeout(60)
class FlowRecordedEndsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FlowBuilder<Void> f = FlowPlan.define("recorded");
    private final VirtualTime time = new VirtualTime();
    private final List<String> log = new CopyOnWriteArrayList<>();

    private RunOptions options(FlowJournal journal) {
        return RunOptions.timeout(SECOND.multipliedBy(10)).withTimeSource(time).withJournal(journal, "r");
    }

    private void awaitAlarms(int count) {
        Wait.until(() -> time.alarms() == count);
    }

    private Node<String> paid() {
        return f.node("pay", () -> "paid").compensate(value -> log.add("refund"));
    }

    /** Returns the position of the record of a success, or -1. */
    private static int success(List<Entry> entries, String id, Object value) {
        for (int each = 0; each < entries.size(); each++) {
            if (entries.get(each) instanceof Entry.NodeEnded end
                    && end.id().equals(id)
                    && end.isSuccess()
                    && value.equals(end.value())) {
                return each;
            }
        }
        return -1;
    }

    @Test
    void a_timeout_that_passes_during_the_record_of_a_success_comes_too_late() throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("pay");
        Node<String> pay = paid().timeout(SECOND);
        f.node("ship", pay, value -> {
            throw new IllegalStateException("no parcel for " + value);
        });
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            time.advance(SECOND.multipliedBy(2));
            assertThat(run.state("pay")).isEqualTo(NodeState.RUNNING);
            journal.release();

            FlowResult<Void> result = run.join();
            assertThat(result.node("pay").state()).isEqualTo(NodeState.SUCCESS);
            assertThat(result.node("ship").cause()).hasMessage("no parcel for paid");
            assertThat(log).containsExactly("refund");
        }
        assertThat(journal.wasInterrupted()).isFalse();
        assertThat(success(journal.entries(), "pay", "paid")).isPositive();
    }

    /** What stops a run. */
    enum Stop {
        DEADLINE(FlowStatus.TIMED_OUT),
        CANCEL(FlowStatus.CANCELLED),
        CLOSE(FlowStatus.CANCELLED);

        final FlowStatus status;

        Stop(FlowStatus status) {
            this.status = status;
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_is_stopped_waits_for_the_record_and_compensates_the_node(Stop stop) throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("pay");
        Node<String> pay = paid();
        f.node("ship", pay, value -> log.add("ship"));
        FlowRun<Void> run = f.build().start(null, options(journal));
        journal.awaitPause();
        awaitAlarms(1); // of the deadline
        Thread closing = new Thread(run::close);
        switch (stop) {
            case DEADLINE -> time.advance(SECOND.multipliedBy(10));
            case CANCEL -> run.cancel("not wanted");
            case CLOSE -> closing.start();
        }
        Wait.until(() -> run.state("ship") == NodeState.CANCELLED || run.state("ship") == NodeState.TIMED_OUT);
        assertThat(run.state("pay")).isEqualTo(NodeState.RUNNING);
        assertThat(run.isDone()).isFalse();
        journal.release();

        assertThat(run.join().status()).isEqualTo(stop.status);
        assertThat(run.state("pay")).isEqualTo(NodeState.SUCCESS);
        assertThat(log).containsExactly("refund");
        assertThat(journal.wasInterrupted()).isFalse();
        List<Entry> entries = journal.entries();
        assertThat(success(entries, "pay", "paid"))
                .isPositive()
                .isLessThan(entries.indexOf(new Entry.Compensated("pay")));
        assertThat(entries.getLast()).isEqualTo(new Entry.RunEnded(stop.status));
        closing.join();
        run.close();
    }

    @Test
    void a_node_that_becomes_unneeded_after_its_record_succeeds() throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("fast");
        CountDownLatch recording = new CountDownLatch(1);
        Node<String> slow = f.node("slow", () -> {
            recording.await();
            return "slow";
        });
        Node<String> fast = f.node("fast", () -> "fast");
        Node<String> first = f.node("first", anyOf(slow, fast), value -> value);
        try (FlowRun<Void> run = f.build().start(null, options(journal).obsolete(UnneededPolicy.INTERRUPT))) {
            journal.awaitPause();
            recording.countDown();
            Wait.until(() -> success(journal.entries(), "slow", "slow") > 0);
            assertThat(run.state("slow")).isEqualTo(NodeState.RUNNING); // its end waits for the earlier one
            journal.release();
            FlowResult<Void> result = run.join();
            assertThat(result.node("slow").state()).isEqualTo(NodeState.SUCCESS);
            assertThat(result.node(first).value()).isEqualTo("fast");
        }
        assertThat(journal.wasInterrupted()).isFalse();
    }

    @Test
    void a_failure_that_is_recorded_while_a_success_is_being_recorded_takes_effect_after_it() throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("pay");
        Node<String> pay = paid();
        f.node("ship", pay, value -> log.add("ship"));
        Node<Void> pause = f.sleep("pause", SECOND);
        f.node("fails", pause, ended -> {
            throw new IllegalStateException("failed first");
        });
        try (FlowRun<Void> run = f.build().start(null, options(journal).onFailure(OnFailure.FAIL_FAST))) {
            journal.awaitPause();
            awaitAlarms(2); // of the deadline and the sleep
            Thread advancing = new Thread(() -> time.advance(SECOND));
            advancing.start();
            Wait.until(() -> journal.entries().stream()
                    .anyMatch(entry ->
                            entry instanceof Entry.NodeEnded end && end.id().equals("pause")));
            assertThat(run.state("fails")).isEqualTo(NodeState.PENDING);
            journal.release();
            advancing.join();
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
            assertThat(result.node("pay").state()).isEqualTo(NodeState.SUCCESS);
            assertThat(log).endsWith("refund");
        }
    }

    @Test
    void a_node_fails_if_its_record_fails_after_its_timeout() throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("pay");
        paid().timeout(SECOND);
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            time.advance(SECOND);
            journal.refuse();
            FlowResult<Void> result = run.join();
            assertThat(result.node("pay").state()).isEqualTo(NodeState.FAILED);
            assertThat(result.node("pay").cause()).hasMessage("the disk is full");
        }
        assertThat(log).isEmpty(); // no decision to compensate could be recorded
    }

    @Test
    void a_node_whose_failure_is_being_recorded_does_not_time_out() throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("fails");
        f.node("fails", () -> {
                    throw new IllegalStateException("broken");
                })
                .timeout(SECOND);
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            time.advance(SECOND.multipliedBy(20));
            assertThat(run.isDone()).isFalse();
            journal.release();
            assertThat(run.join().node("fails").state()).isEqualTo(NodeState.FAILED);
        }
        assertThat(journal.entries().getLast()).isInstanceOf(Entry.RunEnded.class);
    }

    @Test
    void an_element_of_a_map_is_recorded_before_the_end_of_its_run() throws Exception {
        PausingJournal journal = new PausingJournal(entry -> entry instanceof Entry.ElementEnded);
        Node<List<Integer>> numbers = f.node("numbers", () -> List.of(1));
        f.map("map", numbers, number -> number + 1).timeout(SECOND);
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            time.advance(SECOND);
            assertThat(run.state("map")).isEqualTo(NodeState.TIMED_OUT);
            assertThat(run.isDone()).isFalse();
            journal.release();
            run.join();
        }
        assertThat(journal.wasInterrupted()).isFalse();
        assertThat(journal.entries().getLast()).isInstanceOf(Entry.RunEnded.class);
    }

    @Test
    void a_subflow_that_is_being_recorded_is_not_ended() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        FlowPlan<String, String> sub = inner.returning(inner.node("x", c -> c.param()));
        f.subflow("sub", sub, f.node("first", () -> "first"));
        PausingJournal journal = PausingJournal.atEndOf("sub");
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            assertThat(run.state("sub")).isEqualTo(NodeState.RUNNING);
            run.cancel("stopped");
            assertThat(run.isDone()).isFalse();
            journal.release();
            assertThat(run.join().node("sub").value()).isEqualTo("first");
        }
    }

    @Test
    void a_sleep_whose_end_is_being_recorded_is_not_ended() throws Exception {
        f.sleep("sleep", SECOND).timeout(SECOND.multipliedBy(2));
        PausingJournal journal = PausingJournal.atEndOf("sleep");
        Thread timer = new Thread(() -> time.advance(SECOND)); // records the end of the sleep
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            awaitAlarms(3); // of the deadline, the timeout and the sleep
            timer.start();
            journal.awaitPause();
            assertThat(run.state("sleep")).isEqualTo(NodeState.RUNNING);
            run.cancel("stopped");
            assertThat(run.isDone()).isFalse();
            journal.release();
            assertThat(run.join().node("sleep").state()).isEqualTo(NodeState.SUCCESS);
        }
        timer.join();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {false, true})
    void a_run_that_is_lost_does_not_wait_for_records(boolean isStoppedBefore) throws Exception {
        PausingJournal journal = PausingJournal.atEndOf("pay");
        paid();
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            if (isStoppedBefore) {
                run.cancel("first");
            }
            run.abandon("shut down");
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.LOST);
            assertThat(result.node("pay").state()).isEqualTo(NodeState.CANCELLED);
            assertThat(result.node("pay").cause()).isInstanceOf(CancelledException.class);
            journal.release();
        }
        assertThat(log).isEmpty();
    }

    @ParameterizedTest
    @org.junit.jupiter.params.provider.ValueSource(booleans = {false, true})
    void a_node_that_is_ended_while_its_deadline_is_recorded_is_not_entered(boolean hasCallback) throws Exception {
        PausingJournal journal = new PausingJournal(entry -> entry instanceof Entry.DeadlineSet);
        Node<Boolean> a = f.node("a", () -> log.add("action")).timeout(SECOND);
        if (hasCallback) {
            a.onBegin(c -> log.add("begin"));
        }
        try (FlowRun<Void> run = f.build().start(null, options(journal))) {
            journal.awaitPause();
            time.advance(SECOND);
            journal.release();
            assertThat(run.join().node("a").state()).isEqualTo(NodeState.TIMED_OUT);
        }
        assertThat(log).isEmpty();
    }
}
