package dev.raddle.kernel;

import dev.raddle.time.Deadline;
import dev.raddle.time.TimeSource;

/**
 * What a structured scope offers to this module beside its API: a wait that ends by a deadline, and a shutdown by any
 * thread. A scope gives its control to itself if its class is a {@link Holder}, which no class outside this module can
 * be.
 */
public interface ScopeControl {

    /** A subclass of a scope that has a control of it. */
    interface Holder {

        /**
         * Receives the control. Called once, by the constructor of the superclass.
         *
         * @param control the control of this scope
         */
        void receive(ScopeControl control);
    }

    /** {@return the time source of the scope} */
    TimeSource time();

    /** {@return the executor of what the scope's alarms decide} */
    OffloadExecutor offload();

    /** Shuts the scope down, unless it was before. Any thread may call this method. */
    void stop();

    /**
     * Joins as the scope's own method does, until a deadline. A wait that is over before it begins takes precedence.
     *
     * @param deadline the deadline
     * @return false if the deadline passed first; the join has then not completed
     * @throws InterruptedException if the owner was interrupted
     */
    boolean joinBy(Deadline deadline) throws InterruptedException;
}
