package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.FlowBuilder;
import dev.raddle.flow.Node;
import dev.raddle.flow.RunOptions;
import java.util.concurrent.atomic.AtomicIntegerArray;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLL_Result;

/**
 * A run in its caller's thread, which counts without atomic updates, is cancelled: it ends, and every node ends once.
 */
@JCStressTest
@Outcome(
        id = "free, (SUCCESS|CANCELLED), 1 1 1 1",
        expect = ACCEPTABLE,
        desc = "every node has ended and is reported once")
@Outcome(id = "interrupted, .*", expect = FORBIDDEN, desc = "the interrupt stayed with the thread")
@Outcome(id = ".*, never, .*", expect = FORBIDDEN, desc = "a count was lost: the run never ends")
@Outcome(expect = FORBIDDEN, desc = "a node was reported twice, or never")
@State
public class FlowCancelMeetsCallersThread {

    private final AtomicIntegerArray reported = new AtomicIntegerArray(4);
    private final FlowRig rig = new FlowRig(this::declare, RunOptions::inCallersThread);

    private void declare(FlowBuilder<Void> f) {
        Node<String> a = node(f, 0);
        Node<String> b = node(f, 1);
        Node<String> any = node(f, 2, Dependency.anyOf(a, b));
        node(f, 3, any, b);
    }

    private Node<String> node(FlowBuilder<Void> f, int number, Dependency<?>... needs) {
        return f.node("n" + number, () -> "done").needs(needs).onResult(report -> reported.incrementAndGet(number));
    }

    @Actor
    public void run(LLL_Result result) {
        rig.join();
        result.r1 = Thread.interrupted() ? "interrupted" : "free";
    }

    @Actor
    public void cancel() {
        rig.run.cancel("enough");
    }

    @Arbiter
    public void check(LLL_Result result) {
        result.r2 = rig.end();
        result.r3 = reported.get(0) + " " + reported.get(1) + " " + reported.get(2) + " " + reported.get(3);
    }
}
