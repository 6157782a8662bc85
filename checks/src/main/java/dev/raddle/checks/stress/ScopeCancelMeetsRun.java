package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.Task;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A task of a scope is cancelled while its thread begins, runs and ends it: it is cancelled or it has its value. */
@JCStressTest
@Outcome(id = "false, 1, SUCCESS, adds up", expect = ACCEPTABLE, desc = "it ended first")
@Outcome(
        id = "true, [01], CANCELLED, adds up",
        expect = ACCEPTABLE,
        desc = "cancelled before it began, or while it ran")
@Outcome(id = "true, .*, SUCCESS, .*", expect = FORBIDDEN, desc = "it has a value although cancel had returned true")
@Outcome(id = ".*interrupted.*", expect = FORBIDDEN, desc = "the interrupt stayed with the thread")
@Outcome(expect = FORBIDDEN, desc = "ran twice, never ended, or is counted wrongly")
@State
public class ScopeCancelMeetsRun {

    private final ScopeRig rig = new ScopeRig();
    private final AtomicInteger ran = new AtomicInteger();
    private final Task<Integer> task = rig.scope.submit(ran::incrementAndGet);
    private boolean leaked;

    @Actor
    public void run() {
        rig.steps.runNext();
        leaked = Thread.interrupted();
    }

    @Actor
    public void cancel(LLLL_Result result) {
        result.r1 = task.cancel();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = leaked ? "interrupted" : ran.get();
        result.r3 = rig.end(task);
        result.r4 = rig.account();
    }
}
