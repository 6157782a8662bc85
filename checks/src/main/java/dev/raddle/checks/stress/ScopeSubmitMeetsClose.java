package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLLL_Result;

/**
 * A thread submits a task while the owner closes the scope: close returns, and afterwards nothing of the scope runs.
 */
@JCStressTest
@Outcome(id = "closed, (0|1), (SUCCESS|CANCELLED), true", expect = ACCEPTABLE, desc = "it ran, or was cancelled")
@Outcome(id = "closed, 0, too late, true", expect = ACCEPTABLE, desc = "the scope was closed")
@Outcome(expect = FORBIDDEN, desc = "it ran after close had returned, or is counted wrongly")
@State
public class ScopeSubmitMeetsClose {

    private final AtomicInteger ran = new AtomicInteger();
    private volatile ThreadScope shared;
    private volatile boolean closed;
    private volatile boolean ranLate;

    @Actor
    public void close(LLLL_Result result) {
        try (ThreadScope scope = ThreadScope.open().withScheduler(Runnable::run)) {
            shared = scope;
        }
        closed = true;
        result.r1 = "closed";
    }

    @Actor
    public void submit(LLLL_Result result) {
        ThreadScope scope = shared;
        for (; scope == null; scope = shared) {
            Thread.onSpinWait();
        }
        try {
            Task<Integer> task = scope.submit(() -> {
                ranLate = closed;
                return ran.incrementAndGet();
            });
            result.r3 = task.state().toString();
        } catch (IllegalStateException late) {
            result.r3 = "too late";
        }
    }

    @Arbiter
    public void check(LLLL_Result result) {
        result.r2 = ran.get();
        result.r4 = !ranLate && shared.metrics().running() == 0;
    }
}
