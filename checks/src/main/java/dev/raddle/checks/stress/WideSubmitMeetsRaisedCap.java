package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.TaskSpec;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A task whose cost is the smaller of the cap and its group's limit is submitted while the cap is raised. */
@JCStressTest
@Outcome(id = "3, free", expect = ACCEPTABLE, desc = "as wide as the old cap: it runs beside the running task")
@Outcome(id = "1, free", expect = ACCEPTABLE, desc = "as wide as the group: it waits for the running task")
@Outcome(id = "[5-9], .*", expect = FORBIDDEN, desc = "the group's limit was exceeded")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class WideSubmitMeetsRaisedCap {

    private final Rig rig = new Rig(rules -> rules.globalMaxInFlight(2).defaultMaxConcurrencyPerGroup(4));

    public WideSubmitMeetsRaisedCap() {
        rig.submit("a");
    }

    @Actor
    public void submit() {
        rig.executor.submit("a", TaskSpec.named("wide", () -> "done").cost(4));
    }

    @Actor
    public void raise() {
        rig.executor.setGlobalMaxInFlight(8);
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r1 = rig.executor.stats().totalActiveCount();
        result.r2 = rig.aftermath("a");
    }
}
