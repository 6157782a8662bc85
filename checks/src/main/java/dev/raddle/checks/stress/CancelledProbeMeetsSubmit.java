package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.TaskHandle;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** The only probe of a breaker is cancelled while another task comes: its place is free again. */
@JCStressTest
@Outcome(id = "SUCCESS, free", expect = ACCEPTABLE, desc = "the other took the place")
@Outcome(id = "REJECTED, free", expect = ACCEPTABLE, desc = "the other came before the place was free")
@Outcome(expect = FORBIDDEN, desc = "the place was lost")
@State
public class CancelledProbeMeetsSubmit {

    private final Rig rig = new Rig(
            rules -> rules.breaker(key -> CircuitBreaker.failureRate(0.5).probes(1)));
    private final TaskHandle<String> probe;
    private TaskHandle<String> other;

    public CancelledProbeMeetsSubmit() {
        rig.executor.openBreaker("a", Duration.ofNanos(1));
        probe = rig.submit("a");
    }

    @Actor
    public void cancel() {
        probe.cancel(false);
        rig.runNext("a");
    }

    @Actor
    public void submit() {
        other = rig.submit("a");
    }

    @Arbiter
    public void check(LL_Result result) {
        rig.runAll();
        result.r1 = Rig.end(other);
        result.r2 = rig.aftermath("a");
    }
}
