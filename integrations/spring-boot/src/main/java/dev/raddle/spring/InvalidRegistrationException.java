package dev.raddle.spring;

import org.jspecify.annotations.Nullable;

/** Thrown at the start if a {@link FlowRegistration} cannot be registered. */
final class InvalidRegistrationException extends RuntimeException {

    private static final long serialVersionUID = 1;

    InvalidRegistrationException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
