package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.CancelledException;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** The deadline of a scope passes while a call that waits inside the scope is granted its permit. */
@JCStressTest
@Outcome(id = "called in scope, free", expect = ACCEPTABLE, desc = "the grant came first")
@Outcome(id = "out of time, free", expect = ACCEPTABLE, desc = "the deadline came first")
@Outcome(id = ".*, .*held.*", expect = FORBIDDEN, desc = "the permit was lost between the grant and the deadline")
@Outcome(expect = FORBIDDEN, desc = "the call never returned, or was lost in the queue")
@State
public class DeadlineMeetsCallGrant {

    private static final Duration LIMIT = Duration.ofMillis(3);

    private final VirtualTime time = new VirtualTime();
    private final Rig rig = new Rig(rules -> rules.timeSource(time));
    private final FutureTask<Object> call = new FutureTask<>(this::call);

    public DeadlineMeetsCallGrant() {
        rig.submit("a");
        Thread.ofVirtual().start(call);
        while (rig.executor.stats().totalQueuedCount() == 0) {
            Thread.onSpinWait();
        }
    }

    private Object call() {
        try (ThreadScope scope = ThreadScope.open("scope").withTimeSource(time).withDeadline(LIMIT)) {
            return rig.executor.call("a", () -> "called in " + scope.name());
        } catch (CancelledException cancelled) {
            return "out of time";
        } catch (Exception failure) {
            return failure;
        }
    }

    private Object returned() {
        try {
            return call.get();
        } catch (InterruptedException | ExecutionException failure) {
            return failure;
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
        rig.runAll();
        result.r1 = returned();
        result.r2 = rig.aftermath("a");
    }
}
