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
import org.openjdk.jcstress.infra.results.LLL_Result;

/** A task is submitted while the executor is shut down: the task ends, and nothing starts afterwards. */
@JCStressTest
@Outcome(id = "0, too late, free", expect = ACCEPTABLE, desc = "submit was refused")
@Outcome(id = "0, REJECTED, free", expect = ACCEPTABLE, desc = "the task was accepted, and rejected by the shutdown")
@Outcome(id = "1, .*", expect = FORBIDDEN, desc = "it started after the shutdown had returned")
@Outcome(id = "0, never, .*", expect = FORBIDDEN, desc = "the shutdown overlooked it")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class ShutdownMeetsSubmit {

    private final Rig rig = new Rig(rules -> rules.defaultMaxConcurrencyPerGroup(2));
    private final AtomicInteger ran = new AtomicInteger();
    private TaskHandle<Integer> handle;

    public ShutdownMeetsSubmit() {
        rig.submit("a");
    }

    @Actor
    public void submit() {
        try {
            handle = rig.executor.submit("a", "task", ran::incrementAndGet);
        } catch (IllegalStateException tooLate) {
            handle = null;
        }
    }

    @Actor
    public void shutDown() {
        rig.executor.shutdown();
    }

    @Arbiter
    public void check(LLL_Result result) {
        rig.runAll();
        result.r1 = ran.get();
        result.r2 = handle == null ? "too late" : Rig.end(handle);
        result.r3 = rig.rest();
    }
}
