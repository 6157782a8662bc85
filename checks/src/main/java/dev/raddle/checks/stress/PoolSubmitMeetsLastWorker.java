package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** A task is queued while the last worker leaves: one of the two sees the other. */
@JCStressTest
@Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "the leaver stayed for it, or a new worker was hired")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "it lies in the queue without a worker")
@Outcome(expect = FORBIDDEN, desc = "a worker was counted that is not there")
@State
public class PoolSubmitMeetsLastWorker {

    private final PoolRig rig =
            new PoolRig(pool -> pool.coreThreads(0).maxThreads(1).keepAlive(Duration.ZERO));
    private final AtomicInteger ran = new AtomicInteger();

    public PoolSubmitMeetsLastWorker() {
        rig.execute(ran::incrementAndGet);
    }

    @Actor
    public void work() {
        rig.playNext();
    }

    @Actor
    public void submit() {
        rig.execute(ran::incrementAndGet);
    }

    @Arbiter
    public void check(II_Result result) {
        rig.playAll();
        result.r1 = ran.get();
        result.r2 = rig.pool.getPoolSize();
    }
}
