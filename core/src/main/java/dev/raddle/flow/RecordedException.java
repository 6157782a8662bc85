package dev.raddle.flow;

import java.util.Objects;

/** Stands in a resumed run for an exception that an earlier process has recorded in the journal. */
public final class RecordedException extends RuntimeException {

    private static final long serialVersionUID = 1;

    private final transient RecordedFailure failure;

    RecordedException(RecordedFailure failure) {
        super(failure.toString(), null, true, false);
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
}
