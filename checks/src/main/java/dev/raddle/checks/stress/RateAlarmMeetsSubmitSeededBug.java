package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The bug that {@link SubmitMeetsRateAlarm} looks for: a limiter whose alarm looks at the queue before it records that
 * it is no longer armed, so that a task which comes in between arms none.
 */
@JCStressTest
@Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the task waits for an alarm of its own")
@Outcome(id = "1, 0", expect = FORBIDDEN, desc = "a lost alarm: the task waits for ever")
@State
public class RateAlarmMeetsSubmitSeededBug {

    private static final class HastyLimiter {
        private final AtomicInteger waiting = new AtomicInteger(1);
        private final AtomicBoolean armed = new AtomicBoolean(true);

        void submit() {
            waiting.incrementAndGet();
            armed.compareAndSet(false, true);
        }

        void fire() {
            waiting.decrementAndGet(); // starts the first
            boolean again = waiting.get() > 0;
            armed.set(again);
        }
    }

    private final HastyLimiter limiter = new HastyLimiter();

    @Actor
    public void fire() {
        limiter.fire();
    }

    @Actor
    public void submit() {
        limiter.submit();
    }

    @Arbiter
    public void check(II_Result result) {
        result.r1 = limiter.waiting.get();
        result.r2 = limiter.armed.get() ? 1 : 0;
    }
}
