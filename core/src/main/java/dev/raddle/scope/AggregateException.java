package dev.raddle.scope;

import java.util.List;

/** Thrown when one or more of several operations have failed. Each failure is a suppressed exception of this one. */
public final class AggregateException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /** Creates an exception of at least one failure; the first becomes the cause. */
    @SuppressWarnings("this-escape") // addSuppressed only writes a field of the superclass
    AggregateException(String message, List<? extends Throwable> failures) {
        super(message, failures.getFirst());
        failures.forEach(this::addSuppressed);
    }

    /**
     * Returns the failures.
     *
     * @return the exceptions, in the order in which the constructor received them
     */
    public List<Throwable> failures() {
        return List.of(getSuppressed());
    }
}
