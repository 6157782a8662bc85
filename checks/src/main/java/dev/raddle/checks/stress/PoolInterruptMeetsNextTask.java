package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** An idle worker is woken for a changed setting while a task arrives: the waking interrupt does not reach the task. */
@JCStressTest
@Outcome(id = "undisturbed, TERMINATED", expect = ACCEPTABLE, desc = "the interrupt ended the wait only")
@Outcome(id = "interrupted, .*", expect = FORBIDDEN, desc = "the interrupt reached the task")
@Outcome(expect = FORBIDDEN, desc = "the task did not run")
@State
public class PoolInterruptMeetsNextTask {

    private final PoolRig rig = new PoolRig(pool -> pool.threads(1));
    private String task = "never ran";

    public PoolInterruptMeetsNextTask() {
        rig.pool.prestartCoreThread();
    }

    @Actor
    public void work() {
        rig.runNextThread();
    }

    @Actor
    public void change() {
        rig.pool.allowCoreThreadTimeOut(true);
        rig.execute(this::recordInterrupt);
    }

    private void recordInterrupt() {
        task = Thread.currentThread().isInterrupted() ? "interrupted" : "undisturbed";
        rig.pool.shutdown();
    }

    @Arbiter
    public void check(LL_Result result) {
        rig.runAllThreads();
        result.r1 = task;
        result.r2 = rig.pool.runState();
    }
}
