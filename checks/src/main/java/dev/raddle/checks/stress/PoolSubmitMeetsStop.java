package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A task is submitted while {@code shutdownNow} runs: it is returned, or rejected, and the pool terminates. */
@JCStressTest
@Outcome(id = "accepted, 0, 1, TERMINATED", expect = ACCEPTABLE, desc = "it came first and was returned")
@Outcome(id = "rejected, 0, 0, TERMINATED", expect = ACCEPTABLE, desc = "it came too late, or was removed and rejected")
@Outcome(id = "accepted, 0, 0, .*", expect = FORBIDDEN, desc = "it was neither run nor returned")
@Outcome(id = "rejected, 0, 1, .*", expect = FORBIDDEN, desc = "it was returned and rejected")
@Outcome(id = ".*, 1, .*", expect = FORBIDDEN, desc = "it started after the stop")
@Outcome(expect = FORBIDDEN, desc = "the pool does not terminate")
@State
public class PoolSubmitMeetsStop {

    private final PoolRig rig = new PoolRig(pool -> pool.coreThreads(0).maxThreads(1));
    private final AtomicInteger ran = new AtomicInteger();
    private String outcome;
    private List<Runnable> returned;

    @Actor
    public void submit() {
        outcome = rig.execute(ran::incrementAndGet);
    }

    @Actor
    public void stop() {
        returned = rig.pool.shutdownNow();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        rig.runAllThreads();
        result.r1 = outcome;
        result.r2 = ran.get();
        result.r3 = returned.size();
        result.r4 = rig.pool.runState();
    }
}
