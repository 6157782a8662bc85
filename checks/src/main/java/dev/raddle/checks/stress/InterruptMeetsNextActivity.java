package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.kernel.InterruptWindow;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** A thread is interrupted while it leaves an activity: the interrupt arrives before it has left, or never. */
@JCStressTest
@Outcome(id = "true, false", expect = ACCEPTABLE, desc = "the interrupt was sent first")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "the thread left first")
@Outcome(expect = FORBIDDEN, desc = "the interrupt reached the next activity")
@State
public class InterruptMeetsNextActivity extends InterruptWindow {

    private volatile boolean left;

    /** A thread that is never started; it records whether it was interrupted after the activity. */
    private final class Runner extends Thread {
        private boolean late;

        @Override
        public void interrupt() {
            Thread.onSpinWait(); // widens the race
            late = left;
        }
    }

    private final Runner runner = new Runner();

    @Actor
    public void leave() {
        closeWindow();
        left = true;
    }

    @Actor
    public void interrupt(ZZ_Result result) {
        result.r1 = interrupt(runner, false, failure -> {});
        result.r2 = runner.late;
    }
}
