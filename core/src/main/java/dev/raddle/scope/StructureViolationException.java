package dev.raddle.scope;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when scopes are not closed in the reverse order of their opening, or when a scope forks or closes while scoped
 * values are bound that were bound after it was opened.
 *
 * <p>If the JDK detected the violation, its exception is the {@linkplain #getCause() cause}. If {@code ScopedValue}
 * detects it, when a binding ends while a scope is still open, it throws the JDK's own exception of this name, which no
 * library can replace.
 */
public final class StructureViolationException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an exception without a message and without a cause, like the JDK's constructor. */
    public StructureViolationException() {}

    /**
     * Creates an exception without a cause.
     *
     * @param message the detail message
     */
    public StructureViolationException(@Nullable String message) {
        super(message);
    }

    /**
     * Creates an exception.
     *
     * @param message the detail message
     * @param cause the exception of the JDK, or null
     */
    StructureViolationException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
