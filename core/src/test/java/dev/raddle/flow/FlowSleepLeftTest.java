package dev.raddle.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class FlowSleepLeftTest {

    private final VirtualTime time = new VirtualTime();

    @Test
    void a_run_says_how_long_a_node_still_sleeps_and_nothing_of_one_that_waits_or_has_ended() throws Exception {
        FlowBuilder<Void> f = FlowPlan.define("shop");
        Node<Void> pause = f.sleep("pause", Duration.ofHours(2));
        Node<String> approved = f.signal("approved", String.class).needs(Dependency.order(pause));
        FlowPlan<Void, String> plan = f.returning(approved);

        try (FlowRun<String> run = plan.start(null, RunOptions.defaults().withTimeSource(time))) {
            while (run.sleepLeft("pause").isEmpty()) {
                Thread.onSpinWait();
            }
            time.advance(Duration.ofMinutes(30));
            assertThat(run.sleepLeft("pause")).contains(Duration.ofMinutes(90));
            assertThat(run.sleepLeft("approved")).isEmpty();

            time.advance(Duration.ofMinutes(90));
            assertThat(run.sleepLeft("pause")).isEmpty();
            run.signal("approved", "Ada");
            assertThat(run.get()).isEqualTo("Ada");
            assertThat(run.sleepLeft("approved")).isEmpty();
        }
    }
}
