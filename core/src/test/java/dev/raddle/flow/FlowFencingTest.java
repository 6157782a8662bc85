package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.BlockingTask;
import dev.raddle.testing.LeasedThreads;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Runs whose journal says that they belong to another process. */
@Timeout(60)
class FlowFencingTest {

    /** A journal that is fenced from the first entry on that a test chooses. */
    private static final class Fenced implements FlowJournal {
        private final MemoryJournal kept = FlowJournal.inMemory();
        private final Predicate<Entry> first;
        private final List<Entry> refused = new CopyOnWriteArrayList<>();

        Fenced(Predicate<Entry> first) {
            this.first = first;
        }

        @Override
        public List<Entry> open(Work work) {
            return kept.open(work);
        }

        @Override
        public void record(Entry entry) {
            if (!refused.isEmpty() || first.test(entry)) {
                refused.add(entry);
                throw new FencedException("the fence is 8 and not 7");
            }
            kept.record(entry);
        }
    }

    private final FlowBuilder<Void> f = FlowPlan.define("fenced");
    private final List<String> calls = new CopyOnWriteArrayList<>();

    private static Predicate<Entry> endOf(String id) {
        return entry -> entry instanceof Entry.NodeEnded end && end.id().equals(id);
    }

    private Node<String> step(String id, Dependency<?>... needs) {
        return f.node(id, () -> {
                    calls.add(id);
                    return id;
                })
                .onResult(report -> calls.add("result of " + id))
                .compensate(value -> calls.add("undo " + id))
                .needs(needs);
    }

    private static RunOptions with(FlowJournal journal) {
        return RunOptions.defaults().withJournal(journal);
    }

    @Test
    void a_run_that_is_fenced_when_it_opens_its_journal_is_lost_and_runs_nothing() throws Exception {
        FlowJournal journal = new FlowJournal() {
            @Override
            public List<Entry> open(Work work) {
                throw new FencedException("run 17 belongs to worker 2");
            }

            @Override
            public void record(Entry entry) {
                calls.add("record");
            }
        };
        Node<String> a = step("a").defaultValue("D");
        LeasedThreads scheduler = new LeasedThreads();

        FlowResult<String> result = f.returning(a).run(null, with(journal).withScheduler(scheduler));

        assertThat(result.status()).isEqualTo(FlowStatus.LOST);
        assertThat(result.node(a).state()).isEqualTo(NodeState.CANCELLED);
        assertThatThrownBy(result::value)
                .isInstanceOfSatisfying(
                        FlowFailedException.class,
                        failure -> assertThat(failure.status()).isEqualTo(FlowStatus.LOST))
                .hasMessageContaining("it is LOST")
                .hasMessageContaining("run 17 belongs to worker 2");
        assertThat(calls).isEmpty();
        assertThat(scheduler.open()).isZero();
    }

