package dev.raddle.checks.flow;

/** A case cannot be understood: it holds something that the format does not know, or lacks something. */
final class CaseFormatException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    CaseFormatException(String message) {
        super(message);
    }
}
