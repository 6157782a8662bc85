package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Node;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A node ends, the run is cancelled and its deadline passes, at once: each node is reported once, undone at most once.
 */
@JCStressTest
@Outcome(id = "1, 1, 0, SUCCESS", expect = ACCEPTABLE, desc = "both nodes ended first")
@Outcome(id = "1, 1, [01], (CANCELLED|TIMED_OUT)", expect = ACCEPTABLE, desc = "the run ended first")
@Outcome(expect = FORBIDDEN, desc = "a callback was called twice or never, or a node undone twice")
@State
public class FlowCancelMeetsDeadline {

    private final AtomicInteger reported = new AtomicInteger();
    private final AtomicInteger nextReported = new AtomicInteger();
    private final AtomicInteger undone = new AtomicInteger();
    private final FlowRig rig = new FlowRig(f -> {
        Node<Integer> node = f.node("node", () -> 1)
                .onResult(report -> reported.incrementAndGet())
                .compensate(value -> undone.incrementAndGet());
        f.node("next", node, x -> x).onResult(report -> nextReported.incrementAndGet());
    });

    @Actor
    public void run() {
        rig.runNext();
    }

    @Actor
    public void end() {
        rig.expire(); // the alarm fires in a thread of its own
        rig.run.cancel("enough");
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r4 = rig.end();
        result.r1 = reported.get();
        result.r2 = nextReported.get();
        result.r3 = undone.get();
    }
}
