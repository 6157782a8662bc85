package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.flow.Dependency;
import dev.raddle.flow.Node;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/** Two upstreams of three joins end at once: each join runs once, and the join that requires both sees both values. */
@JCStressTest
@Outcome(id = "3, 1, 1, SUCCESS", expect = ACCEPTABLE, desc = "each join ran once")
@Outcome(expect = FORBIDDEN, desc = "a join ran twice, or never, or missed a value")
@State
public class FlowUpstreamMeetsUpstream {

    private final AtomicInteger all = new AtomicInteger();
    private final AtomicInteger any = new AtomicInteger();
    private final AtomicInteger ends = new AtomicInteger();

    private final FlowRig rig = new FlowRig(f -> {
        Node<Integer> one = f.node("one", () -> 1);
        Node<Integer> two = f.node("two", () -> 2);
        f.node("all", one, two, (x, y) -> all.addAndGet(x + y));
        f.node("any", Dependency.anyOf(one, two), x -> any.incrementAndGet());
        f.node("ends", Dependency.after(one), Dependency.after(two), (x, y) -> ends.incrementAndGet());
    });

    @Actor
    public void first() {
        rig.runNext();
    }

    @Actor
    public void second() {
        rig.runNext();
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r4 = rig.end();
        result.r1 = all.get();
        result.r2 = any.get();
        result.r3 = ends.get();
    }
}
