package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The bug that {@link InterruptMeetsNextActivity} looks for: the runner does not wait for the sender. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "the interrupt was sent first")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "the thread left first")
@Outcome(expect = FORBIDDEN, desc = "the interrupt reached the next activity")
@State
public class InterruptMeetsNextActivitySeededBug {

    private volatile boolean open = true;
    private volatile boolean left;

    @Actor
    public void leave() {
        open = false;
        left = true;
    }

    @Actor
    public void interrupt(ZZ_Result result) {
        if (open) {
            result.r1 = true;
            Thread.onSpinWait(); // as long as interrupt() takes in the other test
            result.r2 = left;
        }
    }
}
