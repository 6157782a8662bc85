package dev.raddle.checks.stress;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;
import static org.openjdk.jcstress.annotations.Expect.FORBIDDEN;

import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Semaphore;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.LL_Result;

/**
 * The bug that {@link QueueTimeoutMeetsGrant} looks for: a limiter grants a free permit to the first waiter in the
 * queue without checking whether it still waits.
 */
@JCStressTest
@Outcome(id = "granted, free", expect = ACCEPTABLE, desc = "it was granted first")
@Outcome(id = "timed out, free", expect = ACCEPTABLE, desc = "it timed out first")
@Outcome(id = ".*, held", expect = FORBIDDEN, desc = "the permit was lost to a waiter that had timed out")
@State
@SuppressWarnings({"CollectionUndefinedEquality", "FutureReturnValueIgnored"}) // the modelled limiter does so
public class QueueTimeoutMeetsGrantSeededBug {

    private static final class ForgetfulLimiter {
        private final Semaphore permits = new Semaphore(1);
        private final Queue<CompletableFuture<String>> waiting = new ConcurrentLinkedQueue<>();

        CompletableFuture<String> enter() {
            CompletableFuture<String> turn = new CompletableFuture<>();
            if (permits.tryAcquire()) {
                turn.complete("granted");
            } else {
                waiting.add(turn);
            }
            return turn;
        }

        void timeOut(CompletableFuture<String> turn) {
            if (turn.complete("timed out")) {
                waiting.remove(turn);
            }
        }

        void leave() {
            CompletableFuture<String> first = waiting.poll();
            if (first != null) {
                first.complete("granted"); // and the permit is lost if it no longer waits
            } else {
                permits.release();
            }
        }

        boolean isFree() {
            return permits.availablePermits() == 1;
        }
    }

    private final ForgetfulLimiter limiter = new ForgetfulLimiter();
    private final CompletableFuture<String> waiter;

    public QueueTimeoutMeetsGrantSeededBug() {
        limiter.enter();
        waiter = limiter.enter();
    }

    @Actor
    public void timeOut() {
        limiter.timeOut(waiter);
    }

    @Actor
    public void release() {
        limiter.leave();
    }

    @Arbiter
    public void check(LL_Result result) {
        result.r1 = waiter.join();
        if (waiter.join().equals("granted")) {
            limiter.leave();
        }
        result.r2 = limiter.isFree() ? "free" : "held";
    }
}
