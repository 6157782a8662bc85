package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/** The bug that {@link SubmitMeetsEvict} looks for: a map of semaphores from which a busy one can be removed. */
@JCStressTest
@Outcome(id = "1", expect = ACCEPTABLE, desc = "one task runs")
@Outcome(id = "2", expect = FORBIDDEN, desc = "the eviction doubled the limit")
@State
public class SubmitMeetsEvictSeededBug {

    private final ConcurrentMap<String, Semaphore> groups = new ConcurrentHashMap<>();
    private final AtomicInteger running = new AtomicInteger();

    public SubmitMeetsEvictSeededBug() {
        submit();
    }

    @Actor
    public final void submit() {
        if (groups.computeIfAbsent("a", key -> new Semaphore(1)).tryAcquire()) {
            running.incrementAndGet();
        }
    }

    @Actor
    public void evict() {
        groups.remove("a");
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = running.get();
    }
}
