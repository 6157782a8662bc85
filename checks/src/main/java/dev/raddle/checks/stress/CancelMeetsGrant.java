package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** A waiting task is cancelled while a permit becomes free for it: no other task loses a permit. */
@JCStressTest
@Outcome(id = "true, 0, CANCELLED, free", expect = ACCEPTABLE, desc = "cancelled, before or after it was granted")
@Outcome(id = "true, 1, .*", expect = FORBIDDEN, desc = "it ran although cancel had returned true")
@Outcome(id = "false, .*", expect = FORBIDDEN, desc = "cancel returned false although the task had not begun")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "the permit was lost to a task that had left the queue")
@State
public class CancelMeetsGrant {

    private final Rig rig = new Rig(rules -> rules);
    private final AtomicInteger ran = new AtomicInteger();
    private final TaskHandle<Integer> waiter;

    public CancelMeetsGrant() {
        rig.submit("a");
        waiter = rig.executor.submit("a", "waiter", ran::incrementAndGet);
        rig.submit("a"); // waits behind it
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Actor
    public void cancel(LLLL_Result result) {
        result.r1 = waiter.cancel(false);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        String aftermath = rig.aftermath("a");
        result.r2 = ran.get();
        result.r3 = Rig.end(waiter);
        result.r4 = aftermath;
    }
}
