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

/**
 * The core size is lowered while a worker polls for its next task: it runs the queued tasks and does not wait for
 * more.
 */
@JCStressTest
@Outcome(id = "3, 0", expect = ACCEPTABLE, desc = "both workers left when the queue was empty")
@Outcome(expect = FORBIDDEN, desc = "a task was left behind, or a worker")
@State
public class PoolResizeMeetsTake {

    private final PoolRig rig = new PoolRig(pool -> pool.threads(2).keepAlive(Duration.ZERO));
    private final AtomicInteger ran = new AtomicInteger();

    public PoolResizeMeetsTake() {
        for (int i = 0; i < 3; i++) {
            rig.execute(ran::incrementAndGet);
        }
    }

    @Actor
    public void work() {
        rig.runNextThread();
    }

    @Actor
    public void resize() {
        rig.pool.setCorePoolSize(0);
    }

    @Arbiter
    public void check(II_Result result) {
        rig.runAllThreads();
        result.r1 = ran.get();
        result.r2 = rig.pool.getPoolSize();
    }
}
