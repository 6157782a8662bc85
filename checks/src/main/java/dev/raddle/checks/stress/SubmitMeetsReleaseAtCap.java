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

/** The only permit of the cap becomes free while a task of another group is submitted. */
@JCStressTest
@Outcome(id = "1, SUCCESS, free", expect = ACCEPTABLE, desc = "it was granted the permit")
@Outcome(id = "0, .*", expect = FORBIDDEN, desc = "a lost wakeup: it waits although a permit is free")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "the cap was exceeded, or a permit was lost")
@State
public class SubmitMeetsReleaseAtCap {

    private final Rig rig = new Rig(rules -> rules.globalMaxInFlight(1));
    private TaskHandle<String> handle;

    public SubmitMeetsReleaseAtCap() {
        rig.submit("a");
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Actor
    public void submit() {
        handle = rig.submit("b");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("b");
        rig.runAll();
        result.r2 = Rig.end(handle);
        result.r3 = rig.aftermath("b");
    }
}
