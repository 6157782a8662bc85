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

/** A task is submitted while its pool is stopped: it is handed back, or rejected, and the pool ends. */
@JCStressTest
@Outcome(id = "accepted, 0, 1, TERMINATED", expect = ACCEPTABLE, desc = "it came first and was handed back")
@Outcome(id = "rejected, 0, 0, TERMINATED", expect = ACCEPTABLE, desc = "it came too late, or was taken back")
@Outcome(id = "accepted, 0, 0, .*", expect = FORBIDDEN, desc = "nobody knows of it")
@Outcome(id = "rejected, 0, 1, .*", expect = FORBIDDEN, desc = "it was handed back and rejected")
@Outcome(id = ".*, 1, .*", expect = FORBIDDEN, desc = "it started after the stop")
@Outcome(expect = FORBIDDEN, desc = "the pool does not end")
@State
public class PoolSubmitMeetsStop {

    private final PoolRig rig = new PoolRig(pool -> pool.coreThreads(0).maxThreads(1));
    private final AtomicInteger ran = new AtomicInteger();
    private String fate;
    private List<Runnable> handedBack;

    @Actor
    public void submit() {
        fate = rig.execute(ran::incrementAndGet);
    }

    @Actor
    public void stop() {
        handedBack = rig.pool.shutdownNow();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        rig.playAll();
        result.r1 = fate;
        result.r2 = ran.get();
        result.r3 = handedBack.size();
        result.r4 = rig.pool.runState();
    }
}
