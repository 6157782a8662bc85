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
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * A thread is the first to use the token of a scope, and registers an action, while another cancels the scope: the
 * action runs once.
 */
@JCStressTest
@Outcome(
        id = "1",
        expect = ACCEPTABLE,
        desc = "the canceller saw the token, or the thread that created it saw the scope cancelled")
@Outcome(expect = FORBIDDEN, desc = "neither saw the other, or the action ran twice")
@State
public class ScopeTokenMeetsCancel {

    private final AtomicInteger ran = new AtomicInteger();
    private final ThreadScope scope = ScopeRig.open();

    @Actor
    public void register() {
        scope.token().whenCancelled(ran::incrementAndGet);
    }

    @Actor
    public void cancel() {
        scope.cancel("enough");
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = ran.get();
    }
}
