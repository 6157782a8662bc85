package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * The bug that {@link ScopeOpenMeetsCancelAround} looks for: a scope checks the outer one before it is listed in it.
 */
@JCStressTest
@Outcome(
        id = "true",
        expect = ACCEPTABLE,
        desc = "the canceller saw the inner scope, or it saw the outer one cancelled")
@Outcome(id = "false", expect = FORBIDDEN, desc = "neither saw the other")
@State
public class ScopeOpenMeetsCancelAroundSeededBug {

    private volatile boolean outerCancelled;
    private volatile boolean listed;
    private volatile boolean innerCancelled;

    @Actor
    public void open() {
        if (outerCancelled) {
            innerCancelled = true;
        }
        listed = true;
    }

    @Actor
    public void cancel() {
        outerCancelled = true;
        if (listed) {
            innerCancelled = true;
        }
    }

    @Arbiter
    public void check(Z_Result result) {
        result.r1 = innerCancelled;
    }
}
