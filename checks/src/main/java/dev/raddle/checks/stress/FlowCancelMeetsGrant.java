package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A run is cancelled while a node is granted the permit of its group: it runs or is cancelled, and the permit is free.
 */
@JCStressTest
@Outcome(id = "1, 1, SUCCESS, free", expect = ACCEPTABLE, desc = "it ran first")
@Outcome(id = "[01], 1, CANCELLED, free", expect = ACCEPTABLE, desc = "cancelled while it waited, or while it ran")
@Outcome(id = ".* held; .*", expect = FORBIDDEN, desc = "the permit was lost")
@Outcome(expect = FORBIDDEN, desc = "reported twice, or never")
@State
public class FlowCancelMeetsGrant {

    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger reported = new AtomicInteger();
    private final Rig groups = new Rig(policy -> policy.defaultMaxConcurrencyPerGroup(1));
    private final FlowRig rig;

    public FlowCancelMeetsGrant() {
        groups.submit("g"); // has the permit
        rig = new FlowRig(
                f -> f.node("node", ran::incrementAndGet).group("g").onResult(report -> reported.incrementAndGet()),
                options -> options.withGroups(groups.executor::scheduler));
    }

    @Actor
    public void release() {
        groups.runNext("g"); // the holder
        groups.runNext("g"); // and the node, if it got the permit
    }

    @Actor
    public void cancel() {
        rig.run.cancel("enough");
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r4 = groups.rest();
        rig.end();
        result.r1 = ran.get();
        result.r2 = reported.get();
        result.r3 = rig.run.isDone() ? rig.run.state("node") : "never";
    }
}
