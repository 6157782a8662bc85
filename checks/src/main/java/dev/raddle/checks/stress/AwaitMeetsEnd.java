package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** A thread awaits a task and then submits the next one: it finds the permit free, without a queue and at the cap. */
@JCStressTest
@Outcome(id = "SUCCESS, SUCCESS, free", expect = ACCEPTABLE, desc = "the permit was free before await returned")
@Outcome(id = "SUCCESS, REJECTED, .*", expect = FORBIDDEN, desc = "await returned before the permit was free")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class AwaitMeetsEnd {

    private final Rig rig =
            new Rig(rules -> rules.globalMaxInFlight(1).globalQueueThreshold(0).defaultQueueThresholdPerGroup(0));
    private final TaskHandle<String> handle = rig.submit("a");
    private TaskHandle<String> next;

    @Actor
    public void await(LLL_Result result) {
        result.r1 = handle.join().status();
        next = rig.submit("a");
    }

    @Actor
    public void run() {
        rig.runNext("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        rig.runAll();
        result.r2 = Rig.end(next);
        result.r3 = rig.aftermath("a");
    }
}
