package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLLL_Result;

/** A run is cancelled while a node begins: its begin callback is called exactly if the action is entered. */
@JCStressTest
@Outcome(id = "free, 1, 1, 1, (SUCCESS|CANCELLED)", expect = ACCEPTABLE, desc = "it began first")
@Outcome(id = "free, 0, 0, 1, CANCELLED", expect = ACCEPTABLE, desc = "it was cancelled first")
@Outcome(id = "free, 1, 0, .*", expect = FORBIDDEN, desc = "the callback was called for an action that never began")
@Outcome(id = "free, 0, 1, .*", expect = FORBIDDEN, desc = "the action began without its callback")
@Outcome(id = "interrupted, .*", expect = FORBIDDEN, desc = "the interrupt stayed with the thread")
@Outcome(expect = FORBIDDEN, desc = "never ended, or reported twice")
@State
public class FlowCancelMeetsBegin {

    private final AtomicInteger begun = new AtomicInteger();
    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicInteger reported = new AtomicInteger();
    private final FlowRig rig = new FlowRig(f -> f.node("node", ran::incrementAndGet)
            .onBegin(context -> begun.incrementAndGet())
            .onResult(report -> reported.incrementAndGet()));

    @Actor
    public void run(LLLLL_Result result) {
        result.r1 = rig.runNext();
    }

    @Actor
    public void cancel() {
        rig.run.cancel("enough");
    }

    @Arbiter
    public void check(LLLLL_Result result) {
        rig.end();
        result.r2 = begun.get();
        result.r3 = ran.get();
        result.r4 = reported.get();
        result.r5 = rig.run.isDone() ? rig.run.state("node") : "never";
    }
}
