package dev.raddle.kernel;

import org.jspecify.annotations.Nullable;

/**
 * One request for the right to run: a node in the queue of its {@link Gate} while it waits, and in the gate's list of
 * holders while it runs. What wants to run extends this class, so that waiting costs no object beside it.
 */
public abstract class Permit {

    static final byte NOWHERE = 0; // not entered, refused, withdrawn or given back
    static final byte WAITING = 1;
    static final byte HELD = 2;

    @Nullable
    Permit previous; // guarded by the gate that owns this

    @Nullable
    Permit next; // guarded by the gate that owns this

    byte place; // guarded by the gate that owns this
    byte charge; // binary logarithm of the slot-time charged in advance, 0 for none; guarded by the gate that owns this

    /** Creates a permit that has not entered a gate. */
    protected Permit() {}

    /**
     * Returns how many slots this permit asks for. One that asks for more than its gate or the cap has in all takes all.
     *
     * @return at least 1, the same at every call
     */
    protected int cost() {
        return 1;
    }

    /**
     * Returns this permit's rank among those that wait at its gate: the higher goes first, equal ones in order of arrival.
     *
     * @return any number, the same at every call
     */
    protected int priority() {
        return 0;
    }

    /**
     * Notes how many slots were taken for this permit. Called under the gate's lock.
     *
     * @param slots from 1 to {@link #cost()}; always 1 if the cost is 1
     */
    protected void taken(int slots) {}

    /**
     * Returns how many slots were taken for this permit.
     *
     * @return what {@link #taken(int)} noted last
     */
    protected int taken() {
        return 1;
    }
}
