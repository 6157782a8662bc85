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

/** A task is submitted while its scope is cancelled: the second of the two threads cancels it, so it always ends. */
@JCStressTest
@Outcome(id = "true, 0, CANCELLED, adds up", expect = ACCEPTABLE, desc = "cancelled by its submitter or by the scope")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "neither saw the other")
@Outcome(expect = FORBIDDEN, desc = "it ran, or is counted wrongly")
@State
public class ScopeSubmitMeetsCancel {

    private final ScopeRig rig = new ScopeRig();
    private final AtomicInteger ran = new AtomicInteger();
    private volatile Task<Integer> task;

    @Actor
    public void submit() {
        task = rig.scope.submit(ran::incrementAndGet);
    }

    @Actor
    public void cancel(LLLL_Result result) {
        rig.scope.cancel("for the test");
        result.r1 = rig.scope.token().isCancelled();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r3 = rig.end(task);
        result.r4 = rig.account();
        result.r2 = ran.get();
    }
}
