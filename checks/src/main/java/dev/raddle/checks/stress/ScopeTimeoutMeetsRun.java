package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.Task;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A task's deadline passes while its thread begins, runs and ends it: it has failed or it has its value. */
@JCStressTest
@Outcome(id = "free, 1, SUCCESS, adds up", expect = ACCEPTABLE, desc = "it ended first")
@Outcome(id = "free, [01], FAILED, adds up", expect = ACCEPTABLE, desc = "out of time before it began, or while it ran")
@Outcome(id = "interrupted, .*", expect = FORBIDDEN, desc = "the interrupt stayed with the thread")
@Outcome(expect = FORBIDDEN, desc = "ran twice, never ended, or is counted wrongly")
@State
public class ScopeTimeoutMeetsRun {

    private final ScopeRig rig = new ScopeRig();
    private final AtomicInteger ran = new AtomicInteger();
    private final Task<Integer> task = rig.scope.submit("task", ran::incrementAndGet, Duration.ofMillis(1));

    @Actor
    public void run(LLLL_Result result) {
        rig.steps.runNext();
        result.r1 = Thread.interrupted() ? "interrupted" : "free";
    }

    @Actor
    public void expire() {
        rig.time.advance(Duration.ofMillis(1));
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = ran.get();
        result.r3 = rig.end(task);
        result.r4 = rig.account();
    }
}
