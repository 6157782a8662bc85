package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The last two nodes of a run end at once, one of them with a failure: the run ends, and the other node is undone
 * once.
 */
@JCStressTest
@Outcome(id = "1, FAILED", expect = ACCEPTABLE, desc = "one of them has completed the run")
@Outcome(expect = FORBIDDEN, desc = "the run never ended, or was completed twice")
@State
public class FlowSinkMeetsSink {

    private final AtomicInteger undone = new AtomicInteger();
    private final FlowRig rig = new FlowRig(f -> {
        f.node("good", () -> 1).compensate(value -> undone.incrementAndGet());
        f.node("bad", () -> {
            throw new IllegalStateException("broken");
        });
    });

    @Actor
    public void first() {
        rig.runNext();
    }

    @Actor
    public void second() {
        rig.runNext();
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r2 = rig.end();
        result.r1 = undone.get();
    }
}