    @Test
    void a_fenced_begin_is_lost_too() throws Exception {
        Fenced journal = new Fenced(entry -> true);
        step("a");
        assertThat(f.build().run(null, with(journal)).status()).isEqualTo(FlowStatus.LOST);
        assertThat(calls).isEmpty();
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void running_actions_are_interrupted_and_no_callback_fallback_or_compensation_is_called() throws Exception {
        Fenced journal = new Fenced(endOf("b"));
        BlockingTask running = new BlockingTask();
        Node<String> a = step("a");
        Node<String> b = f.node("b", a, x -> {
                    running.awaitBegun();
                    return "b";
                })
                .onResult(report -> calls.add("result of b"))
                .compensate(value -> calls.add("undo b"))
                .fallback(failure -> calls.add("fallback of b") ? "F" : "");
        f.node("running", running::call)
                .retry(RetryPolicy.attempts(5))
                .fallback(failure -> calls.add("fallback of running") ? "F" : "")
                .defaultFrom(() -> calls.add("default of running") ? "D" : "")
                .onResult(report -> calls.add("result of running"));
        step("last", b);

        FlowResult<String> result;
        try (FlowRun<String> run = f.returning(b).start(null, with(journal))) {
            result = run.join();
        }

        assertThat(result.status()).isEqualTo(FlowStatus.LOST);
        assertThat(running.interrupts()).isEqualTo(1);
        assertThat(result.node("running").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(result.node("running").via()).isEqualTo(ValueSource.NONE);
        assertThat(result.node("last").state()).isEqualTo(NodeState.CANCELLED);
        assertThat(result.explain("last")).contains("the fence is 8 and not 7");
        assertThat(calls).containsExactly("a", "result of a");
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void a_run_that_is_fenced_while_it_compensates_compensates_nothing_more() throws Exception {
        Fenced journal = new Fenced(entry -> entry.equals(new Entry.Compensated("b")));
        Node<String> a = step("a");
        Node<String> b = step("b", a);
        Node<String> c = step("c", b);
        f.node("bad", c, value -> {
            throw new IllegalStateException("bad");
        });

        FlowResult<Void> result = f.build().run(null, with(journal));

        assertThat(result.status()).isEqualTo(FlowStatus.LOST);
        assertThat(result.compensationFailures()).isEmpty();
        assertThat(calls).filteredOn(call -> call.startsWith("undo")).containsExactly("undo c", "undo b");
        assertThat(journal.refused).containsExactly(new Entry.Compensated("b"));
        assertThat(journal.kept.entries()).last().isEqualTo(new Entry.Compensated("c"));
    }

    @Test
    void a_run_that_is_fenced_when_it_decides_to_compensate_compensates_nothing() throws Exception {
        Fenced journal = new Fenced(entry -> entry instanceof Entry.Compensating);
        Node<String> a = step("a");
        f.node("bad", a, value -> {
            throw new IllegalStateException("bad");
        });
        assertThat(f.build().run(null, with(journal)).status()).isEqualTo(FlowStatus.LOST);
        assertThat(calls).containsExactly("a", "result of a");
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void a_run_that_is_fenced_when_it_ends_is_lost() throws Exception {
        Fenced journal = new Fenced(entry -> entry instanceof Entry.RunEnded);
        step("a");
        assertThat(f.build().run(null, with(journal)).status()).isEqualTo(FlowStatus.LOST);
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void a_failed_attempt_that_is_fenced_has_no_successor() throws Exception {
        Fenced journal = new Fenced(entry -> entry instanceof Entry.AttemptFailed);
        f.node("a", () -> {
                    calls.add("a");
                    throw new IllegalStateException("a is broken");
                })
                .retry(RetryPolicy.attempts(3))
                .fallback(failure -> calls.add("fallback"));
        assertThat(f.build().run(null, with(journal)).status()).isEqualTo(FlowStatus.LOST);
        assertThat(calls).containsExactly("a");
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void a_failure_that_is_fenced_is_not_reported() throws Exception {
        Fenced journal = new Fenced(endOf("a"));
        f.node("a", () -> {
                    throw new IllegalStateException("a is broken");
                })
                .onResult(report -> calls.add("result of a"));
        assertThat(f.build().run(null, with(journal)).status()).isEqualTo(FlowStatus.LOST);
        assertThat(calls).isEmpty();
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void an_element_that_is_fenced_loses_the_whole_run() throws Exception {
        Fenced journal = new Fenced(entry -> entry instanceof Entry.ElementEnded element && element.index() == 1);
        Node<List<String>> items = f.node("items", () -> List.of("x", "y", "z"));
        f.map("mapped", items, MapOptions.limit(1), item -> {
            calls.add(item);
            return item;
        });
        step("other").needs(Dependency.order("mapped"));
        assertThat(f.build().run(null, with(journal)).status()).isEqualTo(FlowStatus.LOST);
        assertThat(calls).containsExactly("x", "y");
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void nodes_of_a_subflow_are_not_compensated_when_the_outer_run_is_lost() throws Exception {
        Fenced journal = new Fenced(endOf("b"));
        CountDownLatch begun = new CountDownLatch(1);
        BlockingTask running = new BlockingTask();
        FlowBuilder<String> g = FlowPlan.define("inner", String.class);
        Node<String> inner = g.node("inner", () -> "inner").compensate(value -> calls.add("undo inner"));
        Node<String> end = g.node("end", inner, value -> {
            begun.countDown();
            return running.call();
        });
        f.subflow("sub", g.returning(end), f.node("parameter", () -> "p"));
        f.node("b", () -> {
            begun.await();
            return "b";
        });
        try (FlowRun<Void> run = f.build().start(null, with(journal))) {
            assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
        }
        assertThat(calls).isEmpty();
        assertThat(journal.refused).hasSize(1);
    }

    @Test
    void a_cancelled_run_that_is_fenced_is_lost() throws Exception {
        Fenced journal = new Fenced(entry -> entry instanceof Entry.Compensating);
        BlockingTask running = new BlockingTask();
        Node<String> a = step("a");
        f.node("running", a, value -> running.call());
        try (FlowRun<Void> run = f.build().start(null, with(journal))) {
            running.awaitBegun();
            run.cancel("no longer wanted");
            assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
        }
        assertThat(calls).containsExactly("a", "result of a");
    }

    @Test
    void an_abandoned_run_is_lost_and_another_run_continues_it() throws Exception {
        MemoryJournal journal = FlowJournal.inMemory();
        BlockingTask running = new BlockingTask();
        Node<String> a = step("a");
        Node<String> b = f.node("b", a, value -> running.call()).onResult(report -> calls.add("result of b"));
        FlowPlan<Void, String> plan = f.returning(b);
        try (FlowRun<String> run = plan.start(null, with(journal))) {
            running.awaitBegun();
            run.abandon("the worker is shut down");
            FlowResult<String> lost = run.join();
            assertThat(lost.status()).isEqualTo(FlowStatus.LOST);
            assertThat(lost.explain("b")).contains("was abandoned: the worker is shut down");
        }
        assertThat(calls).containsExactly("a", "result of a");
        assertThat(journal.entries()).last().isInstanceOf(Entry.NodeEnded.class);
        running.release();
        assertThat(plan.run(null, with(journal)).value()).isEqualTo("value");
        assertThat(calls).containsExactly("a", "result of a", "result of b");
    }

    @Test
    void a_run_that_is_abandoned_while_it_compensates_records_nothing_more() throws Exception {
        MemoryJournal journal = FlowJournal.inMemory();
        BlockingTask undoing = BlockingTask.uninterruptible();
        Node<String> a = step("a");
        Node<String> b = f.node("b", a, value -> "B").compensate(value -> undoing.call());
        f.node("bad", b, value -> {
            throw new IllegalStateException("bad");
        });
        try (FlowRun<Void> run = f.build().start(null, with(journal))) {
            undoing.awaitBegun();
            run.abandon("the worker is shut down");
            undoing.release();
            assertThat(run.join().status()).isEqualTo(FlowStatus.LOST);
        }
        assertThat(journal.entries()).last().isInstanceOf(Entry.Compensating.class);
        assertThat(calls).doesNotContain("undo a");
    }

    @Test
    void abandoning_an_ended_run_has_no_effect() throws Exception {
        MemoryJournal journal = FlowJournal.inMemory();
        step("a");
        try (FlowRun<Void> run = f.build().start(null, with(journal))) {
            run.join();
            List<Entry> before = new ArrayList<>(journal.entries());
            run.abandon("too late");
            assertThat(run.join().status()).isEqualTo(FlowStatus.SUCCESS);
            assertThat(journal.entries()).isEqualTo(before);
        }
    }
}
