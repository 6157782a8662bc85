package dev.raddle.redis;

import dev.raddle.task.Rate;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The state of a whole fleet, as the server had it in one moment.
 *
 * @param instances the instances with a lease, also those whose lease has just ended, by name
 * @param keys the groups with permits, waiting instances or a limit or rate of their own, by key
 * @param limit the limit of groups without one of their own, or 0 if they have none
 * @param cap the limit of all groups together, or 0 if there is none
 * @param permits the number of permits that all groups hold
 * @param quarantine the time for which nothing is granted, because the server has lost its data; usually zero
 */
public record FleetStatus(
        List<Instance> instances, List<Key> keys, int limit, int cap, int permits, Duration quarantine) {

    /** Copies the lists. */
    public FleetStatus {
        instances = List.copyOf(instances);
        keys = List.copyOf(keys);
    }

    /**
     * One instance.
     *
     * @param name its {@linkplain FleetOptions.Builder#instanceName name}
     * @param id its id, which is new whenever it lost its lease
     * @param age the time since its first call under this id
     * @param left the time until its lease ends, which is negative if it has ended
     */
    public record Instance(String name, String id, Duration age, Duration left) {}

    /**
     * One group.
     *
     * @param key the key of the group
     * @param limit the limit that applies to it, or 0 if there is none
     * @param rate the rate that applies to it, or null if there is none
     * @param permits the number of permits that are held
     * @param holders the instances that hold permits, those with the most permits first
     * @param waiting the number of permits for which instances wait at the server
     */
    public record Key(String key, int limit, @Nullable Rate rate, int permits, List<Holding> holders, int waiting) {
        /** Copies the list. */
        public Key {
            holders = List.copyOf(holders);
        }
    }

    /**
     * The permits of one instance.
     *
     * @param instance the name of the instance
     * @param permits the number of permits
     * @param held the time for which it has held at least one
     */
    public record Holding(String instance, int permits, Duration held) {}
}
