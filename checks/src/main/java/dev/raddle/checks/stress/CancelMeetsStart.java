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

/** A granted task is cancelled, without an interrupt, while it begins: it runs, or it is cancelled, never both. */
@JCStressTest
@Outcome(id = "false, 1, SUCCESS, free", expect = ACCEPTABLE, desc = "it began first")
@Outcome(id = "true, 0, CANCELLED, free", expect = ACCEPTABLE, desc = "it was cancelled first")
@Outcome(id = "true, [12], .*", expect = FORBIDDEN, desc = "it ran although cancel had returned true")
@Outcome(id = "false, 0, .*", expect = FORBIDDEN, desc = "it neither ran nor was cancelled")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "ran twice, or a permit was lost")
@State
public class CancelMeetsStart {

    private final Rig rig = new Rig(rules -> rules);
    private final AtomicInteger ran = new AtomicInteger();
    private final TaskHandle<Integer> handle = rig.executor.submit("a", "task", ran::incrementAndGet);

    @Actor
    public void start() {
        rig.runNext("a");
    }

    @Actor
    public void cancel(LLLL_Result result) {
        result.r1 = handle.cancel(false);
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = ran.get();
        result.r3 = Rig.end(handle);
        result.r4 = rig.aftermath("a");
    }
}
