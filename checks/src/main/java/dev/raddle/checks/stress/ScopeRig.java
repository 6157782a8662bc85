package dev.raddle.checks.stress;

import dev.raddle.scope.ScopeMetrics;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;

/** A scope whose tasks run, and whose time passes, when an actor says so. */
final class ScopeRig {

    private static final Duration LONG = Duration.ofSeconds(10);

    final VirtualTime time = new VirtualTime();
    final StepScheduler steps = new StepScheduler();
    final ThreadScope scope = open().withTimeSource(time).withScheduler(steps);

    /** Opens a scope in a thread that ends: nobody will close it, and its opener would remember it. */
    static ThreadScope open() {
        FutureTask<ThreadScope> opening = new FutureTask<>(ThreadScope::open);
        Thread.ofVirtual().start(opening);
        try {
            return opening.get();
        } catch (InterruptedException | ExecutionException impossible) {
            throw new IllegalStateException(impossible);
        }
    }

    /** Returns how a task ended, or "never". Its end may be told in a thread that an alarm has started. */
    String end(Task<?> task) {
        for (long giveUp = System.nanoTime() + LONG.toNanos(); !task.isDone(); ) {
            if (System.nanoTime() - giveUp > 0) {
                return "never";
            }
            Thread.onSpinWait();
        }
        return task.state().toString();
    }

    /** Runs what is left, and returns whether the scope's numbers then add up and nothing runs. */
    String account() {
        steps.runAll();
        for (long giveUp = System.nanoTime() + LONG.toNanos(); ; Thread.onSpinWait()) {
            ScopeMetrics now = scope.metrics();
            boolean adds = now.started() == now.succeeded() + now.failed() + now.cancelled()
                    && now.submitted() == now.started() + now.failedBeforeStart() + now.cancelledBeforeStart();
            if (adds) {
                return "adds up";
            }
            if (System.nanoTime() - giveUp > 0) {
                return now.toString();
            }
        }
    }
}
