package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/** What {@link ScopeOpenMeetsCancelAround} looks for, in a scope that looks around before it can be found. */
@JCStressTest
@Outcome(id = "true", expect = ACCEPTABLE, desc = "it was found, or found the outer one cancelled")
@Outcome(id = "false", expect = FORBIDDEN, desc = "each missed the other")
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
