package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import dev.raddle.pool.ThreadPool;
import java.util.concurrent.BlockingQueue;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/** Two tasks pass through a queue of capacity one: neither side misses a signal of the other. A hang is a failure. */
@JCStressTest
@Outcome(id = "first, second", expect = ACCEPTABLE, desc = "both passed, in order")
@Outcome(expect = FORBIDDEN, desc = "one was lost, or they came out of order")
@State
public class QueuePutMeetsTake {

    private record Task(String name) implements Runnable {
        @Override
        public void run() {}
    }

    private final BlockingQueue<Runnable> queue =
            ThreadPool.builder("queue").queueCapacity(1).build().getQueue();

    @Actor
    public void put() {
        try {
            queue.put(new Task("first"));
            queue.put(new Task("second"));
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }

    @Actor
    public void take(LL_Result result) {
        try {
            result.r1 = ((Task) queue.take()).name();
            result.r2 = ((Task) queue.take()).name();
        } catch (InterruptedException unexpected) {
            throw new AssertionError(unexpected);
        }
    }
}
