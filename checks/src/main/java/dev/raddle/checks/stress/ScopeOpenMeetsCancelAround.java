package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.ThreadScope;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.ZZ_Result;

/** The owner of a scope opens another inside it while the outer one is cancelled: the inner one is cancelled, too. */
@JCStressTest
@Outcome(
        id = "true, true",
        expect = ACCEPTABLE,
        desc = "the canceller saw the inner scope, or it saw the outer one cancelled")
@Outcome(expect = FORBIDDEN, desc = "neither saw the other")
@State
public class ScopeOpenMeetsCancelAround {

    private volatile ThreadScope outer;
    private volatile boolean cancelled;

    @Actor
    public void open(ZZ_Result result) {
        try (ThreadScope around = ThreadScope.open("outer")) {
            outer = around;
            try (ThreadScope inner = ThreadScope.open("inner")) {
                while (!cancelled) {
                    Thread.onSpinWait();
                }
                result.r1 = inner.token().isCancelled();
            }
        }
    }

    @Actor
    public void cancel() {
        ThreadScope around = outer;
        for (; around == null; around = outer) {
            Thread.onSpinWait();
        }
        around.cancel("enough");
        cancelled = true;
    }

    @Arbiter
    public void check(ZZ_Result result) {
        result.r2 = outer.token().isCancelled();
    }
}
