package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * An alarm and a reader of statistics sweep the list of idle groups at once: every idle group is removed in the end.
 */
@JCStressTest
@Outcome(id = "2, free", expect = ACCEPTABLE, desc = "the group was removed: its limit is looked up again")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "no alarm is pending, the idle group stays for ever")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class StatsMeetIdleAlarm {

    private static final Duration HALF = Duration.ofMillis(50);

    private final AtomicInteger lookups = new AtomicInteger();
    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(
            rules -> rules.timeSource(time).idleGroupTtl(HALF.multipliedBy(2)).concurrencyResolver(this::limit));

    public StatsMeetIdleAlarm() {
        rig.submit("a");
        rig.runAll();
        time.advance(HALF);
        rig.submit("a");
        rig.runAll();
    }

    private int limit(String key) {
        lookups.incrementAndGet();
        return 1;
    }

    @Actor
    public void read() {
        rig.executor.stats();
    }

    @Actor
    public void expire() {
        time.advance(HALF);
    }

    @Arbiter
    public void check(LL_Result result) {
        time.advance(HALF.multipliedBy(100));
        rig.submit("a");
        result.r1 = lookups.get();
        result.r2 = rig.aftermath("a");
    }
}
