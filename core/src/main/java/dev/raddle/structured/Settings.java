package dev.raddle.structured;

import dev.raddle.scope.StructuredScopeOptions;
import dev.raddle.structured.StructuredTaskScope.Configuration;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.ThreadFactory;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;

/** The configuration of a scope. */
record Settings(StructuredScopeOptions options, @Nullable Duration timeout) implements Configuration {

    private static final Settings DEFAULTS = new Settings(StructuredScopeOptions.defaults(), null);

    /** Returns the default configuration as a function of the user changes it. */
    static Settings changedBy(UnaryOperator<Configuration> configuration) {
        return (Settings) Objects.requireNonNull(configuration.apply(DEFAULTS), "configuration returned null");
    }

    @Override
    public Configuration withThreadFactory(ThreadFactory threadFactory) {
        return new Settings(options.withThreadFactory(threadFactory), timeout);
    }

    @Override
    public Configuration withName(String name) {
        return new Settings(options.withName(Objects.requireNonNull(name, "name")), timeout);
    }

    @Override
    public Configuration withTimeout(Duration timeout) {
        return new Settings(options, Objects.requireNonNull(timeout, "timeout"));
    }

    @Override
    public Configuration withOptions(StructuredScopeOptions options) {
        return new Settings(Objects.requireNonNull(options, "options"), timeout);
    }
}
