package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** Both permits of the cap become free at once while tasks of a third group wait for them. */
@JCStressTest
@Outcome(id = "2, 2, free", expect = ACCEPTABLE, desc = "each permit was passed on")
@Outcome(id = "[01], .*", expect = FORBIDDEN, desc = "a lost wakeup: each thread relied on the other")
@Outcome(id = "3, .*", expect = FORBIDDEN, desc = "the cap was exceeded")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class ReleaseMeetsReleaseAtCap {

    private final Rig rig = new Rig(rules -> rules.globalMaxInFlight(2).defaultMaxConcurrencyPerGroup(3));

    public ReleaseMeetsReleaseAtCap() {
        rig.submit("a");
        rig.submit("b");
        for (int i = 0; i < 3; i++) {
            rig.submit("c");
        }
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Actor
    public void releaseToo() {
        rig.runNext("b");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("c");
        result.r2 = rig.executor.stats().globalInFlightUsed();
        result.r3 = rig.aftermath("c");
    }
}
