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

/** The only waiting task of a group is cancelled while a permit of the cap becomes free; another group waits too. */
@JCStressTest
@Outcome(id = "true, 1, 0, free", expect = ACCEPTABLE, desc = "cancelled in the queue: the other group has the permit")
@Outcome(
        id = "true, 0, 1, free",
        expect = ACCEPTABLE,
        desc = "cancelled after the grant: its runner releases the permit")
@Outcome(id = "true, 0, 0, .*", expect = FORBIDDEN, desc = "the permit was lost to a task that had left the queue")
@Outcome(id = "true, 1, 1, .*", expect = FORBIDDEN, desc = "the cap was exceeded")
@Outcome(expect = FORBIDDEN, desc = "a waiting task could not be cancelled, or a permit was lost")
@State
public class CancelMeetsReleaseAtCap {

    private final Rig rig = new Rig(rules -> rules.globalMaxInFlight(1));
    private final TaskHandle<String> waiter;

    public CancelMeetsReleaseAtCap() {
        rig.submit("a");
        waiter = rig.submit("b");
        rig.submit("c");
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Actor
    public void cancel(LLLL_Result result) {
        result.r1 = waiter.cancel(true);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = rig.granted("c");
        result.r3 = rig.granted("b");
        result.r4 = rig.aftermath("b");
    }
}
