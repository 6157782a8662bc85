package dev.raddle.kernel;

/** The result of an attempt to enter a {@link Gate}. */
public enum Entry {
    /** The permit holds its slots. The caller starts it. */
    HELD,
    /** The permit is in the queue. */
    WAITING,
    /** The permit is the first in the queue and waits for the rate. The caller arms the alarm of this gate. */
    THROTTLED,
    /** Refused: the queue of this gate is full. */
    QUEUE_FULL,
    /** Refused: the common queue of all gates is full. */
    COMMON_QUEUE_FULL,
    /** The permit is in the queue, and its caller has to look the limits up. Returned by subclasses only. */
    UNRESOLVED,
    /** Refused: the breaker of this gate is open. Returned by subclasses only. */
    BROKEN,
    /** Refused: this gate is closed. Returned by subclasses only. */
    CLOSED,
    /** Refused: this gate was removed, and another one takes its place. Returned by subclasses only. */
    RETIRED,
    /** Refused: the run of the permit has ended. Returned by subclasses only. */
    ENDED
}
