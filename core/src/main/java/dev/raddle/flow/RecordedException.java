package dev.raddle.flow;

import java.util.Objects;

/**
 * Stands in a resumed run for an exception that an earlier process has recorded in the journal. It has the message of
 * that exception; its class and its stack trace are in the {@linkplain #failure record}.
 */
public final class RecordedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final RecordedFailure failure;

    RecordedException(RecordedFailure failure) {
        super(failure.message(), null, true, false);
        this.failure = Objects.requireNonNull(failure);
    }

    /**
     * Returns the record of the exception.
     *
     * @return the record
     */
    public RecordedFailure failure() {
        return failure;
    }

    /** Returns the type and the message of the recorded exception. */
    @Override
    @SuppressWarnings("OverrideThrowableToString") // the name of this class would be that of the wrong exception
    public String toString() {
        return failure.toString();
    }
}
