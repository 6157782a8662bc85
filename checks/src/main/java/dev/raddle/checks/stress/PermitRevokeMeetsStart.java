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
import org.openjdk.jcstress.infra.results.LLLLL_Result;

/** A source revokes the permit of a granted task while that starts and ends. */
@JCStressTest
@Outcome(id = "1, 1, SUCCESS, 0, free", expect = ACCEPTABLE, desc = "the task had ended")
@Outcome(id = "1, 1, CANCELLED, 0, free", expect = ACCEPTABLE, desc = "cancelled while it ran")
@Outcome(id = "1, 0, CANCELLED, 0, free", expect = ACCEPTABLE, desc = "cancelled before it began")
@Outcome(id = "0, .*", expect = FORBIDDEN, desc = "the permit was neither held nor unused")
@Outcome(expect = FORBIDDEN, desc = "the revoked permit is still there, or the task never ends")
@State
public class PermitRevokeMeetsStart {

    private final PermitRig permits = new PermitRig();
    private final AtomicInteger ran = new AtomicInteger();
    private final TaskHandle<Integer> task;

    public PermitRevokeMeetsStart() {
        task = permits.rig.executor.submit("a", "task", ran::incrementAndGet);
        permits.grant("a", 1);
        permits.runOffloaded();
    }

    @Actor
    public void run() {
        permits.rig.runNext("a");
    }

    @Actor
    public void revoke(LLLLL_Result result) {
        result.r1 = permits.revoke("a");
    }

    @Arbiter
    public void check(LLLLL_Result result) {
        String rest = permits.rest();
        result.r2 = ran.get();
        result.r3 = Rig.end(task);
        result.r4 = permits.reclaim("a");
        result.r5 = rest;
    }
}
