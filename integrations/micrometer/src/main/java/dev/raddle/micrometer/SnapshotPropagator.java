package dev.raddle.micrometer;

import dev.raddle.task.ContextPropagator;
import io.micrometer.context.ContextSnapshot;
import io.micrometer.context.ContextSnapshotFactory;
import java.util.Objects;

/**
 * Propagates every context that is registered with Micrometer's context-propagation library from the submitter to the
 * task: thread-locals for which a {@code ThreadLocalAccessor} is registered, such as the current observation.
 *
 * {@snippet :
 * GroupPolicy policy = GroupPolicy.builder()
 *         .addPropagator(SnapshotPropagator.create())
 *         .build();
 * }
 */
public final class SnapshotPropagator implements ContextPropagator {

    private final ContextSnapshotFactory factory;

    private SnapshotPropagator(ContextSnapshotFactory factory) {
        this.factory = factory;
    }

    /**
     * Returns a propagator for the contexts of the global {@code ContextRegistry}. A task sees the values of its
     * submitter, and none of the thread that runs it.
     *
     * @return a new propagator
     */
    public static SnapshotPropagator create() {
        return of(ContextSnapshotFactory.builder().clearMissing(true).build());
    }

    /**
     * Returns a propagator for the snapshots of a factory.
     *
     * @param factory the factory, which determines what is captured, and how values are treated that the submitter did
     *     not have
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
