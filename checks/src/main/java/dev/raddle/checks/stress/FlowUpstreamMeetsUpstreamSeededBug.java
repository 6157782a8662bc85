package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The bug that {@link FlowUpstreamMeetsUpstream} looks for: a join decrements its counter in two steps. */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "the join ran once")
@Outcome(id = "0", expect = FORBIDDEN, desc = "both upstreams counted from two to one: the join never runs")
@Outcome(id = "2", expect = FORBIDDEN, desc = "both upstreams saw zero: the join ran twice")
@State
public class FlowUpstreamMeetsUpstreamSeededBug {

    private volatile int pending = 2;
    private volatile int firstRan;
    private volatile int secondRan;

    private int ranByOneEnd() {
        int left = pending - 1;
        pending = left;
        return left == 0 ? 1 : 0;
    }

    @Actor
    public void first() {
        firstRan = ranByOneEnd();
    }

    @Actor
    public void second() {
        secondRan = ranByOneEnd();
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = firstRan + secondRan;
    }
}
