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

/** The alarm of a throttled group fires while its rate is changed: the next task starts once, and an alarm is armed. */
@JCStressTest
@Outcome(id = "2, SUCCESS, free", expect = ACCEPTABLE, desc = "one started, the last one in its turn")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "a lost alarm: it waits although the rate allows it")
@Outcome(id = "3, .*", expect = FORBIDDEN, desc = "two started in one interval")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "no alarm is armed for the last task")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class RateAlarmMeetsSetRate {

    private static final Duration SECOND = Duration.ofSeconds(1);
    private static final Rate SLOW = Rate.of(1, SECOND);
    private static final Rate SAME_SPEED = Rate.of(60, Duration.ofMinutes(1)).burst(1);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig =
            new Rig(rules -> rules.timeSource(time).defaultRatePerGroup(SLOW).defaultMaxConcurrencyPerGroup(9));
    private final TaskHandle<String> last;

    public RateAlarmMeetsSetRate() {
        rig.submit("a");
        rig.submit("a");
        last = rig.submit("a");
    }

    @Actor
    public void fire() {
        time.advance(SECOND);
    }

    @Actor
    public void change() {
        rig.executor.setRate("a", SAME_SPEED);
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r1 = rig.granted("a");
        time.advance(SECOND);
        rig.runAll();
        result.r2 = Rig.end(last);
        rig.executor.evictGroup("a");
        time.advance(SECOND);
        result.r3 = rig.aftermath("a");
    }
}
