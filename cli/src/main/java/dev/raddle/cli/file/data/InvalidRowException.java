package dev.raddle.cli.file.data;

/** Thrown when a row lacks a value that a placeholder needs; the message names the value and the reason. */
public final class InvalidRowException extends Exception {
    private static final long serialVersionUID = 1L;

    public InvalidRowException(String message) {
        super(message);
    }
}
