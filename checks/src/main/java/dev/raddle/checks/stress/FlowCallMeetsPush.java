package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.Node;
import dev.raddle.testing.StepScheduler;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.Z_Result;

/**
 * The only thread that a run may request from its scheduler finds no ready node and leaves, while another thread makes
 * a node ready and leaves: either the first thread finds the node, or the second requests a new thread.
 */
@JCStressTest
@Outcome(id = "true", expect = ACCEPTABLE, desc = "the node has run")
@Outcome(id = "false", expect = FORBIDDEN, desc = "the node is ready, and no thread was requested for it")
@State
public class FlowCallMeetsPush {

    private final StepScheduler oneThread = new StepScheduler(1);
    private final StepScheduler group = new StepScheduler();
    private final FlowRig rig = new FlowRig(
            f -> {
                f.node("x", () -> 1);
                f.node("y", () -> 2);
                Node<Integer> grouped = f.node("grouped", () -> 3).group("g");
                f.node("next", () -> 4).needs(Dependency.order(grouped));
            },
            options -> options.withScheduler(oneThread).withGroups(key -> group));

    public FlowCallMeetsPush() {
        oneThread.runNext(); // runs x and y; a second thread was requested when it took x
    }

    @Actor
    public void looksForWork() {
        oneThread.runNext();
    }

    @Actor
    public void makesReady() {
        group.runNext();
    }

    @Arbiter
    public void check(Z_Result result) {
        oneThread.runAll();
        result.r1 = rig.run.isDone();
        rig.run.close();
    }
}
