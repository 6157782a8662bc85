package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.group.TaskHandle;
import dev.raddle.task.TaskSpec;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * A task's timeout expires while the task moves from a group that is removed, because its last other task has ended,
 * to the next one of its key.
 */
@JCStressTest
@Outcome(id = "SUCCESS, free", expect = ACCEPTABLE, desc = "its timeout had not started when the time advanced")
@Outcome(id = "FAILED, free", expect = ACCEPTABLE, desc = "it timed out, in no queue or in either")
@Outcome(expect = FORBIDDEN, desc = "a queue counts a task that is not in it")
@State
public class TimeoutMeetsIdleRemoval {

    private static final Duration TIMEOUT = Duration.ofMillis(3);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules -> rules.timeSource(time));
    private TaskHandle<String> handle;

    public TimeoutMeetsIdleRemoval() {
        rig.submit("a");
    }

    @Actor
    public void submit() {
        handle = rig.executor.submit("a", TaskSpec.named("task", () -> "done").timeout(TIMEOUT));
    }

    @Actor
    public void endAndTimeOut() {
        rig.runNext("a");
        time.advance(TIMEOUT);
    }

    @Arbiter
    public void check(LL_Result result) {
        rig.runAll();
        result.r1 = handle.join().status(); // another thread may complete it
        result.r2 = rig.aftermath("a");
    }
}
