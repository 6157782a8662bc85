package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/** The queue timeout of a waiting task expires while a permit becomes free for it. */
@JCStressTest
@Outcome(id = "1, SUCCESS, free", expect = ACCEPTABLE, desc = "it was granted first")
@Outcome(id = "0, REJECTED, free", expect = ACCEPTABLE, desc = "it timed out first")
@Outcome(id = "1, REJECTED, .*", expect = FORBIDDEN, desc = "it ran although it had timed out")
@Outcome(id = ".*, [1-9] held.*", expect = FORBIDDEN, desc = "the permit was lost to a task that had left the queue")
@Outcome(expect = FORBIDDEN, desc = "ran twice, or was lost in the queue")
@State
public class QueueTimeoutMeetsGrant {

    private static final Duration QUEUE_TIMEOUT = Duration.ofSeconds(2);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules -> rules.timeSource(time).queueTimeout(QUEUE_TIMEOUT));
    private final AtomicInteger ran = new AtomicInteger();
    private final TaskHandle<Integer> waiter;

    public QueueTimeoutMeetsGrant() {
        rig.submit("a");
        waiter = rig.executor.submit("a", "waiter", ran::incrementAndGet);
    }

    @Actor
    public void timeOut() {
        time.advance(QUEUE_TIMEOUT);
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Arbiter
    public void check(LLL_Result result) {
        rig.runAll();
        result.r2 = waiter.join().status(); // another thread may reject it
        result.r1 = ran.get();
        result.r3 = rig.aftermath("a");
    }
}
