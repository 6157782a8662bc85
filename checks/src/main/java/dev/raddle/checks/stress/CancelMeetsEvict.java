package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A waiting task is cancelled while its group is evicted: it leaves the queue once. */
@JCStressTest
@Outcome(id = "(REJECTED|CANCELLED), free", expect = ACCEPTABLE, desc = "one of the two removed it")
@Outcome(id = "SUCCESS, .*", expect = FORBIDDEN, desc = "it ran although it had been removed")
@Outcome(expect = FORBIDDEN, desc = "it was removed twice")
@State
public class CancelMeetsEvict {

    private final Rig rig = new Rig(rules -> rules);
    private final TaskHandle<String> waiter;

    public CancelMeetsEvict() {
        rig.submit("a");
        waiter = rig.submit("a");
    }

    @Actor
    public void cancel() {
        waiter.cancel(true);
    }

    @Actor
    public void evict() {
        rig.executor.evictGroup("a");
    }

    @Arbiter
    public void check(LL_Result result) {
        rig.runAll();
        result.r1 = waiter.join().status(); // another thread may complete it
        result.r2 = rig.aftermath("a");
    }
}
