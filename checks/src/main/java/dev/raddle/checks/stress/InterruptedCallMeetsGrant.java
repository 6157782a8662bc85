package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** A caller that waits for its permit is interrupted while the permit is granted. */
@JCStressTest
@Outcome(id = "1, called, free", expect = ACCEPTABLE, desc = "the grant came first")
@Outcome(id = "0, interrupted, free", expect = ACCEPTABLE, desc = "the interrupt came first")
@Outcome(id = "1, interrupted, .*", expect = FORBIDDEN, desc = "it was interrupted while it waited, and ran")
@Outcome(id = ".*, .*held.*", expect = FORBIDDEN, desc = "the permit was lost between the grant and the interrupt")
@Outcome(expect = FORBIDDEN, desc = "called without running, or ran twice")
@State
public class InterruptedCallMeetsGrant {

    private final Rig rig = new Rig(rules -> rules);
    private final AtomicInteger ran = new AtomicInteger();

    public InterruptedCallMeetsGrant() {
        rig.submit("a");
    }

    @Actor
    public void call(LLL_Result result) {
        Thread.currentThread().interrupt();
        try {
            rig.executor.call("a", ran::incrementAndGet);
            result.r2 = "called";
        } catch (InterruptedException interrupt) {
            result.r2 = "interrupted";
        } catch (Exception failure) {
            result.r2 = failure;
        } finally {
            Thread.interrupted();
        }
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = ran.get();
        result.r3 = rig.aftermath("a");
    }
}
