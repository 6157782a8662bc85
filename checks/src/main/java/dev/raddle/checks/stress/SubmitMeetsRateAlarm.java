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

/**
 * A task is submitted to a throttled group while its alarm starts the last waiting one: it starts an interval later.
 */
@JCStressTest
@Outcome(id = "2, SUCCESS, free", expect = ACCEPTABLE, desc = "the waiting one starts, then the submitted one")
@Outcome(id = "3, .*", expect = FORBIDDEN, desc = "two started in one interval")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "no alarm is armed for the submitted task")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class SubmitMeetsRateAlarm {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules ->
            rules.timeSource(time).defaultRatePerGroup(Rate.of(1, SECOND)).defaultMaxConcurrencyPerGroup(9));
    private TaskHandle<String> handle;

    public SubmitMeetsRateAlarm() {
        rig.submit("a");
        rig.submit("a");
    }

    @Actor
    public void fire() {
        time.advance(SECOND);
    }

    @Actor
    public void submit() {
        handle = rig.submit("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("a");
        time.advance(SECOND);
        rig.runAll();
        result.r2 = Rig.end(handle);
        time.advance(SECOND);
        result.r3 = rig.aftermath("a");
    }
}
