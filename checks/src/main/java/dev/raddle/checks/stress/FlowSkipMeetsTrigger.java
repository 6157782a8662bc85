package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.Node;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A node is triggered while its only consumer starts without it: the node runs or is skipped, and is reported once. */
@JCStressTest
@Outcome(id = "1, 1, SUCCESS, SUCCESS", expect = ACCEPTABLE, desc = "it was triggered first")
@Outcome(id = "0, 1, SKIPPED, SUCCESS", expect = ACCEPTABLE, desc = "it was skipped first")
@Outcome(expect = FORBIDDEN, desc = "it ran although it was skipped, or was reported twice, or never")
@State
public class FlowSkipMeetsTrigger {

    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger reported = new AtomicInteger();

    private final FlowRig rig = new FlowRig(f -> {
        Node<Integer> root = f.node("root", () -> 1);
        Node<Integer> fast = f.node("fast", () -> 2);
        Node<Integer> node =
                f.node("node", root, x -> ran.incrementAndGet()).onResult(report -> reported.incrementAndGet());
        f.node("end", Dependency.anyOf(node, fast), x -> x);
    });

    @Actor
    public void trigger() {
        rig.runNext();
    }

    @Actor
    public void skip() {
        rig.runNext();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r4 = rig.end();
        result.r1 = ran.get();
        result.r2 = reported.get();
        result.r3 = rig.run.state("node");
    }
}
