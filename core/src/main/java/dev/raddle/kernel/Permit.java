package dev.raddle.kernel;

import org.jspecify.annotations.Nullable;

/**
 * One request for the right to run: a node in the queue of its {@link Gate} while it waits, and in the gate's list of
 * held permits while it runs. Runs extend this class, so a waiting run needs no second object.
 */
public abstract class Permit {

    static final byte NOWHERE = 0; // not entered, refused, withdrawn or released
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
     * Returns the number of slots that this permit requests. A permit that requests more than its gate or the cap has
     * takes all.
     *
     * @return a constant number, at least 1
     */
    protected int cost() {
        return 1;
    }

    /**
     * Returns the priority of this permit in the queue of its gate. Higher priorities are granted first, equal ones in
     * the order of arrival.
     *
     * @return any constant number
     */
    protected int priority() {
        return 0;
    }

    /**
     * Records when the cap has granted this permit, after it had waited. Called under the gate's lock. This
     * implementation does nothing.
     *
     * @param runningNanos the moment on the cap's {@link RunningClock}, or {@link GrantedPermits#NO_TIME}
     */
    protected void granted(long runningNanos) {}

    /**
     * Records the number of slots taken for this permit. Called under the gate's lock.
     *
     * @param slots the number of slots, from 1 to {@link #cost()}; 1 if the cost is 1
     */
    protected void taken(int slots) {}

    /**
     * Returns the number of slots taken for this permit.
     *
     * @return the number that {@link #taken(int)} recorded last
     */
    protected int taken() {
        return 1;
    }
}
