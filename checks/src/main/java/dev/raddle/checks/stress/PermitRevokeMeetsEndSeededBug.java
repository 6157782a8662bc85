package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The bug that {@link PermitRevokeMeetsEnd} looks for: two counters of permits that are not changed in one step. */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "the permit is revoked")
@Outcome(id = "1", expect = FORBIDDEN, desc = "the permit was revoked, and is free for the next task")
@State
public class PermitRevokeMeetsEndSeededBug {

    private final AtomicInteger free = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();

    @Actor
    public void end() {
        if (lost.get() == 0) {
            free.incrementAndGet();
        } else {
            lost.decrementAndGet();
        }
    }

    @Actor
    public void revoke() {
        if (free.get() > 0) {
            free.decrementAndGet();
        } else {
            lost.incrementAndGet();
        }
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = free.get();
    }
}
