package dev.raddle.spring;

/** Thrown at the start if a method cannot be run under the limits that its {@link Grouped} asks for. */
final class InvalidGroupedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    InvalidGroupedException(String message) {
        super(message);
    }

    InvalidGroupedException(String message, Throwable cause) {
        super(message, cause);
    }
}
