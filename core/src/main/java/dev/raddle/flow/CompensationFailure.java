package dev.raddle.flow;

import org.jspecify.annotations.Nullable;

/**
 * A compensation that threw an exception, or could not be recorded. The effects of its node may still be there.
 *
 * @param node the id of the node, for one of a subflow the path such as {@code "ship/label"}; or null if no node was
 *     compensated, because the journal could not record that the run compensates
 * @param cause the exception
 */
public record CompensationFailure(@Nullable String node, Throwable cause) {

    /** Returns a sentence with the node and the exception. */
    @Override
    public String toString() {
        String subject = node == null ? "no node was compensated" : "the compensation of node \"" + node + "\" failed";
        return subject + ": " + RecordedFailure.of(cause); // whatever the methods of the exception do
    }
}
