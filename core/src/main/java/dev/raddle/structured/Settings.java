package dev.raddle.structured;

import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.structured.StructuredTaskScope.Configuration;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/**
 * The configuration of a scope.
 *
 * @param base the options to which the name and the thread factory are added
 * @param name the name, or null for that of the base
 * @param threadFactory the thread factory, or null for that of the base
 * @param timeout the timeout, or null
 */
record Settings(
        StructuredScopeOptions base,
        @Nullable String name,
        @Nullable ThreadFactory threadFactory,
        @Nullable Duration timeout)
        implements Configuration {

    private static final Settings DEFAULTS = new Settings(StructuredScopeOptions.defaults(), null, null, null);

    /** Returns the default configuration as a function of the user changes it. */
    static Settings changedBy(UnaryOperator<Configuration> configuration) {
        return (Settings) Objects.requireNonNull(configuration.apply(DEFAULTS), "configuration returned null");
    }

    StructuredScopeOptions options() {
        StructuredScopeOptions named = name == null ? base : base.withName(name);
        return threadFactory == null ? named : named.withThreadFactory(threadFactory);
    }

    @Override
    public Configuration withThreadFactory(ThreadFactory threadFactory) {
        return new Settings(base, name, Objects.requireNonNull(threadFactory, "threadFactory"), timeout);
    }

    @Override
    public Configuration withName(String name) {
        return new Settings(base, Objects.requireNonNull(name, "name"), threadFactory, timeout);
    }

    @Override
    public Configuration withTimeout(Duration timeout) {
        return new Settings(base, name, threadFactory, Objects.requireNonNull(timeout, "timeout"));
    }

    @Override
    public Configuration withOptions(StructuredScopeOptions options) {
        return new Settings(Objects.requireNonNull(options, "options"), null, null, timeout);
    }
}
