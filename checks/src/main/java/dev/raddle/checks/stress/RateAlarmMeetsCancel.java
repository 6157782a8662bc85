package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import dev.raddle.task.Rate;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** The first task that waits for a rate is cancelled while the alarm fires: what it did not use, the next one uses. */
@JCStressTest
@Outcome(id = "CANCELLED, SUCCESS, free", expect = ACCEPTABLE, desc = "the next one started now or in its turn")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "no alarm is armed for the next task")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class RateAlarmMeetsCancel {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules ->
            rules.timeSource(time).defaultRatePerGroup(Rate.of(1, SECOND)).defaultMaxConcurrencyPerGroup(9));
    private final TaskHandle<String> first;
    private final TaskHandle<String> next;

    public RateAlarmMeetsCancel() {
        rig.submit("a");
        first = rig.submit("a");
        next = rig.submit("a");
    }

    @Actor
    public void fire() {
        time.advance(SECOND);
    }

    @Actor
    public void cancel() {
        first.cancel(true);
    }

    @Arbiter
    public void check(LLL_Result result) {
        time.advance(SECOND);
        rig.runAll();
        result.r1 = Rig.end(first);
        result.r2 = Rig.end(next);
        time.advance(SECOND);
        result.r3 = rig.aftermath("a");
    }
}
