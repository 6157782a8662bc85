package dev.raddle.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.raddle.flow.Entry;
import dev.raddle.flow.FileJournal;
import dev.raddle.flow.FlowCodec;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.RunOptions;
import java.nio.file.Path;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmptyNodesTest {

    @TempDir
    Path directory;

    private final EmptyNodes nodes = new EmptyNodes();

    @Test
    void each_node_of_a_chain_is_executed_and_recorded_once() throws Exception {
        assertThat(recordsOf(EmptyNodes::chain)).isEqualTo(100);
        nodes.requireRecorded(100);
    }

    @Test
    void each_node_of_a_fan_is_executed_and_recorded_once() throws Exception {
        assertThat(recordsOf(EmptyNodes::fan)).isEqualTo(102);
        nodes.requireRecorded(102);
    }

    @Test
    void a_node_that_is_not_recorded_fails_the_benchmark() throws Exception {
        recordsOf(EmptyNodes::chain);

        assertThatThrownBy(() -> nodes.requireRecorded(99))
                .isInstanceOf(IllegalStateException.class)
                .hasMessage("100 nodes were executed, and 99 are recorded");
    }

    @Test
    void a_run_that_fails_fails_the_benchmark() {
        assertThatThrownBy(() -> nodes.measure(2, 0, id -> {
                    throw new IllegalStateException(id.substring(0, 4) + " has failed");
                }))
                .hasMessage("run- has failed");
    }

    @Test
    void runs_have_different_ids_and_are_repeated_until_the_measurement_is_over() throws Exception {
        nodes.measure(2, 0, id -> {
            FlowPlan<String, String> plan = nodes.chain();
            try (FileJournal journal = FileJournal.open(directory.resolve(id), FlowCodec.text())) {
                plan.run("x", RunOptions.defaults().withJournal(journal, id));
            }
        });

        assertThat(nodes.executed() % EmptyNodes.LENGTH).isZero();
        assertThat(directory.toFile().list()).hasSize((int) (nodes.executed() / EmptyNodes.LENGTH));
    }

    private long recordsOf(Function<EmptyNodes, FlowPlan<String, String>> plan) throws Exception {
        try (FileJournal journal = FileJournal.open(directory.resolve("journal"), FlowCodec.text())) {
            plan.apply(nodes).run("x", RunOptions.defaults().withJournal(journal, "run"));
            return journal.entries().stream()
                    .filter(Entry.NodeEnded.class::isInstance)
                    .count();
        }
    }
}
