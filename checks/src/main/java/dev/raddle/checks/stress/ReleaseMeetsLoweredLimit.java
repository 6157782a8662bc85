package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** The limit of a group is lowered from two to one while one of its two running tasks ends and a third waits. */
@JCStressTest
@Outcome(
        id = "2, 1, free",
        expect = ACCEPTABLE,
        desc = "replaced before the limit was lowered: one above the limit until it ends")
@Outcome(id = "1, 1, free", expect = ACCEPTABLE, desc = "ended after the limit was lowered: not replaced")
@Outcome(id = "[12], 2, .*", expect = FORBIDDEN, desc = "the lowered limit is not in force")
@Outcome(id = "0, .*", expect = FORBIDDEN, desc = "the second running task was forgotten")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost, or granted twice")
@State
public class ReleaseMeetsLoweredLimit {

    private final Rig rig = new Rig(rules -> rules.defaultMaxConcurrencyPerGroup(2));

    public ReleaseMeetsLoweredLimit() {
        for (int i = 0; i < 4; i++) {
            rig.submit("a");
        }
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Actor
    public void lower() {
        rig.executor.setMaxConcurrency("a", 1);
    }

    @Arbiter
    public void check(LLL_Result result) {
        int granted = rig.granted("a");
        result.r1 = granted;
        for (int i = 0; i < granted; i++) {
            rig.runNext("a");
        }
        result.r2 = rig.granted("a");
        result.r3 = rig.aftermath("a");
    }
}
