package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The bug that {@link ScopeTokenMeetsCancel} looks for: the thread that creates the token checks whether the scope is
 * cancelled before it publishes the token.
 */
@JCStressTest
@Outcome(
        id = "1",
        expect = ACCEPTABLE,
        desc = "the canceller saw the token, or the thread that created it saw the scope cancelled")
@Outcome(expect = FORBIDDEN, desc = "neither saw the other, or the action ran twice")
@State
public class ScopeTokenMeetsCancelSeededBug {

    private final AtomicInteger ran = new AtomicInteger();
    private volatile boolean cancelled;
    private volatile Runnable action;

    @Actor
    public void register() {
        if (cancelled) {
            ran.incrementAndGet();
            return;
        }
        action = ran::incrementAndGet;
    }

    @Actor
    public void cancel() {
        cancelled = true;
        Runnable registered = action;
        if (registered != null) {
            registered.run();
        }
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = ran.get();
    }
}
