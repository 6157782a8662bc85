package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.StructuredScopeOptions;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.L_Result;

/** The owner forks a sleeping subtask while another shuts the scope down: it is interrupted, or was never started. */
@JCStressTest
@Outcome(id = "interrupted", expect = ACCEPTABLE, desc = "the fork came first")
@Outcome(id = "never started", expect = ACCEPTABLE, desc = "the shutdown came first")
@Outcome(expect = FORBIDDEN, desc = "it was not interrupted")
@State
public class ScopeForkMeetsShutdown {

    private final ForkRig rig = new ForkRig(StructuredScopeOptions.defaults());

    @Actor
    public void fork() {
        rig.forkSleeperAndClose();
    }

    @Actor
    public void shutDown() {
        rig.go();
    }

    @Arbiter
    public void check(L_Result result) {
        result.r1 = rig.outcome();
    }
}
