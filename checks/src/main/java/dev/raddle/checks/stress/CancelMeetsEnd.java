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

/** A task is cancelled, with an interrupt, while it begins, runs and ends: afterwards its thread is not interrupted. */
@JCStressTest
@Outcome(id = "false, false, SUCCESS, free", expect = ACCEPTABLE, desc = "it ended first")
@Outcome(id = "true, false, CANCELLED, free", expect = ACCEPTABLE, desc = "it was cancelled first")
@Outcome(id = "true, .*, SUCCESS, .*", expect = FORBIDDEN, desc = "the end overwrote the cancellation")
@Outcome(id = ".*, true, .*, .*", expect = FORBIDDEN, desc = "the interrupt leaked out of the task")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class CancelMeetsEnd {

    private final Rig rig = new Rig(rules -> rules);
    private final TaskHandle<String> handle = rig.submit("a");

    @Actor
    public void run(LLLL_Result result) {
        rig.runNext("a");
        result.r2 = Thread.interrupted();
    }

    @Actor
    public void cancel(LLLL_Result result) {
        result.r1 = handle.cancel(true);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r3 = Rig.end(handle);
        result.r4 = rig.aftermath("a");
    }
}
