package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.CircuitBreaker;
import dev.raddle.group.TaskHandle;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** The end of a task opens the breaker of a serial group while another task comes, which does not start. */
@JCStressTest
@Outcome(id = "0, REJECTED, free", expect = ACCEPTABLE, desc = "refused, or drained from the queue")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "a slot was granted after the opening")
@Outcome(expect = FORBIDDEN, desc = "the rejection or the slot was lost")
@State
public class OpeningMeetsSubmit {

    private final Rig rig = new Rig(rules -> rules.defaultMaxConcurrencyPerGroup(1)
            .breaker(key -> CircuitBreaker.failureRate(0.5).atLeast(1)));
    private TaskHandle<String> other;

    public OpeningMeetsSubmit() {
        rig.executor.submit("a", "bad", () -> {
            throw new IOException("down");
        });
    }

    @Actor
    public void end() {
        rig.runNext("a");
    }

    @Actor
    public void submit() {
        other = rig.submit("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("a");
        result.r2 = result.r1.equals(0) ? other.join(10, TimeUnit.SECONDS).status() : "granted";
        rig.executor.resetBreaker("a");
        result.r3 = rig.aftermath("a");
    }
}
