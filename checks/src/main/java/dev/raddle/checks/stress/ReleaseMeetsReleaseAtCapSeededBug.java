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
 * The bug that {@link ReleaseMeetsReleaseAtCap} looks for: one thread at a time grants the permits of a cap, and does
 * not check again whether another thread has released a permit in the meantime.
 */
@JCStressTest
@Outcome(id = "2", expect = ACCEPTABLE, desc = "each permit was passed on")
@Outcome(id = "[01]", expect = FORBIDDEN, desc = "a lost wakeup: each thread relied on the other")
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
            serving.set(false); // a thread that released before this has not granted its permit
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
