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
import org.openjdk.jcstress.infra.results.LLLLL_Result;

/** Two tasks are the first of their key: its limit is looked up once, and holds for both. */
@JCStressTest
@Outcome(id = "1, 1, SUCCESS, SUCCESS, free", expect = ACCEPTABLE, desc = "one runs, the other waits")
@Outcome(id = "2, .*", expect = FORBIDDEN, desc = "both were admitted under a limit of one")
@Outcome(id = "1, 2, .*", expect = FORBIDDEN, desc = "the resolver was called twice")
@Outcome(id = ".*never.*", expect = FORBIDDEN, desc = "a task was lost while the limit was looked up")
@Outcome(expect = FORBIDDEN, desc = "a permit was lost")
@State
public class SubmitMeetsSubmit {

    private final AtomicInteger lookups = new AtomicInteger();
    private final Rig rig = new Rig(rules -> rules.concurrencyResolver(this::limit));
    private TaskHandle<String> one;
    private TaskHandle<String> other;

    private int limit(String key) {
        lookups.incrementAndGet();
        return 1;
    }

    @Actor
    public void submit() {
        one = rig.submit("a");
    }

    @Actor
    public void submitToo() {
        other = rig.submit("a");
    }

    @Arbiter
    public void check(LLLLL_Result result) {
        result.r1 = rig.granted("a");
        rig.runAll();
        result.r2 = lookups.get();
        result.r3 = Rig.end(one);
        result.r4 = Rig.end(other);
        result.r5 = rig.aftermath("a");
    }
}
