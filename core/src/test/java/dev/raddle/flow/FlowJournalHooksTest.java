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
    private final class Noting implements FlowJournal {
        @Override
        public Recovered open(Work work) {
            return Recovered.nothing();
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
    void exceptions_of_the_hook_go_to_the_sink() throws Exception {
        f.node("a", () -> "A");
        FlowJournal throwing = new FlowJournal() {
            @Override
            public Recovered open(Work work) {
                return Recovered.nothing();
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
