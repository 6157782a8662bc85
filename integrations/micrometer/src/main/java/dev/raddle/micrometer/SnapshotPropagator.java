package dev.raddle.micrometer;

import dev.raddle.task.ContextPropagator;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.Objects;

/**
 * Carries every context that Micrometer's context-propagation library knows from the submitter into the task: thread-locals
 * for which a {@code ThreadLocalAccessor} is registered, such as the current observation.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .propagators(List.of(SnapshotPropagator.create()))
 *         .build();
 * }
 */
public final class SnapshotPropagator implements ContextPropagator {

    private final ContextSnapshotFactory factory;

    private SnapshotPropagator(ContextSnapshotFactory factory) {
        this.factory = factory;
    }

    /**
     * Returns a propagator for what the global {@code ContextRegistry} knows. A task sees the values that its submitter had,
     * and none of the thread that runs it.
     *
     * @return a new propagator
     */
    public static SnapshotPropagator create() {
        return of(ContextSnapshotFactory.builder().clearMissing(true).build());
    }

    /**
     * Returns a propagator for the snapshots of a factory.
     *
     * @param factory knows what to capture, and what becomes of values that the submitter did not have
     * @return a new propagator
     */
    public static SnapshotPropagator of(ContextSnapshotFactory factory) {
        return new SnapshotPropagator(Objects.requireNonNull(factory, "factory"));
    }

    @Override
    public Captured capture() {
        ContextSnapshot snapshot = factory.captureAll();
        return () -> {
            ContextSnapshot.Scope scope = snapshot.setThreadLocals();
            return scope::close;
        };
    }

    @Override
    public String toString() {
        return "propagator of " + factory;
    }
}
