package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A source revokes the only permit while its task ends and another one waits for it. */
@JCStressTest
@Outcome(id = "1, SUCCESS, CANCELLED, 0", expect = ACCEPTABLE, desc = "the next task had taken it over, and lost it")
@Outcome(id = "1, SUCCESS, never, 0", expect = ACCEPTABLE, desc = "it was lost as the task ended; the next one waits")
@Outcome(id = "1, CANCELLED, never, 0", expect = ACCEPTABLE, desc = "the running task lost it; the next one waits")
@Outcome(id = ".*, SUCCESS, 0", expect = FORBIDDEN, desc = "a task ran with a permit that was revoked")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost or made")
@State
public class PermitRevokeMeetsEnd {

    private final PermitRig permits = new PermitRig();
    private final TaskHandle<String> first;
    private final TaskHandle<String> next;

    public PermitRevokeMeetsEnd() {
        first = permits.rig.submit("a");
        permits.grant("a", 1);
        permits.runOffloaded();
        next = permits.rig.submit("a");
    }

    @Actor
    public void end() {
        permits.rig.runNext("a");
    }

    @Actor
    public void revoke(LLLL_Result result) {
        result.r1 = permits.revoke("a");
    }

    @Arbiter
    public void check(LLLL_Result result) {
        permits.rest();
        result.r2 = Rig.end(first);
        result.r3 = Rig.end(next);
        result.r4 = permits.reclaim("a");
    }
}
