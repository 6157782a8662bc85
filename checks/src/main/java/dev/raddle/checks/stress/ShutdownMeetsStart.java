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

/** The executor is shut down while a task begins, runs and ends and the next one is granted. */
@JCStressTest
@Outcome(id = "1, SUCCESS, false, free", expect = ACCEPTABLE, desc = "it had begun, and ended normally")
@Outcome(id = "0, (REJECTED|CANCELLED), false, free", expect = ACCEPTABLE, desc = "it had not begun")
@Outcome(id = "2, .*", expect = FORBIDDEN, desc = "the waiting task started after the shutdown had returned")
@Outcome(id = ".*, true, .*", expect = FORBIDDEN, desc = "the interrupt leaked out of the task")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "the handle never ends")
@Outcome(expect = FORBIDDEN, desc = "rejected and run, or a permit was lost")
@State
public class ShutdownMeetsStart {

    private final Rig rig = new Rig(rules -> rules);
    private final AtomicInteger ran = new AtomicInteger();
    private final TaskHandle<Integer> handle;

    public ShutdownMeetsStart() {
        handle = rig.executor.submit("a", "task", ran::incrementAndGet);
        rig.executor.submit("a", "waiter", () -> ran.addAndGet(2));
    }

    @Actor
    public void run(LLLL_Result result) {
        rig.runNext("a");
        result.r3 = Thread.interrupted();
    }

    @Actor
    public void shutDown() {
        rig.executor.shutdown();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        rig.runAll();
        result.r1 = ran.get();
        result.r2 = Rig.end(handle);
        result.r4 = rig.rest();
    }
}
