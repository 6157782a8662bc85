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
import org.openjdk.jcstress.infra.results.LL_Result;

/** A throttled group is evicted while its alarm fires: the waiting task is rejected or cancelled, and ends once. */
@JCStressTest
@Outcome(id = "REJECTED, free", expect = ACCEPTABLE, desc = "evicted while it waited")
@Outcome(id = "CANCELLED, free", expect = ACCEPTABLE, desc = "started by the alarm, and then evicted")
@Outcome(id = "SUCCESS, free", expect = ACCEPTABLE, desc = "started by the alarm after the eviction had begun")
@Outcome(id = "never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost, or a later task does not start")
@State
public class RateAlarmMeetsEvict {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules ->
            rules.timeSource(time).defaultRatePerGroup(Rate.of(1, SECOND)).defaultMaxConcurrencyPerGroup(9));
    private final TaskHandle<String> waiter;

    public RateAlarmMeetsEvict() {
        rig.submit("a");
        waiter = rig.submit("a");
    }

    @Actor
    public void fire() {
        time.advance(SECOND);
    }

    @Actor
    public void evict() {
        rig.executor.evictGroup("a");
    }

    @Arbiter
    public void check(LL_Result result) {
        rig.runAll();
        result.r1 = Rig.end(waiter);
        time.advance(SECOND);
        result.r2 = rig.aftermath("a");
    }
}
