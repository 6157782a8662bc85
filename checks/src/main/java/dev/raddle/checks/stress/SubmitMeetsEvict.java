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

/** A busy group is evicted while a task is submitted: the task is in the old group or the new one, under one limit. */
@JCStressTest
@Outcome(id = "1, SUCCESS, free", expect = ACCEPTABLE, desc = "in the new group, behind the task of the old one")
@Outcome(id = "1, REJECTED, free", expect = ACCEPTABLE, desc = "in the old group, and evicted with it")
@Outcome(id = "2, .*", expect = FORBIDDEN, desc = "the eviction doubled the limit")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the task is in neither group")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class SubmitMeetsEvict {

    private final Rig rig = new Rig(rules -> rules);
    private TaskHandle<String> handle;

    public SubmitMeetsEvict() {
        rig.submit("a");
    }

    @Actor
    public void submit() {
        handle = rig.submit("a");
    }

    @Actor
    public void evict() {
        rig.executor.evictGroup("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("a");
        String aftermath = rig.aftermath("a");
        result.r2 = Rig.end(handle);
        result.r3 = aftermath;
    }
}
