package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.CircuitBreaker;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IL_Result;

/** Two tasks come when an open breaker wants one probe: one of them is the probe, and its end closes the breaker. */
@JCStressTest
@Outcome(id = "1, free", expect = ACCEPTABLE, desc = "one was admitted, and the breaker is closed")
@Outcome(id = "2, .*", expect = FORBIDDEN, desc = "both were admitted")
@Outcome(expect = FORBIDDEN, desc = "no probe, or a place was lost")
@State
public class ProbeMeetsProbe {

    private final Rig rig = new Rig(
            rules -> rules.breaker(key -> CircuitBreaker.failureRate(0.5).probes(1)));

    public ProbeMeetsProbe() {
        rig.executor.openBreaker("a", Duration.ofNanos(1));
    }

    @Actor
    public void submitFirst() {
        rig.submit("a");
    }

    @Actor
    public void submitSecond() {
        rig.submit("a");
    }

    @Arbiter
    public void check(IL_Result result) {
        result.r1 = rig.granted("a");
        result.r2 = rig.aftermath("a");
    }
}
