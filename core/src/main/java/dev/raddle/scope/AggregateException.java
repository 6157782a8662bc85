package dev.raddle.scope;

import java.util.List;

/** Says that several things went wrong: each of them is a suppressed exception of this one. */
public final class AggregateException extends RuntimeException {

    private static final long serialVersionUID = 1;

    /**
     * Creates an exception.
     *
     * @param message what was attempted and how much of it failed, for people
     * @param failures what was thrown, in an order that the message explains; at least one
     */
    @SuppressWarnings("this-escape") // addSuppressed only writes a field of the superclass
    public AggregateException(String message, List<? extends Throwable> failures) {
        super(message, failures.getFirst());
        failures.forEach(this::addSuppressed);
    }

    /**
     * Returns what went wrong.
     *
     * @return the exceptions, in their order
     */
    public List<Throwable> failures() {
        return List.of(getSuppressed());
    }
}
