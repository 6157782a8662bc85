package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.Task;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A task with a separate flag for its cancellation, read in a step of its own: it runs although cancel returned true.
 */
@JCStressTest
@Outcome(id = "false, 1, .*", expect = ACCEPTABLE, desc = "it ran first")
@Outcome(id = "true, 0, .*", expect = ACCEPTABLE, desc = "it was cancelled first")
@Outcome(expect = FORBIDDEN, desc = "it ran although cancel had returned true")
@State
public class ScopeCancelMeetsStartSeededBug {

    private final ScopeRig rig = new ScopeRig();
    private final AtomicBoolean cancelled = new AtomicBoolean();
    private final AtomicBoolean begun = new AtomicBoolean();
    private final AtomicInteger ran = new AtomicInteger();
    private final Task<Integer> task = rig.scope.submit(this::checkThenAct);

    private int checkThenAct() {
        if (cancelled.get()) {
            return 0;
        }
        begun.set(true);
        return ran.incrementAndGet();
    }

    @Actor
    public void run() {
        rig.steps.runNext();
    }

    @Actor
    public void cancel(LLLL_Result result) {
        boolean mine = !begun.get();
        cancelled.set(mine);
        result.r1 = mine;
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = ran.get();
        result.r3 = rig.end(task);
        result.r4 = rig.account();
    }
}
