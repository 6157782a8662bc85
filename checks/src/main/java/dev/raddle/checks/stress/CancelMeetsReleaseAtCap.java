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

/** The only waiting task of a group is cancelled while a slot of the cap becomes free for it; another group waits too. */
@JCStressTest
@Outcome(id = "true, 1, 0, free", expect = ACCEPTABLE, desc = "cancelled in the queue: the other group has the slot")
@Outcome(
        id = "true, 0, 1, free",
        expect = ACCEPTABLE,
        desc = "cancelled after it was granted: its runner frees the slot")
@Outcome(id = "true, 0, 0, .*", expect = FORBIDDEN, desc = "the slot was lost to someone who had gone")
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
