package dev.raddle.jdbc;

/** Thrown if a run began with another plan than the one that has its version here. */
final class OtherPlanException extends IllegalArgumentException {
    private static final long serialVersionUID = 1;

    OtherPlanException(String message) {
        super(message);
    }
}
