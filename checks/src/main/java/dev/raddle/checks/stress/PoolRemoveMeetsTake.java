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
import org.openjdk.jcstress.infra.results.IIZ_Result;

/** A task is removed while a worker takes it: one of the two gets it, and the others still run. */
@JCStressTest
@Outcome(id = "2, 1, false", expect = ACCEPTABLE, desc = "the worker was first")
@Outcome(id = "2, 0, true", expect = ACCEPTABLE, desc = "the remover was first")
@Outcome(id = "2, 1, true", expect = FORBIDDEN, desc = "a removed task ran")
@Outcome(id = "2, 0, false", expect = FORBIDDEN, desc = "neither got it")
@Outcome(expect = FORBIDDEN, desc = "another task was lost or ran twice")
@State
public class PoolRemoveMeetsTake {

    private final PoolRig rig =
            new PoolRig(pool -> pool.coreThreads(0).maxThreads(1).keepAlive(Duration.ZERO));
    private final AtomicInteger others = new AtomicInteger();
    private final AtomicInteger ran = new AtomicInteger();
    private final Runnable task = ran::incrementAndGet;
    private boolean removed;

    public PoolRemoveMeetsTake() {
        rig.execute(others::incrementAndGet);
        rig.execute(task);
        rig.execute(others::incrementAndGet);
    }

    @Actor
    public void work() {
        rig.runNextThread();
    }

    @Actor
    public void remove() {
        removed = rig.pool.remove(task);
    }

    @Arbiter
    public void check(IIZ_Result result) {
        rig.runAllThreads();
        result.r1 = others.get();
        result.r2 = ran.get();
        result.r3 = removed;
    }
}
