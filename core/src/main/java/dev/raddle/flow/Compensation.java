package dev.raddle.flow;

import dev.raddle.flow.threads.PlacedRun;
import dev.raddle.task.RetryPolicy;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How the effects of a node are undone.
 *
 * @param undo a function of the context of the node and of its value
 * @param timeout the limit of all attempts together, or null
 */
record Compensation(
        CheckedFunction.V2<NodeContext<?>, Object> undo,
        RetryPolicy retry,
        @Nullable Duration timeout) {

    /** Calls the function once, in the context of the starter. */
    @SuppressWarnings("NullAway") // null is a value
    void call(PlacedRun run, NodeContext<?> context, @Nullable Object value) throws Exception {
        run.callInStarterContext(() -> {
            undo.accept(context, value);
            return context;
        });
    }
}
