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
 * A run's deadline passes while its last node begins and ends: both succeed or both time out, and are reported once.
 */
@JCStressTest
@Outcome(id = "free, 1, SUCCESS, SUCCESS", expect = ACCEPTABLE, desc = "it ended first")
@Outcome(
        id = "free, 1, TIMED_OUT, TIMED_OUT",
        expect = ACCEPTABLE,
        desc = "out of time before it began, or while it ran")
@Outcome(
        id = "free, 1, SUCCESS, TIMED_OUT",
        expect = ACCEPTABLE,
        desc = "out of time between its end and that of the run")
@Outcome(id = "interrupted, .*", expect = FORBIDDEN, desc = "the interrupt stayed with the thread")
@Outcome(expect = FORBIDDEN, desc = "never ended, reported twice, or the states contradict each other")
@State
public class FlowDeadlineMeetsCompletion {

    private final AtomicInteger reported = new AtomicInteger();
    private final FlowRig rig =
            new FlowRig(f -> f.node("node", () -> 1).onResult(report -> reported.incrementAndGet()));

    @Actor
    public void run(LLLL_Result result) {
        result.r1 = rig.runNext();
    }

    @Actor
    public void expire() {
        rig.expire();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r4 = rig.end();
        result.r2 = reported.get();
        result.r3 = rig.run.state("node");
    }
}
