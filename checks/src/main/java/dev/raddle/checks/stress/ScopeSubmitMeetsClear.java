package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.Task;
import java.util.List;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * A task is submitted while a wait for others ends, which removes the list of the ended tasks: the new one stays in the
 * list, so that a cancel of the scope finds it.
 */
@JCStressTest
@Outcome(id = "3, 2, CANCELLED", expect = ACCEPTABLE, desc = "it is listed")
@Outcome(expect = FORBIDDEN, desc = "it was lost, or an ended task was counted twice")
@State
public class ScopeSubmitMeetsClear {

    private final ScopeRig rig = new ScopeRig();
    private final List<Task<String>> ended;
    private volatile Task<String> task;

    public ScopeSubmitMeetsClear() {
        ended = List.of(rig.scope.submit(() -> ""), rig.scope.submit(() -> ""));
        rig.steps.runAll();
    }

    @Actor
    public void submit() {
        task = rig.scope.submit(() -> "");
    }

    @Actor
    public void await() {
        try {
            rig.scope.await(ended);
        } catch (InterruptedException unexpected) {
            throw new IllegalStateException(unexpected);
        }
    }

    @Arbiter
    public void check(LLL_Result result) {
        rig.scope.cancel("to find the task");
        result.r1 = rig.scope.metrics().submitted();
        result.r2 = rig.scope.metrics().succeeded();
        result.r3 = task.state();
    }
}
