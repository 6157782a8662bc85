package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import dev.raddle.task.Rate;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Limits of groups that hold over all JVMs of a fleet, on Redis from 6.2 or on Valkey. Each JVM is an <i>instance</i>;
 * instances with the same {@linkplain FleetOptions.Builder#namespace namespace} on the same server are a fleet.
 *
 * {@snippet :
 * try (RedisFleet fleet = RedisFleet.connect(RedisURI.create("rediss://redis.internal"), FleetOptions.defaults())) {
 *     fleet.setDefaultLimit(4); // of each group, over all instances
 *     fleet.setLimit("vip", 16);
 *     GroupPolicy policy = GroupPolicy.builder().permits(fleet).build();
 *     try (GroupExecutor executor = GroupExecutor.create(policy)) {
 *         executor.submit("vip", this::order);
 *     }
 * }
 * }
 *
 * <p>Limits, rates and the cap are data in Redis: they are set once, by any instance, and each instance follows them
 * within one lease. A group without a limit is not limited by the fleet. The limits of an executor's own policy apply
 * besides.
 *
 * <p>An instance has one lease, whatever it holds. It renews the lease with every call, and with a heartbeat when it is
 * idle. An instance that cannot renew it gives up its permits before the server grants them to others, so a limit is
 * exceeded only by tasks that do not end when they are cancelled. Such tasks should guard what they write with the
 * <i>fencing number</i> of their permit, which increases with every grant of the namespace.
 *
 * <p>A fleet may serve any number of executors of a JVM, which share its permits fairly. Close the executors first.
 * Keys of groups have at most {@value #LONGEST_KEY} bytes in UTF-8.
 */
public final class RedisFleet implements PermitSource, AutoCloseable {

    /** The longest key of a group, in bytes of UTF-8. */
    public static final int LONGEST_KEY = 1024;

    /** The highest limit. */
    public static final int HIGHEST_LIMIT = 1_000_000_000;

    private RedisFleet() {}

    /**
     * Creates an instance with connections of its own. Does not wait for the server: until it answers, the
     * {@linkplain FleetOptions.Builder#outageMode outage mode} applies.
     *
     * @param uri the server, or its Sentinels, with password and TLS if needed
     * @param options the options
     * @return the instance
     */
    public static RedisFleet connect(RedisURI uri, FleetOptions options) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Creates an instance with a client of the caller, which must have a default URI. The client's options must not
     * repeat commands after a reconnection in a way that applies them twice; the fleet tolerates it. The client remains
     * the caller's, who closes it after this instance.
     *
     * @param client the client
     * @param options the options
     * @return the instance
     */
    public static RedisFleet connect(RedisClient client, FleetOptions options) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Creates an instance on a cluster. All keys of a namespace are in one hash slot. The client remains the caller's,
     * who closes it after this instance.
     *
     * @param client the client
     * @param options the options
     * @return the instance
     */
    public static RedisFleet connect(RedisClusterClient client, FleetOptions options) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    @Override
    public Session open(Holder holder) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Sets the limit of a group over all instances. Waits for the server. A lower limit takes effect as permits are
     * returned.
     *
     * @param groupKey the key of the group
     * @param permits the limit, from 1 to {@value #HIGHEST_LIMIT}
     * @throws IllegalArgumentException if the limit is outside that range, or the key is too long
     * @throws FleetException if the server does not answer; the limit may have been set
     */
    public void setLimit(String groupKey, int permits) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Removes the limit of a group, so that the default limit applies. Waits for the server.
     *
     * @param groupKey the key of the group
     * @throws FleetException if the server does not answer; the limit may have been removed
     */
    public void resetLimit(String groupKey) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Sets the limit of each group that has none of its own. Waits for the server.
     *
     * @param permits the limit, from 1 to {@value #HIGHEST_LIMIT}, or 0 for none
     * @throws FleetException if the server does not answer; the limit may have been set
     */
    public void setDefaultLimit(int permits) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Sets the limit of all groups together. Waits for the server.
     *
     * @param permits the limit, from 1 to {@value #HIGHEST_LIMIT}, or 0 for none
     * @throws FleetException if the server does not answer; the limit may have been set
     */
    public void setCap(int permits) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Sets how many tasks of a group may start per time over all instances, by the clock of the server. Waits for the
     * server. What was used under the earlier rate counts.
     *
     * @param groupKey the key of the group
     * @param rate the rate, or null for none
     * @throws FleetException if the server does not answer; the rate may have been set
     */
    public void setRate(String groupKey, @Nullable Rate rate) {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Asks the server for the state of the fleet. Its cost is proportional to the number of groups in use.
     *
     * @return the state
     * @throws FleetException if the server does not answer
     */
    public FleetStatus status() {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /**
     * Returns the counts of this instance, without asking the server.
     *
     * @return the counts
     */
    public FleetStats stats() {
        return new FleetStats(0, Duration.ZERO, 0, 0, 0, 0, false, 0, 0);
    }

    /**
     * Returns the options.
     *
     * @return the options
     */
    public FleetOptions options() {
        throw new UnsupportedOperationException("not implemented yet");
    }

    /** Returns all permits to the server, within a bounded time, and closes the connections. Further calls do nothing. */
    @Override
    public void close() {}

    /** Returns the namespace, the server without passwords, and whether it answers. */
    @Override
    public String toString() {
        return "fleet";
    }
}
