package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.ThreadScope;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** A thread defers an action while the owner closes the scope: the action runs once, or is refused. */
@JCStressTest
@Outcome(id = "deferred, 1", expect = ACCEPTABLE, desc = "close has run the action")
@Outcome(id = "too late, 0", expect = ACCEPTABLE, desc = "the scope was closed")
@Outcome(expect = FORBIDDEN, desc = "the action is lost, or it ran twice or although it was refused")
@State
public class ScopeDeferMeetsClose {

    private final AtomicInteger ran = new AtomicInteger();
    private volatile ThreadScope shared;

    @Actor
    public void close() {
        try (ThreadScope scope = ThreadScope.open("s")) {
            shared = scope;
        }
    }

    @Actor
    public void defer(LL_Result result) {
        ThreadScope scope = shared;
        for (; scope == null; scope = shared) {
            Thread.onSpinWait();
        }
        try {
            scope.defer(ran::incrementAndGet);
            result.r1 = "deferred";
        } catch (IllegalStateException late) {
            result.r1 = "too late";
        }
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r2 = ran.get();
    }
}
