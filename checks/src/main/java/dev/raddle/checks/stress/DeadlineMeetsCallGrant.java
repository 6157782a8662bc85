package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.CancelledException;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** The time of a scope ends at the moment at which a call inside it gets its turn. */
@JCStressTest
@Outcome(id = "called in scope, free", expect = ACCEPTABLE, desc = "its turn came first")
@Outcome(id = "out of time, free", expect = ACCEPTABLE, desc = "the deadline came first")
@Outcome(id = ".*, .*held.*", expect = FORBIDDEN, desc = "the permit was lost between the grant and the deadline")
@Outcome(expect = FORBIDDEN, desc = "the call never returned, or was lost in the queue")
@State
public class DeadlineMeetsCallGrant {

    private static final Duration LIMIT = Duration.ofMillis(3);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules -> rules.timeSource(time));

    public DeadlineMeetsCallGrant() {
        rig.submit("a");
    }

    @Actor
    public void call(LL_Result result) {
        try (ThreadScope scope = ThreadScope.open("scope").withTimeSource(time).withDeadline(LIMIT)) {
            result.r1 = rig.executor.call("a", () -> "called in " + scope.name());
        } catch (CancelledException cancelled) {
            result.r1 = "out of time";
        } catch (Exception failure) {
            result.r1 = failure;
        }
    }

    @Actor
    public void expire() {
        time.advance(LIMIT);
    }

    @Actor
    public void release() {
        rig.runNext("a");
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r2 = rig.aftermath("a");
    }
}
