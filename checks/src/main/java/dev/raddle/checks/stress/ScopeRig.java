package dev.raddle.checks.stress;

import dev.raddle.scope.ScopeMetrics;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A scope whose tasks are run, and whose time is advanced, by the actors. */
final class ScopeRig {

    private static final Duration LONG = Duration.ofSeconds(10);

    final VirtualTime time = new VirtualTime();
    final StepScheduler steps = new StepScheduler();
    final ThreadScope scope = open().withTimeSource(time).withScheduler(steps);

    /** Opens a scope in a thread that ends, because no test closes it and its owner would keep a reference to it. */
    static ThreadScope open() {
        FutureTask<ThreadScope> opening = new FutureTask<>(ThreadScope::open);
        Thread.ofVirtual().start(opening);
        try {
            return opening.get();
        } catch (InterruptedException | ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Returns the state of a task that ended, or "never". A thread that an alarm started may complete it. */
    String end(Task<?> task) {
        for (long giveUp = System.nanoTime() + LONG.toNanos(); !task.isDone(); ) {
            if (System.nanoTime() - giveUp > 0) {
                return "never";
            }
            Thread.onSpinWait();
        }
        return task.state().toString();
    }

    /** Runs all remaining tasks; returns "adds up" once the scope's counts agree and nothing runs, or the counts. */
    String account() {
        steps.runAll();
        for (long giveUp = System.nanoTime() + LONG.toNanos(); ; Thread.onSpinWait()) {
            ScopeMetrics now = scope.metrics();
            boolean agree = now.started() == now.succeeded() + now.failed() + now.cancelled()
                    && now.submitted() == now.started() + now.failedBeforeStart() + now.cancelledBeforeStart();
            if (agree) {
                return "adds up";
            }
            if (System.nanoTime() - giveUp > 0) {
                return now.toString();
            }
        }
    }
}
