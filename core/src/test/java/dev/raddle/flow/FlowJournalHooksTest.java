package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.BlockingTask;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The calls of a journal besides those for entries. */
@Timeout(60)
class FlowJournalHooksTest {

    private final FlowBuilder<Void> f = FlowPlan.define("hooks");
    private final List<String> events = new CopyOnWriteArrayList<>();
    private final ThreadLocal<String> open = new ThreadLocal<>();

    /** A journal that notes its calls, and whether an action has opened something in the thread of the call. */
    private class Noting implements FlowJournal {
        @Override
        public List<Entry> open(Work work) {
            return List.of();
        }

        @Override
        public void record(Entry entry) {
            if (!(entry instanceof Entry.Begun || entry instanceof Entry.RunEnded)) {
                events.add(entry.getClass().getSimpleName() + " with " + open.get());
            }
        }

        @Override
        public void attemptEnded(String id) {
            events.add("ended " + id + " with " + open.get());
            open.remove();
        }
    }

    private RunOptions options() {
        return RunOptions.defaults().withJournal(new Noting());
    }

    @Test
    void each_attempt_ends_in_its_thread_after_its_record() throws Exception {
        f.node("a", () -> {
                    open.set("transaction " + events.size());
                    if (events.size() < 4) {
                        throw new IllegalStateException("not yet");
                    }
                    return "A";
                })
                .retry(RetryPolicy.attempts(3));
        f.build().run(null, options());
        assertThat(events)
                .containsExactly(
                        "AttemptFailed with transaction 0",
                        "ended a with transaction 0",
                        "AttemptFailed with transaction 2",
                        "ended a with transaction 2",
                        "NodeEnded with transaction 4",
                        "ended a with transaction 4");
    }

    @Test
    void an_attempt_that_fails_for_good_ends_after_the_record_of_the_fallback() throws Exception {
        f.node("a", () -> {
                    open.set("transaction");
                    throw new IllegalStateException("broken");
                })
                .fallback(failure -> "F");
        f.build().run(null, options());
        assertThat(events)
                .containsExactly(
                        "AttemptFailed with transaction", "NodeEnded with transaction", "ended a with transaction");
    }

    @Test
    void an_attempt_whose_result_is_dropped_ends_without_a_record() throws Exception {
        BlockingTask late = BlockingTask.uninterruptible();
        f.node("a", () -> {
            open.set("transaction");
            return late.call();
        });
        try (FlowRun<Void> run = f.build().start(null, options())) {
            late.awaitBegun();
            run.cancel("no longer wanted");
            run.join();
            late.release();
        }
        assertThat(events).containsExactly("ended a with transaction");
    }

    @Test
    void nodes_that_do_not_run_have_no_attempt() throws Exception {
        f.node("a", () -> "A").when(c -> false);
        f.build().run(null, options());
        assertThat(events).containsExactly("NodeEnded with null");
    }

    @Test
    void an_attempt_begins_with_the_context_of_its_action_in_its_thread() throws Exception {
        List<Object> begun = new CopyOnWriteArrayList<>();
        List<Object> called = new CopyOnWriteArrayList<>();
        FlowBuilder<Void> nested = FlowPlan.define("nested");
        Node<String> inner = nested.node("a", c -> "inner");
        Node<String> a = f.node("a", c -> {
            called.addAll(List.of(c, Thread.currentThread()));
            return "A";
        });
        Node<Void> nothing = f.node("nothing", a, value -> null);
        Node<List<String>> elements = f.map("a2", f.node("list", c -> List.of("x")), x -> x);
        Node<String> sub = f.subflow("sub", nested.returning(inner), nothing);
        FlowJournal journal = new Noting() {
            @Override
            public void attemptBegan(NodeContext<?> context) {
                events.add("began " + context.id());
                if (context.id().equals("a")) {
                    begun.addAll(List.of(context, Thread.currentThread()));
                }
            }
        };
        f.returning(List.of(sub)).run(null, RunOptions.defaults().withJournal(journal));
        assertThat(begun).isEqualTo(called).hasSize(2);
        assertThat(events).contains("began nothing").doesNotContain("began sub", "began a2", "began a2[0]");
        assertThat(events).doesNotContain("ended a2[0] with null");
    }

    @Test
    void an_attempt_that_the_journal_refuses_has_failed() throws Exception {
        f.node("a", () -> "A").retry(RetryPolicy.attempts(2)).fallback(failure -> "instead of " + failure.getMessage());
        FlowJournal journal = new Noting() {
            @Override
            public void attemptReturned(String id) {
                throw new IllegalStateException("a refusal of " + id);
            }
        };
        FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withJournal(journal));
        assertThat(result.node("a").value()).isEqualTo("instead of a refusal of a");
        assertThat(events)
                .containsExactly(
                        "AttemptFailed with null",
                        "ended a with null",
                        "AttemptFailed with null",
                        "NodeEnded with null",
                        "ended a with null");
    }

    @Test
    void a_run_is_lost_if_a_returned_attempt_is_fenced() throws Exception {
        f.node("a", () -> "A").fallback(failure -> "instead");
        FlowJournal journal = new Noting() {
            @Override
            public void attemptReturned(String id) {
                throw new FencedException("taken over");
            }
        };
        RunOptions options = RunOptions.defaults().withJournal(journal).inCallersThread();
        FlowResult<Void> result = f.build().run(null, options);
        assertThat(result.status()).isEqualTo(FlowStatus.LOST);
        assertThat(events).containsExactly("ended a with null");
    }

    @Test
    void exceptions_of_the_hook_go_to_the_sink() throws Exception {
        f.node("a", () -> "A");
        FlowJournal throwing = new FlowJournal() {
            @Override
            public List<Entry> open(Work work) {
                return List.of();
            }

            @Override
            public void record(Entry entry) {}

            @Override
            public void attemptEnded(String id) {
                throw new IllegalStateException("connection is broken");
            }
        };
        FlowResult<Void> result = f.build()
                .run(
                        null,
                        RunOptions.defaults()
                                .withJournal(throwing)
                                .withExceptionSink(
                                        ExceptionSink.to((source, failure) -> events.add(failure.getMessage()))));
        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(events).containsExactly("connection is broken");
    }
}
