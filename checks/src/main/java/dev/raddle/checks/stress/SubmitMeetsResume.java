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

/** A paused group, which is empty and would otherwise be removed, is resumed while a task is submitted. */
@JCStressTest
@Outcome(id = "1, SUCCESS, free", expect = ACCEPTABLE, desc = "the second of the two threads granted it")
@Outcome(id = "0, .*", expect = FORBIDDEN, desc = "a lost wakeup: it waits in a group that is not paused")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the task entered a group that was removed")
@Outcome(expect = FORBIDDEN, desc = "granted twice, or a permit was lost")
@State
public class SubmitMeetsResume {

    private final Rig rig = new Rig(rules -> rules);
    private TaskHandle<String> handle;

    public SubmitMeetsResume() {
        rig.executor.pauseGroup("a");
    }

    @Actor
    public void submit() {
        handle = rig.submit("a");
    }

    @Actor
    public void resume() {
        rig.executor.resumeGroup("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("a");
        rig.runAll();
        result.r2 = Rig.end(handle);
        result.r3 = rig.aftermath("a");
    }
}
