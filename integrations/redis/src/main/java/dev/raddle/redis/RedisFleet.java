package dev.raddle.redis;

import dev.raddle.group.PermitSource;
import dev.raddle.task.Rate;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
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
 * A key of a group may be any text; of a long one, only the beginning and a digest are sent.
 */
public final class RedisFleet implements PermitSource, AutoCloseable {

    /** The highest limit. */
    public static final int HIGHEST_LIMIT = 1_000_000_000;

    private static final Duration LONGEST_CLOSE = Duration.ofSeconds(2);

    private final FleetOptions options;
    private final Server server;
    private final Pump pump;
    private final Keys keys;
    private volatile boolean isClosed;

    private RedisFleet(Server server, FleetOptions options) {
        this.server = server;
        this.options = options;
        keys = new Keys(options.namespace());
        pump = new Pump(options, server);
    }

    private static RedisFleet start(Server server, FleetOptions options) {
        RedisFleet fleet = new RedisFleet(server, options);
        fleet.pump.start();
        return fleet;
    }

    /**
     * Creates an instance with connections of its own. Does not wait for the server: until it answers, the
     * {@linkplain FleetOptions.Builder#outageMode outage mode} applies.
     *
     * @param uri the server, or its Sentinels, with password and TLS if needed
     * @param options the options
     * @return the instance
     */
    public static RedisFleet connect(RedisURI uri, FleetOptions options) {
        return start(Server.at(uri), options);
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
        return start(Server.of(client), options);
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
        return start(Server.of(client), options);
    }

    @Override
    public Session open(Holder holder) {
        if (isClosed) {
            throw new IllegalStateException(this + " is closed");
        }
        return pump.open(holder);
    }

    /**
     * Sets the limit of a group over all instances. Waits for the server. A lower limit takes effect as permits are
     * returned.
     *
     * @param groupKey the key of the group
     * @param permits the limit, from 1 to {@value #HIGHEST_LIMIT}
     * @throws IllegalArgumentException if the limit is outside that range
     * @throws FleetException if the server does not answer; the limit may have been set
     */
    public void setLimit(String groupKey, int permits) {
        configure("l:" + GroupNames.of(groupKey), limit("limit", permits, 1));
    }

    /**
     * Removes the limit of a group, so that the default limit applies. Waits for the server.
     *
     * @param groupKey the key of the group
     * @throws FleetException if the server does not answer; the limit may have been removed
     */
    public void resetLimit(String groupKey) {
        configure("l:" + GroupNames.of(groupKey), "");
    }

    /**
     * Sets the limit of each group that has none of its own. Waits for the server.
     *
     * @param permits the limit, from 1 to {@value #HIGHEST_LIMIT}, or 0 for none
     * @throws FleetException if the server does not answer; the limit may have been set
     */
    public void setDefaultLimit(int permits) {
        configure("?", limit("default limit", permits, 0));
    }

    /**
     * Sets the limit of all groups together. Waits for the server.
     *
     * @param permits the limit, from 1 to {@value #HIGHEST_LIMIT}, or 0 for none
     * @throws FleetException if the server does not answer; the limit may have been set
     */
    public void setCap(int permits) {
        configure("*", limit("cap", permits, 0));
    }

    /**
     * Sets how many tasks of a group may start per time over all instances, by the clock of the server. Waits for the
     * server. What was used under the earlier rate counts.
     *
     * @param groupKey the key of the group
     * @param rate the rate, or null so that the default rate applies
     * @throws FleetException if the server does not answer; the rate may have been set
     */
    public void setRate(String groupKey, @Nullable Rate rate) {
        configure("r:" + GroupNames.of(groupKey), rate == null ? "" : Rates.write(rate));
    }

    /**
     * Sets the rate of each group that has none of its own, so that a new key is not unlimited. Waits for the server.
     * What was used under the earlier rate counts.
     *
     * @param rate the rate, or null for none
     * @throws FleetException if the server does not answer; the rate may have been set
     */
    public void setDefaultRate(@Nullable Rate rate) {
        configure("?r", rate == null ? "" : Rates.write(rate));
    }

