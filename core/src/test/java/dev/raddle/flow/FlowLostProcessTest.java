package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.RetryPolicy;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Nodes that kill their process. */
@Timeout(60)
class FlowLostProcessTest {

    private final FlowBuilder<Void> f = FlowPlan.define("deadly");
    private final MemoryJournal memory = FlowJournal.inMemory();
    private final AtomicInteger deaths = new AtomicInteger();
    private Process process = new Process(memory, false);

    /** The journal of one process. */
    private static final class Process implements FlowJournal {
        private final FlowJournal journal;
        private final boolean continues; // a run whose process has died
        private volatile boolean isDead;

        Process(FlowJournal journal, boolean continues) {
            this.journal = journal;
            this.continues = continues;
        }

        @Override
        public List<Entry> open(Work work) throws Exception {
            return journal.open(work);
        }

        @Override
        public void record(Entry entry) throws Exception {
            if (isDead) {
                throw new FencedException("the process is dead");
            }
            journal.record(entry);
        }

        @Override
        public boolean wasLost() {
            return continues;
        }
    }

    /** Kills the current process. */
    private String die() {
        deaths.incrementAndGet();
        process.isDead = true;
        throw new IllegalStateException("not recorded");
    }

    /** Runs the flow in a new process. */
    private FlowResult<Void> next(FlowJournal journal, boolean continues) throws Exception {
        process = new Process(journal, continues);
        return f.build().run(null, RunOptions.defaults().inCallersThread().withJournal(process));
    }

    private FlowResult<Void> runUntilEnd(int most) throws Exception {
        FlowResult<Void> result = next(memory, false);
        for (int each = 1; result.status() == FlowStatus.LOST && each < most; each++) {
            result = next(memory, true);
        }
        return result;
    }

    @Test
    void a_node_that_kills_its_process_is_attempted_as_its_retry_policy_says_and_recovered_by_its_fallback()
            throws Exception {
        f.node("deadly", this::die)
                .retry(RetryPolicy.attempts(2))
                .fallback(failure -> "instead: " + failure.getMessage());
        FlowResult<Void> result = runUntilEnd(9);

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.node("deadly").value())
                .isEqualTo("instead: the process has died during attempt 2 of node \"deadly\"");
        assertThat(deaths)
                .as("the first one, of which nothing was known, and two attempts")
                .hasValue(3);
    }

    @Test
    void a_node_with_a_default_fails_when_its_process_has_died_again() throws Exception {
        f.node("deadly", this::die).defaultValue("default");
        FlowResult<Void> result = runUntilEnd(9);

        assertThat(result.node("deadly").state()).isEqualTo(NodeState.FAILED);
        assertThat(result.node("deadly").value()).isEqualTo("default");
        assertThat(deaths).hasValue(2);
    }

    @Test
    void a_map_and_a_subflow_that_kill_their_process_are_recovered_by_their_fallbacks() throws Exception {
        FlowBuilder<String> inner = FlowPlan.define("inner", String.class);
        FlowPlan<String, String> plan = inner.returning(inner.node("x", this::die));
        Node<List<Integer>> list = f.node("list", () -> List.of(1, 2));
        Node<List<String>> mapped = f.map("mapped", list, element -> element == 1 ? "one" : die());
        mapped.fallback(failure -> List.of("none"));
        Node<String> in = f.node("in", mapped, values -> "in " + values);
        f.subflow("sub", plan, in).fallback(failure -> "no sub");
        FlowResult<Void> result = runUntilEnd(9);

        assertThat(result.status()).isEqualTo(FlowStatus.SUCCESS);
        assertThat(result.node("in").value()).isEqualTo("in [none]");
        assertThat(result.node("sub").value()).isEqualTo("no sub");
    }

    @Test
    void a_map_that_has_advanced_before_its_process_died_goes_on() throws Exception {
        Node<List<Integer>> list = f.node("list", () -> List.of(1, 2, 3));
        Node<List<String>> mapped =
                f.map("mapped", list, element -> element == deaths.get() + 2 ? die() : "e" + element);
        mapped.fallback(failure -> List.of("none"));
        FlowResult<Void> result = runUntilEnd(9);

        assertThat(result.node("mapped").value()).isEqualTo(List.of("e1", "e2", "e3"));
    }

    @Test
    void a_node_without_retry_fallback_and_default_runs_again() throws Exception {
        f.node("deadly", () -> deaths.get() < 6 ? die() : "alive");
        FlowResult<Void> result = runUntilEnd(9);

        assertThat(result.node("deadly").value()).isEqualTo("alive");
        assertThat(result.node("deadly").state()).isEqualTo(NodeState.SUCCESS);
    }

    @Test
    void the_begin_of_an_attempt_is_recorded_only_after_a_loss() throws Exception {
        f.node("a", () -> "A");
        f.node("b", () -> deaths.get() == 0 ? die() : "B").needs(Dependency.after("a"));
        next(memory, false);
        assertThat(memory.entries()).noneMatch(entry -> entry instanceof Entry.AttemptBegan);
        next(memory, true);
        assertThat(memory.entries())
                .filteredOn(entry -> entry instanceof Entry.AttemptBegan)
                .containsExactly(new Entry.AttemptBegan("b", 1));
    }

    @Test
    void what_has_ended_in_a_process_that_died_counts_as_no_failure() throws Exception {
        f.node("a", () -> "A").fallback(failure -> "fallback");
        f.node("b", () -> deaths.get() < 2 ? die() : "B").needs(Dependency.after("a"));
        FlowResult<Void> result = runUntilEnd(9);

        assertThat(result.node("a").value()).isEqualTo("A");
        assertThat(result.node("b").value()).isEqualTo("B");
    }

    @Test
    void a_file_tells_whether_the_process_of_its_run_has_died(@TempDir Path directory) throws Exception {
        f.node("deadly", this::die).fallback(failure -> "instead");
        FlowResult<Void> result = null;
        for (int each = 0; each < 3; each++) {
            try (FileJournal file = FileJournal.open(directory.resolve("run"), FlowCodec.text())) {
                assertThat(file.wasLost()).isEqualTo(each > 0);
                result = next(file, file.wasLost());
            }
        }
        assertThat(result.node("deadly").value()).isEqualTo("instead");
        assertThat(deaths).hasValue(2);
    }
}
