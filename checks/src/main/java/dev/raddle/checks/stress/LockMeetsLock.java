package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.kernel.Bounds;
import dev.raddle.kernel.FairCap;
import dev.raddle.kernel.Gate;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;

/**
 * Two threads enter the locked section of one gate: one after the other, and the second sees the writes of the first.
 */
@JCStressTest
@Outcome(
        id = {"1, 2, 2", "2, 1, 2"},
        expect = ACCEPTABLE,
        desc = "one after the other")
@Outcome(expect = FORBIDDEN, desc = "both at once, or without the other's writes")
@State
public class LockMeetsLock {

    private final Counter counter = new Counter();

    private record Limits(int concurrency, int maxInFlight, int maxWaiting, int weight) implements Bounds {}

    private static final class Counter extends Gate {
        private int sections; // guarded by the gate's lock

        Counter() {
            super(new Limits(1, 1, 0, 1), new FairCap(FairCap.UNLIMITED, FairCap.UNLIMITED));
        }

        int enter() {
            lock();
            try {
                return ++sections;
            } finally {
                unlock();
            }
        }
    }

    @Actor
    public void first(III_Result result) {
        result.r1 = counter.enter();
    }

    @Actor
    public void second(III_Result result) {
        result.r2 = counter.enter();
    }

    @Arbiter
    public void check(III_Result result) {
        result.r3 = counter.enter() - 1;
    }
}
