package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * What {@link ReleaseMeetsReleaseAtCap} looks for, in a cap that one thread at a time serves, and that does not look again
 * whether another has freed a slot meanwhile.
 */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "each slot was handed on")
@Outcome(id = "[01]", expect = FORBIDDEN, desc = "a lost wakeup: each thread left the work to the other")
@State
public class ReleaseMeetsReleaseAtCapSeededBug {

    private final AtomicInteger free = new AtomicInteger();
    private final AtomicInteger granted = new AtomicInteger();
    private final AtomicBoolean serving = new AtomicBoolean();

    private void leave() {
        free.incrementAndGet();
        if (serving.compareAndSet(false, true)) {
            while (free.get() > 0) {
                free.decrementAndGet();
                granted.incrementAndGet();
            }
            start();
            serving.set(false); // and who came in between has left
        }
    }

    private static void start() {
        for (int i = 0; i < 20; i++) {
            Thread.onSpinWait();
        }
    }

    @Actor
    public void release() {
        leave();
    }

    @Actor
    public void releaseToo() {
        leave();
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = granted.get();
    }
}
