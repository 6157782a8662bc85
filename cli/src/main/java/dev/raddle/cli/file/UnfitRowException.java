package dev.raddle.cli.file;

/** A row lacks a value that a placeholder needs; the message says which and why. */
public final class UnfitRowException extends Exception {
    private static final long serialVersionUID = 1L;

    public UnfitRowException(String message) {
        super(message);
    }
}
