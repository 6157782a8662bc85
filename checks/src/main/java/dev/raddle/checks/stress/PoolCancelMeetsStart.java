package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.task.TaskIdentity;
import dev.raddle.task.TaskListener;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LLZ_Result;

/** A future is cancelled while a worker starts, runs and ends it: its listener and its state agree, in order. */
@JCStressTest
@Outcome(id = "SUCCESS, started SUCCESS, true", expect = ACCEPTABLE, desc = "the worker was first")
@Outcome(id = "CANCELLED, CANCELLED, false", expect = ACCEPTABLE, desc = "cancelled in the queue")
@Outcome(id = "CANCELLED, started CANCELLED, false", expect = ACCEPTABLE, desc = "cancelled at the start")
@Outcome(id = "CANCELLED, started CANCELLED, true", expect = ACCEPTABLE, desc = "cancelled while it ran")
@Outcome(expect = FORBIDDEN, desc = "the listener was notified twice, in disorder, or of another outcome")
@State
public class PoolCancelMeetsStart {

    private final Queue<String> events = new ConcurrentLinkedQueue<>();
    private final AtomicInteger ran = new AtomicInteger();
    private final PoolRig rig = new PoolRig(pool -> pool.coreThreads(0)
            .maxThreads(1)
            .keepAlive(Duration.ZERO)
            .addListener(new TaskListener() {
                @Override
                public void onStarted(TaskIdentity task, long waitNanos) {
                    events.add("started");
                }

                @Override
                public void onSettled(TaskIdentity task, dev.raddle.task.Outcome<?> outcome, long runNanos) {
                    events.add(outcome.status().name());
                }
            }));
    private final Future<?> future = rig.pool.submit(ran::incrementAndGet);

    @Actor
    public void work() {
        rig.runNextThread();
    }

    @Actor
    public void cancel() {
        future.cancel(true);
    }

    @Arbiter
    public void check(LLZ_Result result) {
        rig.runAllThreads();
        result.r1 = future.state().name();
        result.r2 = String.join(" ", events);
        result.r3 = ran.get() == 1;
    }
}
