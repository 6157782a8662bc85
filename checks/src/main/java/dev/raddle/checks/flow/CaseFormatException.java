package dev.raddle.checks.flow;

/** Thrown if a case is malformed: it contains an unknown element or lacks a required one. */
final class CaseFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    CaseFormatException(String message) {
        super(message);
    }
}
