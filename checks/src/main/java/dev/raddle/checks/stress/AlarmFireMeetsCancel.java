package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.time.Alarm;
import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZI_Result;

/**
 * An alarm of the system time source fires while two threads cancel it: it fires or is cancelled, and both calls of
 * {@code cancel} return the same. The third actor is the delay scheduler's thread; no {@code StepScheduler} can play
 * it.
 */
@JCStressTest
@Outcome(id = "true, true, 0", expect = ACCEPTABLE, desc = "it was cancelled first")
@Outcome(id = "false, false, 1", expect = ACCEPTABLE, desc = "it fired first")
@Outcome(id = "true, true, 1", expect = FORBIDDEN, desc = "it fired although it was cancelled")
@Outcome(id = "false, false, 0", expect = FORBIDDEN, desc = "it is lost: neither cancelled nor fired")
@Outcome(
        id = "(true, false|false, true), .*",
        expect = FORBIDDEN,
        desc = "the two calls of cancel returned different values")
@Outcome(expect = FORBIDDEN, desc = "it fired twice")
@State
public class AlarmFireMeetsCancel {

    private static final Duration LONG_ENOUGH = Duration.ofSeconds(10);

    private final AtomicInteger fired = new AtomicInteger();
    private final Alarm alarm = TimeSource.system().after(Duration.ZERO, fired::incrementAndGet);

    @Actor
    public void one(ZZI_Result result) {
        result.r1 = alarm.cancel();
    }

    @Actor
    public void other(ZZI_Result result) {
        result.r2 = alarm.cancel();
    }

    @Arbiter
    public void check(ZZI_Result result) {
        Deadline late = Deadline.after(TimeSource.system(), LONG_ENOUGH);
        while (!result.r1 && fired.get() == 0 && !late.hasPassed()) {
            Thread.onSpinWait();
        }
        result.r3 = fired.get();
    }
}
