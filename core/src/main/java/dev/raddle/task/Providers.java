package dev.raddle.task;

import dev.raddle.time.UserCode;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/** The provider of schedulers, which is loaded when the first scheduler is created. */
final class Providers {

    private static final AtomicReference<@Nullable SchedulerProvider> SCHEDULERS = new AtomicReference<>();

    private Providers() {}

    static SchedulerProvider schedulers() {
        SchedulerProvider known = SCHEDULERS.get();
        if (known != null) {
            return known;
        }
        SchedulerProvider loaded = UserCode.services(
                        ServiceLoader.load(SchedulerProvider.class, SchedulerProvider.class.getClassLoader()),
                        (what, failure) -> UserCode.warn("dev.raddle", what, failure))
                .stream()
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no " + SchedulerProvider.class.getName()
                        + " was found; the module dev.raddle provides one:"
                        + " do not drop META-INF/services from its jar"));
        SCHEDULERS.set(loaded);
        return loaded;
    }
}
