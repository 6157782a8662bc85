package dev.raddle.redis;

import dev.raddle.time.UserCode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Whether there is an outage; reports each change as an event, a line of the log and to the listener. */
final class OutageState {

    private static final String LOGGER = "dev.raddle.redis";

    private final FleetOptions options;
    private final Notifier notifier;
    private @Nullable OutageEvent event; // of the current outage; owned by the pump
    private long begin; // owned by the pump
    private volatile long outages;

    OutageState(FleetOptions options, Notifier notifier) {
        this.options = options;
        this.notifier = notifier;
    }

    boolean isOutage() {
        return event != null;
    }

    long outages() {
        return outages;
    }

    /** Begins an outage if there is none; returns whether it began. */
    @SuppressWarnings("NonAtomicVolatileUpdate") // only the pump writes
    boolean begin(long now, String reason) {
        if (event != null) {
            return false;
        }
        OutageEvent begun = new OutageEvent();
        begun.begin();
        begun.namespace = options.namespace();
        begun.reason = reason;
        begun.mode = options.outageMode().toString();
        event = begun;
        begin = now;
        outages++;
        UserCode.warn(
                LOGGER,
                "fleet \"" + options.namespace() + "\": outage began, mode " + options.outageMode() + ": " + reason,
                null);
        notifier.post(listener -> listener.outageBegan(reason));
        return true;
    }

    /** Ends the outage if there is one; returns whether it ended. */
    boolean end(long now) {
        OutageEvent ended = event;
        if (ended == null) {
            return false;
        }
        event = null;
        ended.commit();
        Duration length = Duration.ofNanos(now - begin);
        UserCode.warn(
                LOGGER, "fleet \"" + options.namespace() + "\": outage ended after " + length.toMillis() + " ms", null);
        notifier.post(listener -> listener.outageEnded(length));
        return true;
    }

    void leaseLost(int permits, String reason) {
        LeaseLostEvent lost = new LeaseLostEvent();
        lost.namespace = options.namespace();
        lost.permits = permits;
        lost.reason = reason;
        lost.commit();
        UserCode.warn(
                LOGGER,
                "fleet \"" + options.namespace() + "\": lease lost with " + permits + " permits: " + reason,
                null);
        notifier.post(listener -> listener.leaseLost(permits, reason));
    }

    void quarantineBegan(Duration quarantine, String cause) {
        QuarantineEvent begun = new QuarantineEvent();
        begun.namespace = options.namespace();
        begun.quarantineMillis = quarantine.toMillis();
        begun.reason = cause;
        begun.commit();
        UserCode.warn(
                LOGGER,
                "fleet \"" + options.namespace() + "\": " + cause + "; nothing is granted for " + quarantine.toMillis()
                        + " ms",
                null);
        notifier.post(listener -> listener.quarantineBegan(quarantine));
    }

    void evictionPossible(String policy) {
        UserCode.warn(
                LOGGER,
                "fleet \"" + options.namespace() + "\": the maxmemory-policy of the server is " + policy
                        + ", so it may evict keys of the fleet when its memory is full, and then nothing is granted "
                        + "for a lease; set maxmemory-policy to noeviction or to one for keys with an expiry, such as "
                        + "volatile-lru",
                null);
    }

    void clockWentBack(Duration behind) {
        UserCode.warn(
                LOGGER,
                "fleet \"" + options.namespace() + "\": the server's clock went back by " + behind.toMillis() + " ms",
                null);
        notifier.post(listener -> listener.clockWentBack(behind));
    }
}
