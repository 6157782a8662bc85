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

/** A source grants a permit while the group that wants it is evicted: the task runs or is rejected. */
@JCStressTest
@Outcome(id = "true, SUCCESS, 1, free", expect = ACCEPTABLE, desc = "started before the eviction")
@Outcome(id = "true, REJECTED, 1, free", expect = ACCEPTABLE, desc = "accepted after the eviction, and unused")
@Outcome(id = "false, REJECTED, 0, free", expect = ACCEPTABLE, desc = "not accepted: the group was removed")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the task was forgotten")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost or made")
@State
public class PermitGrantMeetsEvict {

    private final PermitRig permits = new PermitRig();
    private final TaskHandle<String> waiter = permits.rig.submit("a");

    @Actor
    public void grant(LLLL_Result result) {
        result.r1 = permits.grant("a", 1);
    }

    @Actor
    public void evict() {
        permits.rig.executor.evictGroup("a");
    }

    @Arbiter
    public void check(LLLL_Result result) {
        String rest = permits.rest();
        result.r2 = Rig.end(waiter);
        result.r3 = permits.reclaim("a");
        result.r4 = rest;
    }
}
