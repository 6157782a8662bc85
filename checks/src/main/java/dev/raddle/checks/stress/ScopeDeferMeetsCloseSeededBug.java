package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The bug that {@link ScopeDeferMeetsClose} looks for: the owner takes the actions and records in a second step that no
 * more are accepted.
 */
@JCStressTest
@Outcome(id = "deferred, 1", expect = ACCEPTABLE, desc = "close has run the action")
@Outcome(id = "too late, 0", expect = ACCEPTABLE, desc = "the scope was closed")
@Outcome(expect = FORBIDDEN, desc = "the action is lost, or it ran twice or although it was refused")
@State
public class ScopeDeferMeetsCloseSeededBug {

    private final AtomicInteger ran = new AtomicInteger();
    private final AtomicReference<Runnable> deferred = new AtomicReference<>();
    private volatile boolean closed;

    @Actor
    public void close() {
        Runnable taken = deferred.getAndSet(null);
        closed = true;
        if (taken != null) {
            taken.run();
        }
    }

    @Actor
    public void defer(LL_Result result) {
        if (closed) {
            result.r1 = "too late";
        } else {
            deferred.set(ran::incrementAndGet);
            result.r1 = "deferred";
        }
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r2 = ran.get();
    }
}
