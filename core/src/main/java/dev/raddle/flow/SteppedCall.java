package dev.raddle.flow;

import dev.raddle.flow.threads.Withdrawable;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * In the slot of a node of a stepper it means that the driver is to call the action or the fallback of the node, or
 * that the node waits for its next attempt.
 */
final class SteppedCall implements Withdrawable {

    private final SteppedRun run;
    final int node;
    final int attempt; // the current or the next one
    final @Nullable String group;
    final List<Throwable> earlier; // the failures of earlier attempts
    final @Nullable Throwable failure; // for the fallback, if only that is to be called

    StepperTime.@Nullable Moment delayed; // the begin of the attempt, if it has not begun; by the driver's thread only

    SteppedCall(
            SteppedRun run,
            int node,
            int attempt,
            @Nullable String group,
            List<Throwable> earlier,
            @Nullable Throwable failure) {
        this.run = run;
        this.node = node;
        this.attempt = attempt;
        this.group = group;
        this.earlier = List.copyOf(earlier);
        this.failure = failure;
    }

    @Override
    public void withdraw() {
        run.withdraw(this);
    }
}
