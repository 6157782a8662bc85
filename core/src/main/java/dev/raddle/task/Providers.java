package dev.raddle.task;

import java.util.ServiceLoader;

/** Holds the provider of schedulers, which is loaded when the first scheduler is created. */
final class Providers {

    static final SchedulerProvider SCHEDULERS = ServiceLoader.load(
                    SchedulerProvider.class, SchedulerProvider.class.getClassLoader())
            .findFirst()
            .orElseThrow(() -> new IllegalStateException("no " + SchedulerProvider.class.getName()
                    + " was found; the module dev.raddle provides one: do not drop META-INF/services from its jar"));

    private Providers() {}
}
