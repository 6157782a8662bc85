package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A source grants a permit while the task that wants it is cancelled: the permit is never lost. */
@JCStressTest
@Outcome(id = "true, 0, 1, free", expect = ACCEPTABLE, desc = "accepted, and unused in the end")
@Outcome(id = "false, 0, 0, free", expect = ACCEPTABLE, desc = "not accepted: the group was removed")
@Outcome(id = ".*, 1, .*", expect = FORBIDDEN, desc = "the cancelled task ran")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost or made")
@State
public class PermitGrantMeetsCancel {

    private final PermitRig permits = new PermitRig();
    private final AtomicInteger ran = new AtomicInteger();
    private final TaskHandle<Integer> waiter = permits.rig.executor.submit("a", "waiter", ran::incrementAndGet);

    @Actor
    public void grant(LLLL_Result result) {
        result.r1 = permits.grant("a", 1);
    }

    @Actor
    public void cancel() {
        waiter.cancel(false);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        String rest = permits.rest();
        result.r2 = ran.get();
        result.r3 = permits.reclaim("a");
        result.r4 = rest;
    }
}
