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

/** The limit of a full group is raised by one while a task is submitted: the second of the two threads starts it. */
@JCStressTest
@Outcome(id = "2, SUCCESS, free", expect = ACCEPTABLE, desc = "two run")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "a lost wakeup: it waits although a permit is free")
@Outcome(id = "3, .*", expect = FORBIDDEN, desc = "granted twice")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class SubmitMeetsRaisedLimit {

    private final Rig rig = new Rig(rules -> rules);
    private TaskHandle<String> handle;

    public SubmitMeetsRaisedLimit() {
        rig.submit("a");
    }

    @Actor
    public void submit() {
        handle = rig.submit("a");
    }

    @Actor
    public void raise() {
        rig.executor.setMaxConcurrency("a", 2);
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("a");
        rig.runAll();
        result.r2 = Rig.end(handle);
        result.r3 = rig.aftermath("a");
    }
}
