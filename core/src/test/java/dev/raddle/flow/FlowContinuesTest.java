package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Runs that are parked or interrupted while they wait, and continued. */
@Timeout(10)
class FlowContinuesTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final MemoryJournal journal = FlowJournal.inMemory();
    private final VirtualTime time = new VirtualTime();
    private final List<String> effects = new ArrayList<>();
    private StepScheduler steps = new StepScheduler();

    /** Runs until the run only waits, parks it if asked to, and continues it after some time. */
    private FlowResult<?> run(FlowPlan<Void, ?> plan, boolean parks, Duration... waits) throws Exception {
        FlowRun<?> run = start(plan);
        for (Duration wait : waits) {
            if (parks) {
                run.abandon("parked");
                run.close();
            }
            time.advance(wait);
            if (parks) {
                run = start(plan);
            }
            steps.runAll();
        }
        return run.join();
    }

    private FlowRun<?> start(FlowPlan<Void, ?> plan) {
        steps = new StepScheduler();
        RunOptions options =
                RunOptions.defaults().withScheduler(steps).withTimeSource(time).withJournal(journal);
        FlowRun<?> run = plan.start(null, options);
        steps.runAll();
        return run;
    }

    private String effect(String what) {
        effects.add(what);
        return what;
    }

    private FlowPlan<Void, ?> shop() {
        FlowBuilder<Void> f = FlowPlan.define("shop");
        f.node("pay", () -> effect("pay")).compensate(value -> effect("refund"));
        Node<String> hint = f.node("hint", () -> "hint");
        Node<Void> asked = f.sleep("asked", HOUR);
        hint.needs(Dependency.order(asked)).when(c -> false);
        f.node("stock", () -> {
            throw new IllegalStateException("no stock");
        });
        f.node("ship", () -> effect("ship")).needs(Dependency.must("hint"), Dependency.must("stock"));
        f.sleep("later", HOUR.multipliedBy(2));
        return f.build();
    }

    @Test
    void a_node_ends_by_the_dependency_that_failed_first_also_if_the_run_was_parked() throws Exception {
        FlowResult<?> result = run(shop(), false, HOUR, HOUR);
        assertThat(result.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(effects).containsExactly("pay", "refund");
        String explained = result.explain("ship");

        FlowContinuesTest parked = new FlowContinuesTest();
        FlowResult<?> continued = parked.run(parked.shop(), true, HOUR, HOUR);
        assertThat(continued.status()).isEqualTo(FlowStatus.FAILED);
        assertThat(parked.effects).containsExactly("pay", "refund");
        assertThat(continued.explain("ship")).isEqualTo(explained);
    }

    @Test
    void a_signal_that_timed_out_has_timed_out_also_after_the_run_was_parked() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("approval");
        Node<String> approved = f.signal("approved", String.class).timeout(HOUR);
        f.node("mail", () -> effect("mail")).needs(Dependency.after(approved));
        Node<Void> pause = f.sleep("pause", HOUR).needs(Dependency.order("mail"));
        f.node("refund", () -> effect("refund"))
                .needs(Dependency.order(pause), Dependency.after("approved"))
                .when(c -> c.state("approved") == NodeState.TIMED_OUT);
        FlowResult<?> result = run(f.build(), true, HOUR, HOUR);
        assertThat(result.node("approved").state()).isEqualTo(NodeState.TIMED_OUT);
        assertThat(effects).containsExactly("mail", "refund");
    }

    @Test
    void a_failure_with_half_a_surrogate_pair_in_its_message_is_recorded_in_a_file(@TempDir Path directory)
            throws Exception {
        String message = "x".repeat(1_999) + "\uD83D\uDE00 and more";
        try (FileJournal file = FileJournal.open(directory.resolve("journal"), FlowCodec.text())) {
            FlowBuilder<Void> f = FlowPlan.define("faces");
            f.node("fails", () -> {
                throw new IllegalStateException(message);
            });
            FlowResult<Void> result = f.build().run(null, RunOptions.defaults().withJournal(file, "one"));
            assertThat(result.node("fails").cause()).hasMessage(message);
            assertThat(result.node("fails").cause().getSuppressed()).isEmpty();
            assertThat(file.entries())
                    .anyMatch(entry -> entry instanceof Entry.NodeEnded end
                            && end.state() == NodeState.FAILED
                            && end.failure().message().startsWith("xxx"));
        }
    }

    @Test
    void a_recorded_exception_keeps_its_record_when_java_serializes_it() throws Exception {
        RecordedException recorded = new RecordedFailure("java.io.IOException", "no", "at x").toException();
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        new ObjectOutputStream(bytes).writeObject(recorded);
        Object read = new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
        assertThat(read).hasToString("java.io.IOException: no");
        assertThat(((RecordedException) read).failure()).isEqualTo(recorded.failure());
    }
}
