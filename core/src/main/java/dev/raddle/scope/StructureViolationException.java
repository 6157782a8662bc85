package dev.raddle.scope;

import java.io.Serial;
import org.jspecify.annotations.Nullable;

/**
 * Thrown when scopes are not closed in the reverse order of their opening, or when scoped values that were bound after a
 * scope was opened are in force where it forks or closes.
 *
 * <p>What the JDK finds is the {@linkplain #getCause() cause}. Where {@code ScopedValue} itself finds it, on leaving a
 * binding with a scope still open, it throws the JDK's own exception of this name, which no library can replace.
 */
public final class StructureViolationException extends RuntimeException {

    @Serial
    private static final long serialVersionUID = 1L;

    /** Creates an exception without a message and without a cause, as the JDK's has it. */
    public StructureViolationException() {}

    /**
     * Creates an exception without a cause.
     *
     * @param message what was violated
     */
    public StructureViolationException(@Nullable String message) {
        super(message);
    }

    /**
     * Creates an exception.
     *
     * @param message what was violated
     * @param cause what the JDK threw, or null
     */
    public StructureViolationException(@Nullable String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
