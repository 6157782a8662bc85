package dev.raddle.flow;

import static dev.raddle.flow.Dependency.after;
import static dev.raddle.flow.Dependency.optional;
import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.task.ExceptionSink;
import dev.raddle.task.RetryPolicy;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Processes that end at each record of a run, and the processes that continue it. */
@Timeout(60)
class FlowCrashesTest {

    private final List<String> calls = new ArrayList<>(); // of actions, fallbacks, conditions, compensations
    private final List<String> callbacks = new ArrayList<>();
    private MemoryJournal memory = FlowJournal.inMemory();

    private String call(String what) {
        calls.add(what);
        return what.toUpperCase(Locale.ROOT);
    }

    private String fail(String what) {
        call(what);
        throw new IllegalStateException(what + " is broken");
    }

    /** Fails until two attempts are recorded as failed. */
    private String flaky(String what) {
        long failed = memory.entries().stream()
                .filter(entry -> entry instanceof Entry.AttemptFailed)
                .count();
        return failed < 2 ? fail(what) : call(what);
    }

    /** Returns a plan that uses everything that is recorded. */
    private FlowPlan<Void, String> plan(boolean isFailing) {
        FlowBuilder<Void> f = FlowPlan.define("order");
        Node<List<String>> items = f.node("items", () -> {
            call("items");
            return List.of("x", "y", "z");
        });
        Node<String> pay = f.node("pay", items, list -> call("pay")).compensate(value -> call("refund " + value));
        Node<String> flaky = f.node("flaky", pay, value -> flaky("flaky")).retry(RetryPolicy.attempts(3));
        Node<List<String>> packed = f.map("pack", items, item -> call("pack " + item));
        Node<String> recovered =
                f.node("recovered", () -> fail("recovered")).fallback(failure -> call("fallback after " + failure));
        Node<String> skipped = f.node("skipped", () -> call("skipped"))
                .when(c -> !call("asked").isEmpty() && false);
        Node<String> broken = f.node("broken", () -> fail("broken")).defaultValue("D");
        Node<String> slow = f.node("slow", () -> call("slow"))
                .timeout(Duration.ofMinutes(1))
                .compensate(value -> call("undo " + value));
        Node<String> end = f.node(
                        "end",
                        flaky,
                        packed,
                        recovered,
                        (x, a, b, c) -> call("end")
                                + a
                                + b
                                + c.length()
                                + x.read("broken")
                                + x.outcome("skipped").status()
                                + x.read(slow))
                .needs(optional(broken), after(skipped), slow)
                .onResult(report -> callbacks.add(report.id() + " " + report.state()))
                .compensate(value -> call("undo end"));
        if (isFailing) {
            f.node("last", end, value -> fail("last")).onResult(report -> callbacks.add("last " + report.state()));
        }
        return f.returning(end);
    }

    private FlowResult<String> run(FlowPlan<Void, String> plan, FlowJournal journal) throws Exception {
        return plan.run(
                null,
                RunOptions.defaults()
                        .inCallersThread()
                        .withTimeSource(new VirtualTime())
                        .withExceptionSink(ExceptionSink.to((source, failure) -> {
                            throw new AssertionError(source, failure);
                        }))
                        .withJournal(journal));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_run_that_crashes_after_any_record_continues_and_repeats_nothing(boolean isFailing) throws Exception {
        Run whole = new Run(isFailing);
        whole.continueToTheEnd();
        for (int cut = 0; cut < whole.entries - 1; cut++) { // after the last one another try would begin
            Run run = new Run(isFailing);
            run.crash(cut, true);
            run.continueToTheEnd();
            assertThat(run.result).as("cut after %s", cut).isEqualTo(whole.result);
            assertThat(run.calls).as("cut after %s", cut).containsExactlyInAnyOrderElementsOf(whole.calls);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void a_run_that_crashes_before_any_record_repeats_at_most_what_was_not_recorded(boolean isFailing)
            throws Exception {
        Run whole = new Run(isFailing);
        whole.continueToTheEnd();
        int repeated = 0;
        for (int cut = 0; cut < whole.entries; cut++) {
            Run run = new Run(isFailing);
            run.crash(cut, false);
            run.continueToTheEnd();
            assertThat(run.result).as("cut before %s", cut).isEqualTo(whole.result);
            List<String> more = new ArrayList<>(run.calls);
            whole.calls.forEach(more::remove);
            assertThat(more).as("cut before %s", cut).hasSizeLessThanOrEqualTo(1);
            assertThat(run.calls).as("cut before %s", cut).containsAll(whole.calls);
            repeated += more.size();
        }
        assertThat(repeated).as("of " + whole.calls).isEqualTo(whole.calls.size());
    }

    @Test
    void a_run_that_crashes_twice_anywhere_continues() throws Exception {
        Run whole = new Run(true);
        whole.continueToTheEnd();
        for (int first = 0; first < whole.entries; first++) {
            for (int second = 0; second < whole.entries - first; second++) {
                boolean stores = (first + second) % 2 == 0 && first < whole.entries - 1;
                Run run = new Run(true);
                run.crash(first, stores);
                run.crash(second, !stores);
                if (memory.entries().getLast() instanceof Entry.RunEnded) {
                    continue; // another try would begin
                }
                run.continueToTheEnd();
                assertThat(run.result).as("cut at %s and %s", first, second).isEqualTo(whole.result);
                assertThat(run.calls.size() - whole.calls.size())
                        .as("cut at %s and %s", first, second)
                        .isBetween(0, 2);
            }
        }
    }

    /** A run over several processes. */
    private final class Run {
        private final FlowPlan<Void, String> plan;
        private final List<String> calls = new ArrayList<>();
        private String result = "";
        private int entries;

        Run(boolean isFailing) {
            plan = plan(isFailing);
            memory = FlowJournal.inMemory();
        }

        /** Runs until an entry is refused, and checks that nothing follows. */
        void crash(int left, boolean stores) throws Exception {
            FlowCrashesTest.this.calls.clear();
            callbacks.clear();
            CuttingJournal cut = new CuttingJournal(memory, left, stores);
            FlowResult<String> lost = run(plan, cut);
            calls.addAll(FlowCrashesTest.this.calls);
            if (!cut.isCut()) {
                return; // fewer entries are left
            }
            assertThat(lost.status()).isEqualTo(FlowStatus.LOST);
            assertThat(lost.compensationFailures()).isEmpty();
            assertThat(cut.afterwards).isEmpty();
            assertThat(callbacks).noneMatch(each -> each.contains("CANCELLED"));
        }

        void continueToTheEnd() throws Exception {
            FlowCrashesTest.this.calls.clear();
            FlowResult<String> last = run(plan, memory);
            calls.addAll(FlowCrashesTest.this.calls);
            entries = memory.entries().size();
            assertThat(memory.entries().getLast()).isEqualTo(new Entry.RunEnded(last.status()));
            result = last.status() + " " + last.value() + " "
                    + last.node("last".equals(lastId()) ? "last" : "end").state();
        }

        private String lastId() {
            return plan.nodes().getLast().id();
        }
    }
}
