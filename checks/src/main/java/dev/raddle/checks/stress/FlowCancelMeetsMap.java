package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.AbstractList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * A run is cancelled while one of its nodes reads the elements of a map, which takes some time: the run ends once, and
 * a node that had succeeded is undone once.
 */
@JCStressTest
@Outcome(id = "1, CANCELLED", expect = ACCEPTABLE, desc = "the cancel came in time")
@Outcome(id = "0, SUCCESS", expect = ACCEPTABLE, desc = "the run had ended before")
@Outcome(expect = FORBIDDEN, desc = "the run never ended, or was completed twice")
@State
public class FlowCancelMeetsMap {

    private final AtomicInteger undone = new AtomicInteger();
    private final FlowRig rig = new FlowRig(f -> {
        f.node("done", () -> 1).compensate(value -> undone.incrementAndGet());
        f.map("map", f.node("list", FlowCancelMeetsMap::slowList), element -> element);
    });

    private static List<Integer> slowList() {
        return new AbstractList<>() {
            @Override
            public Integer get(int index) {
                return index;
            }

            @Override
            public Iterator<Integer> iterator() {
                for (int each = 0; each < 100; each++) {
                    Thread.onSpinWait();
                }
                return super.iterator();
            }

            @Override
            public int size() {
                return 1;
            }
        };
    }

    public FlowCancelMeetsMap() {
        rig.steps.runNext(); // done, and perhaps more
    }

    @Actor
    public void opens() {
        rig.runNext();
    }

    @Actor
    public void cancels() {
        rig.run.cancel("enough");
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r2 = rig.end();
        rig.run.close();
        result.r1 = undone.get();
    }
}
