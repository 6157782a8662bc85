package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Timeouts and attempts that go on in another process. */
@Timeout(60)
class FlowResumedTimesTest {

    private final FlowBuilder<Void> f = FlowPlan.define("resumed");
    private final VirtualTime time = new VirtualTime();
    private final MemoryJournal journal = FlowJournal.inMemory();
    private final List<String> calls = new CopyOnWriteArrayList<>();
    private final AtomicReference<BlockingTask> blocking = new AtomicReference<>(new BlockingTask());

    private RunOptions options() {
        return RunOptions.defaults().withTimeSource(time).withJournal(journal);
    }

    private Node<String> blocking(String id, Dependency<?>... needs) {
        return f.node(id, () -> blocking.get().call()).needs(needs);
    }

    /** Starts a run, abandons it in its blocking action, and waits for its end. */
    private void crash(FlowPlan<Void, ?> plan, RunOptions options, Duration after) throws Exception {
        BlockingTask task = new BlockingTask();
        blocking.set(task);
        try (FlowRun<?> run = plan.start(null, options)) {
            task.awaitBegun();
            time.advance(after);
            run.abandon("crash");
            assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
        }
    }

    private static Duration seconds(int count) {
        return Duration.ofSeconds(count);
    }

    @Test
    void the_timeout_of_a_run_counts_from_its_begin_in_the_first_process() throws Exception {
        Node<String> a = f.node("a", () -> calls.add("a") ? "A" : "").compensate(value -> calls.add("undo " + value));
        blocking("b", a);
        FlowPlan<Void, Void> plan = f.build();
        RunOptions options = options().withTimeout(seconds(10));
        crash(plan, options, seconds(4));
        time.advance(seconds(3));
        BlockingTask task = new BlockingTask();
        blocking.set(task);

        try (FlowRun<Void> run = plan.start(null, options)) {
            task.awaitBegun();
            time.advance(seconds(3).minusNanos(1));
            assertThat(run.isDone()).isFalse();
            time.advance(Duration.ofNanos(1));
            FlowResult<Void> result = run.join();
            assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
            assertThat(result.explain("b")).contains("ran out of time after 10000 ms");
        }

        assertThat(calls).containsExactly("a", "undo A");
    }

