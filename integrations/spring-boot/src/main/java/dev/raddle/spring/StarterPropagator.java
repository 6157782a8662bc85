package dev.raddle.spring;

import dev.raddle.micrometer.SnapshotPropagator;
import dev.raddle.slf4j.MdcPropagator;
import dev.raddle.task.ContextPropagator;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.springframework.util.ClassUtils;

/**
 * The MDC and the contexts of Micrometer, each if its libraries are there. The core loads this class as a service and
 * uses it in flows and scopes whose options do not name propagators. Applications need not call it.
 */
public final class StarterPropagator implements ContextPropagator {

    private final List<ContextPropagator> present = new ArrayList<>();

    /** Creates a propagator. All propagators are equivalent, because they have no state. */
    public StarterPropagator() {
        if (isPresent("dev.raddle.slf4j.MdcPropagator") && isPresent("org.slf4j.MDC")) {
            present.add(new MdcPropagator());
        }
        if (isPresent("dev.raddle.micrometer.SnapshotPropagator")
                && isPresent("io.micrometer.context.ContextSnapshotFactory")) {
            present.add(
                    SnapshotPropagator
                            .create()); // after the MDC, so that the entries of the trace are those of the task
        }
    }

    private static boolean isPresent(String type) {
        return ClassUtils.isPresent(type, StarterPropagator.class.getClassLoader());
    }

    @Override
    public Captured capture() {
        List<Captured> captured =
                present.stream().map(ContextPropagator::capture).toList();
        return () -> {
            Deque<Installed> installed = new ArrayDeque<>();
            captured.forEach(context -> installed.push(context.install()));
            return () -> installed.forEach(Installed::close);
        };
    }
}
