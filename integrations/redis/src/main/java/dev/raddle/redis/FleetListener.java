package dev.raddle.redis;

import java.time.Duration;

/**
 * Is notified of what happens to an instance of a fleet. The methods are called one at a time and without a lock, by a
 * virtual thread of the fleet. A slow listener delays further notifications; when many are waiting, those of {@link
 * #acquired} are omitted. An exception goes to the {@linkplain FleetOptions.Builder#sink sink}.
 */
public interface FleetListener {

    /** A listener that does nothing. */
    FleetListener NONE = new FleetListener() {};

    /**
     * The server granted a permit of a group. Not called for permits that are granted locally during an outage, nor for
     * tasks that reuse a permit within its slice.
     *
     * @param groupKey the key of the group
     * @param waited the time since the group wanted the permit
     */
    default void acquired(String groupKey, Duration waited) {}

    /**
     * An outage began: the instance has no valid lease, or the server has lost data of the namespace or was replaced.
     * The {@linkplain OutageMode outage mode} applies.
     *
     * @param reason the reason, without passwords
     */
    default void outageBegan(String reason) {}

    /**
     * An outage ended: the server grants permits again.
     *
     * @param length the time since it began
     */
    default void outageEnded(Duration length) {}

    /**
     * The instance lost its lease. Its permits are revoked, and it continues under a new id.
     *
     * @param permits the number of permits that it held
     * @param reason the reason, without passwords
     */
    default void leaseLost(int permits, String reason) {}

    /**
     * The namespace is new, or the server has lost data of it or was replaced by another one. It grants nothing until
     * the leases that it may have forgotten have ended; the permits that this instance holds remain valid.
     *
     * @param quarantine the time for which nothing is granted
     */
    default void quarantineBegan(Duration quarantine) {}

    /**
     * The clock of the server was set back. The time of the fleet goes on from the latest one, ahead of that clock.
     *
     * @param behind the difference
     */
    default void clockWentBack(Duration behind) {}
}
