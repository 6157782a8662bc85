package dev.raddle.flow;

import dev.raddle.flow.threads.Withdrawable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One call by the driver of a stepper, or the wait for it: of an action or a fallback, in the slot of its node, or of a
 * compensation.
 */
final class SteppedCall implements Withdrawable {

    private final SteppedRun run;
    final int node;
    final int attempt; // the current or the next one
    final @Nullable String group;
    final List<Throwable> earlier; // the failures of earlier attempts
    final @Nullable Throwable failure; // for the fallback, if only that is to be called
    final boolean isUndo; // of a compensation

    StepperTime.@Nullable Moment delayed; // the begin of the attempt, if it has not begun; by the driver's thread only

    SteppedCall(
            SteppedRun run,
            int node,
            int attempt,
            @Nullable String group,
            List<Throwable> earlier,
            @Nullable Throwable failure,
            boolean isUndo) {
        this.run = run;
        this.node = node;
        this.attempt = attempt;
        this.group = group;
        this.earlier = List.copyOf(earlier);
        this.failure = failure;
        this.isUndo = isUndo;
    }

    SteppedCall next(List<Throwable> failures) {
        return new SteppedCall(run, node, attempt + 1, group, failures, null, isUndo);
    }

    @Override
    public boolean isWaiting() {
        return false;
    }

    @Override
    public void withdraw() {
        run.withdraw(this);
    }
}