    /**
     * Asks the server for the state of the fleet. Its cost is proportional to the number of groups in use.
     *
     * @return the state
     * @throws FleetException if the server does not answer
     */
    public FleetStatus status() {
        return StatusReader.read(ask("read the status", ServerScript.Function.STATUS));
    }

    /**
     * Returns the counts of this instance, without asking the server.
     *
     * @return the counts
     */
    public FleetStats stats() {
        Counters counters = pump.counters();
        return new FleetStats(
                counters.acquired,
                Duration.ofNanos(counters.acquireNanos),
                counters.lost,
                counters.leases,
                pump.ledger().missing(),
                pump.ledger().size(),
                counters.backendUp,
                counters.calls,
                pump.outages());
    }

    /**
     * Returns the options.
     *
     * @return the options
     */
    public FleetOptions options() {
        return options;
    }

    /** Returns all permits to the server, within a bounded time, and closes the connections. Idempotent. */
    @Override
    public void close() {
        if (isClosed) {
            return;
        }
        isClosed = true;
        Duration most = options.lease().compareTo(LONGEST_CLOSE) < 0 ? options.lease() : LONGEST_CLOSE;
        try {
            pump.leave().get(most.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException unanswered) {
            // the permits come back when the lease has ended
        }
        awaitEnd(pump.end());
    }

    /** Waits for the connections to be closed, since the caller may close its client next. */
    private static void awaitEnd(CompletableFuture<Void> end) {
        try {
            end.get(LONGEST_CLOSE.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        } catch (ExecutionException | TimeoutException unfinished) {
            // goes on without the caller
        }
    }

    /** Returns the namespace, the server without passwords, and whether it answers. */
    @Override
    public String toString() {
        return "fleet \"" + options.namespace() + "\" on " + server + (pump.counters().backendUp ? "" : ", no answer");
    }

    private static String limit(String what, int permits, int least) {
        if (permits < least || permits > HIGHEST_LIMIT) {
            throw new IllegalArgumentException(
                    what + " must be between " + least + " and " + HIGHEST_LIMIT + ", was " + permits);
        }
        return permits == 0 ? "" : Integer.toString(permits);
    }

    private void configure(String field, String value) {
        String lease = Long.toString(options.lease().toMillis());
        ask("change a limit", ServerScript.Function.CONFIGURE, lease, keys.channelPrefix(), field, value);
    }

    private String trouble() {
        return pump.counters().backendUp ? "" : ": " + pump.trouble();
    }

    /** Calls a function that may be executed twice: again on the next link if one is lost. */
    private List<Object> ask(String what, ServerScript.Function function, String... arguments) {
        if (isClosed) {
            throw new FleetException(this + " is closed");
        }
        Duration timeout = server.timeout();
        Duration most = options.lease().compareTo(timeout) > 0 ? options.lease() : timeout;
        long begin = options.timeSource().nanoTime();
        String failed = this + ": could not " + what;
        while (true) {
            CompletableFuture<Link> link = pump.connection().next();
            CompletableFuture<List<Object>> answer = link.thenCompose(to -> to.call(function, arguments));
            try {
                return answer.get(most.toNanos() - (options.timeSource().nanoTime() - begin), TimeUnit.NANOSECONDS);
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt();
                throw new FleetException(failed + ", the thread was interrupted", interrupt);
            } catch (TimeoutException unanswered) {
                link.cancel(false);
                throw new FleetException(
                        failed + ", no answer within " + most.toMillis() + " ms" + trouble(), unanswered);
            } catch (ExecutionException failure) {
                if (!isLoss(failure.getCause())) {
                    throw new FleetException(failed + ": " + failure.getCause(), failure);
                }
            }
        }
    }

    /** Returns whether a call failed because its connection was lost, and not because of the server or its script. */
    private static boolean isLoss(@Nullable Throwable failure) {
        return failure instanceof IOException // of the channel, if it was closed before the call was written
                || (failure instanceof RedisException && !(failure instanceof RedisCommandExecutionException));
    }
}
