package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZI_Result;

/** The bug that {@link CancelMeetsStart} looks for: a task checks its state and then acts, in two steps. */
@JCStressTest
@Outcome(id = "false, 1", expect = ACCEPTABLE, desc = "it began first")
@Outcome(id = "true, 0", expect = ACCEPTABLE, desc = "it was cancelled first")
@Outcome(id = "true, 1", expect = FORBIDDEN, desc = "it ran although cancel had returned true")
@State
public class CancelMeetsStartSeededBug {

    private static final class CheckThenActTask {
        private volatile boolean begun;
        private volatile boolean cancelled;
        volatile int ran;

        void run() {
            if (!cancelled) {
                begun = true;
                ran = 1;
            }
        }

        boolean cancel() {
            if (begun) {
                return false;
            }
            cancelled = true;
            return true;
        }
    }

    private final CheckThenActTask task = new CheckThenActTask();

    @Actor
    public void start() {
        task.run();
    }

    @Actor
    public void cancel(ZI_Result result) {
        result.r1 = task.cancel();
    }

    @Arbiter
    public void check(ZI_Result result) {
        result.r2 = task.ran;
    }
}
