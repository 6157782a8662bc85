package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A cap is introduced while tasks run, one of them ends and another starts: it counts exactly the running tasks. */
@JCStressTest
@Outcome(id = "true, 3, 1, free", expect = ACCEPTABLE, desc = "the waiting task got the permit of the ended task first")
@Outcome(id = "true, 2, 1, free", expect = ACCEPTABLE, desc = "the cap came first: the ended task was not replaced")
@Outcome(id = "false, .*", expect = FORBIDDEN, desc = "the cap counts more or fewer tasks than run")
@Outcome(expect = FORBIDDEN, desc = "the cap is not in force, or a permit was lost")
@State
public class IntroducedCapMeetsRelease {

    private final Rig rig = new Rig(rules -> rules.defaultMaxConcurrencyPerGroup(2));

    public IntroducedCapMeetsRelease() {
        for (int i = 0; i < 3; i++) {
            rig.submit("a");
        }
        rig.submit("b");
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Actor
    public void introduce() {
        rig.executor.setGlobalMaxInFlight(1);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        int held = rig.executor.stats().totalActiveCount();
        result.r1 = held == rig.executor.stats().globalInFlightUsed();
        result.r2 = held;
        for (int ran = 0; ran < held; ran++) {
            rig.runNext(ran == 0 ? "b" : "a");
        }
        rig.submit("a");
        rig.submit("b");
        result.r3 = rig.executor.stats().totalActiveCount();
        result.r4 = rig.aftermath("a");
    }
}
