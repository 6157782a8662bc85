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
 * What {@link TimeoutMeetsEvict} looks for, in queues that take whatever waits for their own: the timeout reads where the
 * task is, locks that, and does not ask again.
 */
@JCStressTest
@Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the timeout came before the task had entered the next queue")
@Outcome(id = "0, 0", expect = ACCEPTABLE, desc = "the task left the next queue")
@Outcome(id = "-1, 1", expect = FORBIDDEN, desc = "the task was taken out of a queue that it is not in")
@State
public class TimeoutMeetsEvictSeededBug {

    private static final class CountedQueue {
        int waiting; // guarded by this
    }

    private final CountedQueue gone = new CountedQueue();
    private final CountedQueue next = new CountedQueue();
    private volatile CountedQueue queueOfTask = gone;
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
        result.r1 = gone.waiting;
        result.r2 = next.waiting;
    }
}
