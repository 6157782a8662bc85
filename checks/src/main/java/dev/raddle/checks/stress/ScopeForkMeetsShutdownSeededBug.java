package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The bug that {@link ScopeForkMeetsShutdown} looks for: fork checks the state only before it lists the subtask. */
@JCStressTest
@Outcome(id = "true, true", expect = ACCEPTABLE, desc = "the fork came first, and the shutdown found it")
@Outcome(id = "false, false", expect = ACCEPTABLE, desc = "the shutdown came first")
@Outcome(id = "true, false", expect = FORBIDDEN, desc = "started, and never interrupted")
@State
public class ScopeForkMeetsShutdownSeededBug {

    private volatile boolean shutdown;
    private volatile boolean listed;
    private volatile boolean interrupted;

    @Actor
    public void fork() {
        if (!shutdown) {
            listed = true;
        }
    }

    @Actor
    public void shutDown() {
        shutdown = true;
        if (listed) {
            interrupted = true;
        }
    }

    @Arbiter
    public void check(ZZ_Result result) {
        result.r1 = listed;
        result.r2 = interrupted;
    }
}
