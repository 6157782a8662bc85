package dev.raddle.checks.flow;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.FlowPlan;
import dev.raddle.flow.FlowResult;
import dev.raddle.flow.Node;
import dev.raddle.flow.NodeState;
import dev.raddle.flow.RunOptions;
import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** F16 again, where only the time shows how much work was done. */
class FailedMustsTest {

    // each failure searches for the first declared failed must; only the first of these searches may be long
    @Test
    void a_node_with_many_failed_musts_is_decided_in_linear_work() throws Exception {
        FlowPlan<Void, Void> little = failedMusts(5_000);
        FlowPlan<Void, Void> much = failedMusts(40_000);
        long leastOfLittle = Long.MAX_VALUE;
        long leastOfMuch = Long.MAX_VALUE;
        for (int i = 0; i < 5 || (i < 100 && leastOfMuch >= 30 * leastOfLittle); i++) { // until it is compiled
            leastOfLittle = Math.min(leastOfLittle, cpuNanosOf(little));
            leastOfMuch = Math.min(leastOfMuch, cpuNanosOf(much));
        }
        assertThat((double) leastOfMuch / leastOfLittle)
                .as("CPU time for 8 times the edges")
                .isLessThan(30);
    }

    private static FlowPlan<Void, Void> failedMusts(int width) {
        FlowBuilder<Void> f = FlowPlan.define("musts");
        IllegalStateException broken = new IllegalStateException("broken");
        List<Node<Integer>> all = new ArrayList<>();
        for (int i = 0; i < width; i++) {
            all.add(f.<Integer>node("n" + i, () -> {
                        throw broken;
                    })
                    .essential()); // otherwise the first failure would cause skips of the others
        }
        f.node("end", Dependency.allOf(all.reversed()), xs -> xs); // the first to fail is declared last
        return f.build();
    }

    /** Returns the CPU time of a run in the calling thread, which depends less on other load than its duration. */
    private static long cpuNanosOf(FlowPlan<Void, Void> plan) throws InterruptedException {
        long start = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
        FlowResult<Void> result = plan.run(null, RunOptions.defaults().inCallersThread());
        long nanos = ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime() - start;
        assertThat(result.node("end").state()).isEqualTo(NodeState.FAILED);
        return nanos;
    }
}
