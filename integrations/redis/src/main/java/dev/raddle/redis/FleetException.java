package dev.raddle.redis;

/** The server could not be asked, or its answer makes no sense. The message says which, and never has a password. */
public final class FleetException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message what was asked, and what happened
     * @param cause the exception of the client
     */
    public FleetException(String message, Throwable cause) {
        super(message, cause);
    }

    /**
     * Creates an exception.
     *
     * @param message what was asked, and what happened
     */
    public FleetException(String message) {
        super(message);
    }
}
