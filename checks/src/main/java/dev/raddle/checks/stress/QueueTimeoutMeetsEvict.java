package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** The queue timeout of a waiting task expires while its group is evicted: the task leaves the queue once. */
@JCStressTest
@Outcome(id = "REJECTED, free", expect = ACCEPTABLE, desc = "one of the two removed it")
@Outcome(id = "SUCCESS, .*", expect = FORBIDDEN, desc = "it ran although it had been removed")
@Outcome(expect = FORBIDDEN, desc = "it was removed twice")
@State
public class QueueTimeoutMeetsEvict {

    private static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(2);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules -> rules.timeSource(time).queueTimeout(QUEUE_TIMEOUT));
    private final TaskHandle<String> waiter;

    public QueueTimeoutMeetsEvict() {
        rig.submit("a");
        waiter = rig.submit("a");
    }

    @Actor
    public void timeOut() {
        time.advance(QUEUE_TIMEOUT);
    }

    @Actor
    public void evict() {
        rig.executor.evictGroup("a");
    }

    @Arbiter
    public void check(LL_Result result) {
        rig.runAll();
        result.r1 = waiter.join().status(); // another thread may complete it
        result.r2 = rig.aftermath("a");
    }
}
