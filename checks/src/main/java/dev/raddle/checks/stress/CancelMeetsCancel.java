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

/**
 * Neighbours in a queue are cancelled, one of them twice: each leaves the queue once, and the tasks around them stay.
 */
@JCStressTest
@Outcome(id = "(true, false|false, true), 1, free", expect = ACCEPTABLE, desc = "one of the two calls cancelled it")
@Outcome(id = "true, true, .*", expect = FORBIDDEN, desc = "cancelled twice")
@Outcome(id = "false, false, .*", expect = FORBIDDEN, desc = "neither call cancelled it")
@Outcome(expect = FORBIDDEN, desc = "the queue is corrupt: a task is lost, or a cancelled one is still in it")
@State
public class CancelMeetsCancel {

    private final Rig rig = new Rig(rules -> rules);
    private final TaskHandle<String> first;
    private final TaskHandle<String> second;

    public CancelMeetsCancel() {
        rig.submit("a");
        first = rig.submit("a");
        second = rig.submit("a");
        rig.submit("a");
    }

    @Actor
    public void both(LLLL_Result result) {
        result.r1 = second.cancel(true);
        first.cancel(true);
    }

    @Actor
    public void one(LLLL_Result result) {
        result.r2 = second.cancel(false);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r3 = rig.executor.stats().totalQueuedCount();
        result.r4 = rig.aftermath("a");
    }
}
