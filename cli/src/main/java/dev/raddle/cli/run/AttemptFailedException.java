package dev.raddle.cli.run;

/** Thrown when an attempt failed and another may follow. */
final class AttemptFailedException extends Exception {
    private static final long serialVersionUID = 1;

    AttemptFailedException(AttemptEnd end) {
        super(end.text(), null, false, false);
    }
}
