package dev.raddle.flow;

import static dev.raddle.flow.Dependency.anyOf;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.testing.VirtualTime;
import dev.raddle.testing.Wait;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Which wins: a signal, or what ends its node. */
@Timeout(60)
class FlowSignalWinsTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final FlowBuilder<String> f = FlowPlan.define("waits", String.class);
    private final VirtualTime time = new VirtualTime();
    private final List<Boolean> accepted = new CopyOnWriteArrayList<>();

    private Node<String> approval() {
        return f.signal("ok", String.class).timeout(SECOND).defaultValue("REFUSED");
    }

    private RunOptions options(FlowJournal journal) {
        return RunOptions.timeout(SECOND.multipliedBy(10)).withTimeSource(time).withJournal(journal, "r");
    }

    private static PausingJournal pausingAtTheSignal() {
        return new PausingJournal(entry -> entry instanceof Entry.SignalReceived);
    }

    private static FutureTask<Boolean> signalIn(FlowRun<?> run, String id) {
        FutureTask<Boolean> delivery = new FutureTask<>(() -> run.signal(id, "YES"));
        new Thread(delivery).start();
        return delivery;
    }

    @Test
    void a_recorded_signal_wins_over_a_timeout_that_passed_during_a_downtime() throws Exception {
        FlowPlan<String, String> plan = f.returning(approval());
        MemoryJournal first = FlowJournal.inMemory();
        try (FlowRun<String> run = plan.start("p", options(first))) {
            Wait.until(() -> run.state("ok") == NodeState.WAITING);
            run.signal("ok", "YES");
            run.join();
        }
        MemoryJournal second = FlowJournal.inMemory();
        second.open(new FlowJournal.Work("r", "waits", plan.graph.digest(), null));
        for (Entry entry : first.entries()) {
            second.record(entry);
            if (entry instanceof Entry.SignalReceived) {
                break; // the process ends
            }
        }
        time.advance(SECOND.multipliedBy(2));
        assertThat(plan.run("p", options(second)).value()).isEqualTo("YES");
    }

    @Test
    void a_signal_wins_over_a_timeout_that_passes_before_its_node_waits() throws Exception {
        PausingJournal journal = new PausingJournal(entry -> entry instanceof Entry.DeadlineSet);
        try (FlowRun<String> run = f.returning(approval()).start("p", options(journal))) {
            journal.awaitPause();
            assertThat(run.signal("ok", "YES")).isTrue();
            time.advance(SECOND.multipliedBy(2));
            journal.release();
            assertThat(run.join().value()).isEqualTo("YES");
        }
    }

    @Test
    void a_signal_that_is_being_recorded_wins_over_a_timeout_and_a_cancel() throws Exception {
        PausingJournal journal = pausingAtTheSignal();
        try (FlowRun<String> run = f.returning(approval()).start("p", options(journal))) {
            Wait.until(() -> run.state("ok") == NodeState.WAITING);
            FutureTask<Boolean> delivery = signalIn(run, "ok");
            journal.awaitPause();
            time.advance(SECOND);
            run.cancel("not wanted");
            assertThat(run.state("ok")).isEqualTo(NodeState.RUNNING);
            assertThat(run.signal("ok", "second")).isFalse();
            journal.release();

            assertThat(delivery.get()).isTrue();
            FlowResult<String> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.CANCELLED);
            assertThat(result.node("ok").value()).isEqualTo("YES");
        }
    }

    @Test
    void a_timeout_that_passed_before_a_node_was_reached_loses_against_the_signal_that_was_being_recorded()
            throws Exception {
        PausingJournal journal = pausingAtTheSignal();
        Node<Void> pause = f.sleep("pause", SECOND);
        Node<String> ok = approval().needs(pause);
        try (FlowRun<String> run = f.returning(ok).start("p", options(journal))) {
            FutureTask<Boolean> delivery = signalIn(run, "ok");
            journal.awaitPause();
            Wait.until(() -> time.alarms() == 2); // of the deadline and the sleep
            time.advance(SECOND);
            Wait.until(() -> run.state("ok") == NodeState.WAITING);
            time.advance(SECOND);
            assertThat(run.state("ok")).isEqualTo(NodeState.WAITING);
            journal.release();
            assertThat(delivery.get()).isTrue();
            assertThat(run.join().value()).isEqualTo("YES");
        }
    }

    @Test
    void a_timeout_applies_after_a_signal_that_could_not_be_recorded() throws Exception {
        PausingJournal journal = pausingAtTheSignal();
        try (FlowRun<String> run = f.returning(approval()).start("p", options(journal))) {
            Wait.until(() -> run.state("ok") == NodeState.WAITING);
            FutureTask<Boolean> delivery = signalIn(run, "ok");
            journal.awaitPause();
            time.advance(SECOND);
            assertThat(run.isDone()).isFalse();
            journal.refuse();

            assertThatThrownBy(delivery::get).hasRootCauseMessage("the disk is full");
            assertThat(run.join().value()).isEqualTo("REFUSED");
            assertThat(run.signal("ok", "late")).isFalse();
        }
    }

    @Test
    void a_cancel_applies_after_a_signal_that_could_not_be_recorded() throws Exception {
        PausingJournal journal = pausingAtTheSignal();
        try (FlowRun<String> run = f.returning(approval()).start("p", options(journal))) {
            Wait.until(() -> run.state("ok") == NodeState.WAITING);
            FutureTask<Boolean> delivery = signalIn(run, "ok");
            journal.awaitPause();
            run.cancel("not wanted");
            assertThat(run.isDone()).isFalse();
            journal.refuse();

            assertThatThrownBy(delivery::get).hasRootCauseMessage("the disk is full");
            FlowResult<String> result = run.join();
            assertThat(result.node("ok").state()).isEqualTo(NodeState.CANCELLED);
        }
    }

    @Test
    void a_node_that_becomes_unneeded_during_the_record_of_its_signal_is_skipped_only_if_that_fails() throws Exception {
        for (boolean fails : new boolean[] {true, false}) {
            FlowBuilder<String> g = FlowPlan.define("waits", String.class);
            Node<String> first = g.signal("first", String.class);
            Node<String> other = g.signal("other", String.class);
            g.node("end", anyOf(first, other), value -> value);
            PausingJournal journal = new PausingJournal(entry ->
                    entry instanceof Entry.SignalReceived signal && signal.id().equals("first"));
            try (FlowRun<Void> run = g.build().start("p", options(journal))) {
                Wait.until(() -> run.state("first") == NodeState.WAITING && run.state("other") == NodeState.WAITING);
                FutureTask<Boolean> delivery = signalIn(run, "first");
                journal.awaitPause();
                assertThat(run.signal("other", "x")).isTrue();
                Wait.until(() -> run.state("end") == NodeState.SUCCESS);
                assertThat(run.state("first")).isEqualTo(NodeState.RUNNING);
                if (fails) {
                    journal.refuse();
                    assertThatThrownBy(delivery::get).hasRootCauseMessage("the disk is full");
                } else {
                    journal.release();
                    assertThat(delivery.get()).isTrue();
                }
                assertThat(run.join().node("first").state()).isEqualTo(fails ? NodeState.SKIPPED : NodeState.SUCCESS);
            }
        }
    }

    @Test
    void a_signal_whose_node_was_stopped_before_it_was_reached_has_no_effect() throws Exception {
        PausingJournal journal = pausingAtTheSignal();
        Node<Void> pause = f.sleep("pause", SECOND);
        Node<String> ok = approval().needs(pause);
        try (FlowRun<String> run = f.returning(ok).start("p", options(journal))) {
            FutureTask<Boolean> delivery = signalIn(run, "ok");
            journal.awaitPause();
            run.cancel("not wanted");
            run.join();
            journal.release();
            assertThat(delivery.get()).isFalse();
        }
    }

    @Test
    void a_signal_after_the_timeout_is_neither_accepted_nor_recorded() throws Exception {
        AtomicReference<FlowRun<String>> running = new AtomicReference<>();
        MemoryJournal journal = FlowJournal.inMemory();
        Node<String> ok = f.signal("ok", String.class).timeout(SECOND).defaultFrom(() -> {
            accepted.add(running.get().signal("ok", "late")); // the node has timed out, and its default is not known
            return "REFUSED";
        });
        try (FlowRun<String> run = f.returning(ok).start("p", options(journal))) {
            running.set(run);
            Wait.until(() -> run.state("ok") == NodeState.WAITING);
            time.advance(SECOND);
            assertThat(run.join().value()).isEqualTo("REFUSED");
            assertThat(run.signal("ok", "late")).isFalse();
        }
        assertThat(accepted).containsExactly(false);
        assertThat(journal.entries()).noneMatch(entry -> entry instanceof Entry.SignalReceived);
    }

    @Test
    void the_deadline_of_a_run_wins_over_a_signal_that_was_kept() throws Exception {
        Node<Void> pause = f.sleep("pause", SECOND.multipliedBy(20));
        Node<String> ok = f.signal("ok", String.class).needs(pause);
        try (FlowRun<String> run = f.returning(ok).start("p", options(FlowJournal.inMemory()))) {
            assertThat(run.signal("ok", "YES")).isTrue();
            time.advance(SECOND.multipliedBy(10));
            assertThat(run.join().node("ok").state()).isEqualTo(NodeState.TIMED_OUT);
        }
    }
}
