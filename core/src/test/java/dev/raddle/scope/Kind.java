package dev.raddle.scope;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.util.concurrent.ThreadFactory;

/** The container and the kind of threads of a scope under test. */
public enum Kind {
    JDK_VIRTUAL(true, Thread.ofVirtual().factory()),
    JDK_PLATFORM(true, Thread.ofPlatform().factory()),
    PLAIN_VIRTUAL(false, Thread.ofVirtual().factory()),
    PLAIN_PLATFORM(false, Thread.ofPlatform().factory());

    private final boolean jdk;
    public final ThreadFactory factory;

    Kind(boolean jdk, ThreadFactory factory) {
        this.jdk = jdk;
        this.factory = factory;
    }

    /** {@return the options of a scope of this kind} */
    public StructuredScopeOptions options() {
        return options(factory);
    }

    StructuredScopeOptions options(ThreadFactory other) {
        StructuredScopeOptions options = StructuredScopeOptions.defaults().withThreadFactory(other);
        return jdk ? options : options.withPlainThreads();
    }

    <T> StructuredTaskScope<T> open() {
        return new StructuredTaskScope<>(options());
    }

    /** Skips a test that only the JDK's scopes can pass. */
    void needsTheJdk(String reason) {
        assumeTrue(jdk, "left out with plain threads: " + reason);
    }
}
