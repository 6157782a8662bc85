package dev.raddle.kernel;

import dev.raddle.task.ContextPropagator;
import java.util.List;
import java.util.ServiceLoader;

/** Holds the propagators of flows and scopes whose options name none: those that are services. */
public final class DefaultPropagators {

    /** The propagators, in the order of the class path. */
    public static final List<ContextPropagator> LIST =
            ServiceLoader.load(ContextPropagator.class, ContextPropagator.class.getClassLoader()).stream()
                    .map(ServiceLoader.Provider::get)
                    .toList();

    private DefaultPropagators() {}
}
