package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/**
 * The bug that {@link TimeoutMeetsEvict} looks for: the timeout reads the queue of the task, locks that queue, and
 * does not check again that the task is in it.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the timeout came before the task had entered the next queue")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the task left the next queue")
@Outcome(id = "-1, 1", expect = FORBIDDEN, desc = "the task was removed from a queue that it is not in")
@State
public class TimeoutMeetsEvictSeededBug {

    private static final class CountedQueue {
        int waiting; // guarded by this
    }

    private final CountedQueue removed = new CountedQueue();
    private final CountedQueue next = new CountedQueue();
    private volatile CountedQueue queueOfTask = removed;
    private boolean waits; // meant to be guarded by the task's queue

    @Actor
    public void enterNext() {
        queueOfTask = next;
        synchronized (next) {
            waits = true;
            next.waiting++;
        }
    }

    @Actor
    public void timeOut() {
        CountedQueue queue = queueOfTask;
        synchronized (queue) {
            if (waits) {
                waits = false;
                queue.waiting--;
            }
        }
    }

    @Arbiter
    public void check(II_Result result) {
        result.r1 = removed.waiting;
        result.r2 = next.waiting;
    }
}
