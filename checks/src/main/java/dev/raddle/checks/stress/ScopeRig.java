package dev.raddle.checks.stress;

import dev.raddle.scope.ScopeMetrics;
import dev.raddle.scope.ThreadScope;
import dev.raddle.task.Task;
import dev.raddle.testing.StepScheduler;
import dev.raddle.testing.VirtualTime;
import java.time.Duration;

/** A scope whose tasks run, and whose time passes, when an actor says so. */
final class ScopeRig {

    private static final Duration LONG = Duration.ofSeconds(10);

    final VirtualTime time = new VirtualTime();
    final StepScheduler steps = new StepScheduler();
    final ThreadScope scope = ThreadScope.open().withTimeSource(time).withScheduler(steps);

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
