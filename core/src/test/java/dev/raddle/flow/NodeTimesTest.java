package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The times of nodes in reports. */
class NodeTimesTest {

    @Test
    void times_of_a_node_after_thirty_days_are_exact_to_a_millisecond() {
        FlowBuilder<String> f = FlowPlan.define("long", String.class);
        Node<String> unused = f.node("n", c -> "x");
        NodeStates states = new NodeStates(f.build().graph, false, false);
        for (long start : new long[] {
            0, 1, 1_000, (1L << 40) - 1, 1L << 40, Duration.ofDays(30).toNanos() + 12_345
        }) {
            long end = start + 7_000_000;
            states.recordBegin(0, start);
            states.recordEnd(0, end);

            assertThat(states.startNanos(0) / 1e6).isCloseTo(start / 1e6, org.assertj.core.data.Offset.offset(0.5));
            assertThat((states.endNanos(0) - states.startNanos(0)) / 1e6)
                    .isCloseTo(7, org.assertj.core.data.Offset.offset(0.5));
        }
    }
}
