package dev.raddle.jdbc;

import java.sql.SQLException;

/** Thrown when the database cannot be reached or refuses a statement. */
public final class DatabaseException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param attempt the attempted action, in words
     * @param cause the exception of the driver
     */
    public DatabaseException(String attempt, SQLException cause) {
        super("cannot " + attempt + ": " + cause.getMessage(), cause);
    }
}
