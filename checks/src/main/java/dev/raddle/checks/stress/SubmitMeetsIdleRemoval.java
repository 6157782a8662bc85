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

/** The last task of a group ends, and the group is removed, while another task is submitted. */
@JCStressTest
@Outcome(id = "1, 0, SUCCESS, free", expect = ACCEPTABLE, desc = "it runs, in the old group or the new one")
@Outcome(id = "0, .*", expect = FORBIDDEN, desc = "a lost wakeup: nothing is held, and it was not granted")
@Outcome(id = "1, 1, .*", expect = FORBIDDEN, desc = "the empty group is not removed")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the task entered a group that was removed")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost, or two were granted")
@State
public class SubmitMeetsIdleRemoval {

    private final Rig rig = new Rig(rules -> rules);
    private TaskHandle<String> handle;

    public SubmitMeetsIdleRemoval() {
        rig.submit("a");
    }

    @Actor
    public void end() {
        rig.runNext("a");
    }

    @Actor
    public void submit() {
        handle = rig.submit("a");
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r1 = rig.granted("a");
        rig.runAll();
        result.r2 = rig.executor.activeGroupKeys().size();
        result.r3 = Rig.end(handle);
        result.r4 = rig.aftermath("a");
    }
}