    @Test
    void a_run_whose_time_is_over_before_it_continues_runs_nothing_and_is_compensated() throws Exception {
        Node<String> a = f.node("a", () -> calls.add("a") ? "A" : "").compensate(value -> calls.add("undo " + value));
        blocking("b", a);
        RunOptions options = options().withTimeout(seconds(10));
        crash(f.build(), options, seconds(4));
        time.advance(seconds(60));

        FlowResult<Void> result = f.build().run(null, options);

        assertThat(result.status()).isEqualTo(FlowStatus.TIMED_OUT);
        assertThat(result.node("a").state()).isEqualTo(NodeState.SUCCESS);
        assertThat(result.node("b").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(calls).containsExactly("a", "undo A");
        assertThat(journal.entries()).endsWith(new Entry.Compensated("a"), new Entry.RunEnded(FlowStatus.TIMED_OUT));
    }

    @Test
    void a_run_that_has_ended_has_its_whole_timeout_again() throws Exception {
        blocking("a");
        RunOptions options = options().withTimeout(seconds(10));
        try (FlowRun<Void> run = f.build().start(null, options)) {
            blocking.get().awaitBegun();
            time.advance(seconds(10));
            assertThat(run.join().status()).isEqualTo(FlowStatus.TIMED_OUT);
        }
        time.advance(seconds(60));
        crash(f.build(), options, seconds(9));
        assertThat(journal.entries())
                .filteredOn(Entry.Begun.class::isInstance)
                .containsExactly(
                        new Entry.Begun(Instant.EPOCH, List.of()),
                        new Entry.Begun(Instant.EPOCH.plusSeconds(70), List.of()));
    }

    @Test
    void a_clock_that_is_behind_does_not_prolong_a_run() throws Exception {
        journal.record(new Entry.Begun(Instant.EPOCH.plusSeconds(100), List.of()));
        blocking("a");
        try (FlowRun<Void> run = f.build().start(null, options().withTimeout(seconds(10)))) {
            blocking.get().awaitBegun();
            time.advance(seconds(10));
            assertThat(run.join().status()).isEqualTo(FlowStatus.TIMED_OUT);
        }
    }

    @Test
    void the_timeout_of_a_node_counts_from_its_begin_in_the_first_process() throws Exception {
        Node<String> a = blocking("a").timeout(seconds(10)).defaultValue("D");
        FlowPlan<Void, String> plan = f.returning(a);
        crash(plan, options(), seconds(4));
        time.advance(seconds(3));
        crash(plan, options(), seconds(2));
        assertThat(journal.entries())
                .filteredOn(Entry.DeadlineSet.class::isInstance)
                .containsExactly(new Entry.DeadlineSet("a", Instant.EPOCH.plusSeconds(10)));
        BlockingTask task = new BlockingTask();
        blocking.set(task);

        try (FlowRun<String> run = plan.start(null, options())) {
            task.awaitBegun();
            time.advance(seconds(1));
            FlowResult<String> result = run.join();
            assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
            assertThat(result.node(a).cause()).hasMessageContaining("ran out of time after 10000 ms (its timeout)");
            assertThat(result.value()).isEqualTo("D");
        }
    }

    @Test
    void a_node_whose_time_is_over_before_it_continues_is_not_run_again() throws Exception {
        Node<String> a = blocking("a").timeout(seconds(10));
        Node<String> b = f.node("b", Dependency.after(a), outcome -> "after " + outcome.status());
        FlowPlan<Void, String> plan = f.returning(b);
        crash(plan, options(), seconds(4));
        time.advance(seconds(60));
        BlockingTask task = new BlockingTask();
        blocking.set(task);

        FlowResult<String> result = plan.run(null, options());

        assertThat(result.node(a).state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(result.node(a).cause()).hasMessageContaining("ran out of time after 10000 ms (its timeout)");
        assertThat(result.value()).isEqualTo("after FAILED");
        assertThat(task.calls()).isZero();
    }

    @Test
    void a_retry_policy_counts_the_attempts_of_earlier_processes() throws Exception {
        AtomicBoolean crashes = new AtomicBoolean(true);
        f.node("a", () -> {
                    calls.add("a");
                    if (calls.size() == 3 && crashes.getAndSet(false)) {
                        return blocking.get().call();
                    }
                    throw new IllegalStateException("attempt " + calls.size());
                })
                .retry(RetryPolicy.attempts(4));
        FlowPlan<Void, Void> plan = f.build();
        crash(plan, options(), Duration.ZERO);
        assertThat(calls).hasSize(3); // two have failed, the third has no record

        FlowResult<Void> result = plan.run(null, options());

        assertThat(calls).hasSize(5); // the third again, and the fourth
        assertThat(result.node("a").cause()).hasMessage("attempt 5");
        assertThat(journal.entries())
                .filteredOn(Entry.AttemptFailed.class::isInstance)
                .extracting(entry -> ((Entry.AttemptFailed) entry).attempt())
                .containsExactly(1, 2, 3);
        assertThat(journal.entries())
                .filteredOn(Entry.NodeEnded.class::isInstance)
                .extracting(entry -> ((Entry.NodeEnded) entry).attempt())
                .containsExactly(4);
    }

    @Test
    void a_node_without_attempts_left_fails_with_the_recorded_exception() throws Exception {
        journal.record(new Entry.Begun(Instant.EPOCH, List.of()));
        RecordedFailure failure = RecordedFailure.of(new IllegalStateException("a is broken"));
        journal.record(new Entry.AttemptFailed("a", 3, failure, false));
        f.node("a", () -> calls.add("a")).retry(RetryPolicy.attempts(3));

        FlowResult<Void> result = f.build().run(null, options());

        assertThat(calls).isEmpty();
        assertThat(result.node("a").cause())
                .isInstanceOf(RecordedException.class)
                .hasMessage("a is broken")
                .hasToString("java.lang.IllegalStateException: a is broken");
    }

    @Test
    void a_failed_node_is_not_run_again_before_the_run_has_ended_and_then_it_is() throws Exception {
        Node<String> a = f.node("a", () -> {
            calls.add("a");
            throw new IllegalStateException("a is broken");
        });
        Node<String> b = blocking("b").needs(Dependency.after(a));
        FlowPlan<Void, String> plan = f.returning(b);
        crash(plan, options(), Duration.ZERO);
        BlockingTask task = new BlockingTask();
        task.release();
        blocking.set(task);

        FlowResult<String> second = plan.run(null, options());

        assertThat(second.status()).isEqualTo(FlowStatus.DEGRADED);
        assertThat(second.explain("a"))
                .isEqualTo("FAILED: its action threw java.lang.IllegalStateException: a is broken at +0 ms");
        assertThat(calls).hasSize(1);
        assertThat(plan.run(null, options().rerun("b")).status()).isEqualTo(FlowStatus.DEGRADED);
        assertThat(calls).hasSize(2);
    }
}
