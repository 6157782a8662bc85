package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** A task is submitted while its pool is shut down: it runs exactly if it was accepted, and the pool terminates. */
@JCStressTest
@Outcome(id = "accepted, 1, TERMINATED", expect = ACCEPTABLE, desc = "it came first")
@Outcome(id = "rejected, 0, TERMINATED", expect = ACCEPTABLE, desc = "it came too late, or was removed and rejected")
@Outcome(id = "accepted, 0, .*", expect = FORBIDDEN, desc = "it stays in the queue for ever")
@Outcome(expect = FORBIDDEN, desc = "it ran although it was rejected, or the pool does not terminate")
@State
public class PoolSubmitMeetsShutdown {

    private final PoolRig rig = new PoolRig(pool -> pool.coreThreads(0).maxThreads(1));
    private final AtomicInteger ran = new AtomicInteger();
    private String outcome;

    @Actor
    public void submit() {
        outcome = rig.execute(ran::incrementAndGet);
    }

    @Actor
    public void shutDown() {
        rig.pool.shutdown();
    }

    @Arbiter
    public void check(LLL_Result result) {
        rig.runAllThreads();
        result.r1 = outcome;
        result.r2 = ran.get();
        result.r3 = rig.pool.runState();
    }
}
