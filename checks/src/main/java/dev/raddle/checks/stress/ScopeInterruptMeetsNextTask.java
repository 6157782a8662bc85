package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.Task;
import java.util.concurrent.atomic.AtomicBoolean;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A task is cancelled while its thread goes on to the next task: the interrupt reaches the first one only. */
@JCStressTest
@Outcome(id = "(true|false), clean, SUCCESS, adds up", expect = ACCEPTABLE, desc = "the second task is not interrupted")
@Outcome(id = ".*, interrupted, .*", expect = FORBIDDEN, desc = "the second task got the first one's interrupt")
@Outcome(expect = FORBIDDEN, desc = "the second task did not run, or is counted wrongly")
@State
public class ScopeInterruptMeetsNextTask {

    private final ScopeRig rig = new ScopeRig();
    private final AtomicBoolean interrupted = new AtomicBoolean();
    private final Task<String> first = rig.scope.submit(() -> "value");
    private final Task<String> second = rig.scope.submit(() -> {
        interrupted.set(Thread.currentThread().isInterrupted());
        return "value";
    });

    @Actor
    public void run() {
        rig.steps.runNext();
        rig.steps.runNext();
    }

    @Actor
    public void cancel(LLLL_Result result) {
        result.r1 = first.cancel();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = interrupted.get() ? "interrupted" : "clean";
        result.r3 = rig.end(second);
        result.r4 = rig.account();
    }
}
