package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.I_Result;

/**
 * The bug that {@link PoolSubmitMeetsLastWorker} looks for: a pool uses the worker count from before the task was
 * queued.
 */
@JCStressTest
@Outcome(id = "0", expect = ACCEPTABLE, desc = "one of the two runs the task")
@Outcome(id = "1", expect = FORBIDDEN, desc = "it is in the queue without a worker")
@State
public class PoolSubmitMeetsLastWorkerSeededBug {

    private final Queue<String> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger workers = new AtomicInteger(1);

    @Actor
    public void leave() {
        workers.decrementAndGet();
        if (!queue.isEmpty()) {
            queue.poll();
        }
    }

    @Actor
    public void submit() {
        int seen = workers.get();
        queue.add("task");
        if (seen == 0) {
            queue.poll();
        }
    }

    @Arbiter
    public void check(I_Result result) {
        result.r1 = queue.size();
    }
}
