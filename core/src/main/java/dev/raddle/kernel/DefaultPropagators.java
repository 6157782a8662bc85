package dev.raddle.kernel;

import dev.raddle.task.ContextPropagator;
import dev.raddle.time.UserCode;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.ServiceLoader;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * The propagators of flows and scopes that are services. They are loaded by the first thread that captures a context,
 * not in a static initialiser: those are user code, which may throw, wait for other threads, or use Raddle itself.
 */
final class DefaultPropagators {

    private static final AtomicReference<@Nullable List<ContextPropagator>> LOADED = new AtomicReference<>();
    private static final ScopedValue<Boolean> LOADING = ScopedValue.newInstance();

    private DefaultPropagators() {}

    /** Returns the propagators, in the order of the class path; none while the calling thread loads them. */
    static List<ContextPropagator> list() {
        List<ContextPropagator> loaded = LOADED.get();
        return loaded != null ? loaded : LOADING.isBound() ? List.of() : load();
    }

    private static List<ContextPropagator> load() {
        Loading loading = new Loading();
        List<ContextPropagator> mine = ScopedValue.where(LOADING, true).call(loading);
        if (LOADED.compareAndSet(null, mine)) { // otherwise another thread has loaded them, and reports
            for (Runnable warning : loading.warnings) {
                warning.run();
            }
        }
        return Objects.requireNonNull(LOADED.get());
    }

    /** Loads the propagators, and collects warnings of those that are left out. */
    private static final class Loading
            implements ScopedValue.CallableOp<List<ContextPropagator>, RuntimeException>,
                    BiConsumer<String, Throwable> {
        final List<Runnable> warnings = new ArrayList<>(0);

        @Override
        public List<ContextPropagator> call() {
            ClassLoader loader = ContextPropagator.class.getClassLoader();
            return UserCode.services(ServiceLoader.load(ContextPropagator.class, loader), this);
        }

        @Override
        public void accept(String what, Throwable failure) {
            warnings.add(() -> UserCode.warn("dev.raddle", what, failure));
        }
    }
}
