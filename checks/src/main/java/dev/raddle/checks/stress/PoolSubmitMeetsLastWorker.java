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

/** A task is queued while the last worker exits: the submitter sees the exit, or the worker sees the task. */
@JCStressTest
@Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "the worker stayed for it, or a new worker was started")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "it is in the queue without a worker")
@Outcome(expect = FORBIDDEN, desc = "a worker is counted that has exited")
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
        rig.runNextThread();
    }

    @Actor
    public void submit() {
        rig.execute(ran::incrementAndGet);
    }

    @Arbiter
    public void check(II_Result result) {
        rig.runAllThreads();
        result.r1 = ran.get();
        result.r2 = rig.pool.getPoolSize();
    }
}
