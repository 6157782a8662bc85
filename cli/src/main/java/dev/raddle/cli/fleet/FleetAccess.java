package dev.raddle.cli.fleet;

import dev.raddle.cli.file.value.Failure;
import dev.raddle.cli.file.value.Passwords;
import dev.raddle.redis.FleetException;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.FleetStatus;
import dev.raddle.redis.RedisFleet;
import dev.raddle.task.Rate;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The fleet at a Redis server, for one command. No message of its exceptions contains a password.
 *
 * <p>The fleet counts this process among its instances while the command runs; the status leaves it out.
 */
public final class FleetAccess implements AutoCloseable {
    /** The name of this process among the instances of the fleet. */
    private static final String OWN_NAME =
            "raddle-command-" + ProcessHandle.current().pid();

    private static final Duration PATIENCE = Duration.ofSeconds(30);

    /**
     * The client and the fleet log what their exceptions say, too. Loggers to which nothing refers may lose their
     * levels.
     */
    private static final List<Logger> LOGGERS = Stream.of("dev.raddle", "io.lettuce", "io.netty")
            .map(Logger::getLogger)
            .toList();

    private final String namespace;
    private final RedisFleet fleet;
    private final AbstractRedisClient client;

    private FleetAccess(String namespace, RedisFleet fleet, AbstractRedisClient client) {
        this.namespace = namespace;
        this.fleet = fleet;
        this.client = client;
    }

    /**
     * Connects to a fleet.
     *
     * @param uri the URI of the server, its Sentinels, or one node of its cluster
     * @param namespace the namespace of the fleet
     * @param clustered whether the server is a cluster
     * @throws IllegalArgumentException if the URI or the namespace is invalid
     * @throws IOException if the server does not answer
     */
    public static FleetAccess open(String uri, String namespace, boolean clustered) throws IOException {
        LOGGERS.forEach(logger -> logger.setLevel(Level.OFF));
        RedisURI server = parse(uri);
        FleetOptions options = FleetOptions.builder()
                .namespace(namespace)
                .instanceName(OWN_NAME)
                .build();
        return clustered ? ofCluster(server, options) : ofServer(server, options);
    }

    /*
     * The first connection only shows that the server answers. If it does not, the client's exception says why, at
     * once; a fleet would try again and again.
     */

    private static FleetAccess ofServer(RedisURI server, FleetOptions options) throws IOException {
        RedisClient client = RedisClient.create(server);
        try (StatefulRedisConnection<String, String> first = client.connect()) {
            first.sync().ping();
            return new FleetAccess(options.namespace(), RedisFleet.connect(client, options), client);
        } catch (RedisException | FleetException e) {
            client.shutdown();
            throw unavailable(e);
        }
    }

    private static FleetAccess ofCluster(RedisURI server, FleetOptions options) throws IOException {
        RedisClusterClient client = RedisClusterClient.create(server);
        try (StatefulRedisClusterConnection<String, String> first = client.connect()) {
            first.sync().ping();
            return new FleetAccess(options.namespace(), RedisFleet.connect(client, options), client);
        } catch (RedisException | FleetException e) {
            client.shutdown();
            throw unavailable(e);
        }
    }

    /** Parses a URI. The client's own messages repeat the URI, so they are dropped. */
    private static RedisURI parse(String uri) {
        try {
            RedisURI server = RedisURI.create(uri);
            if (server.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)) {
                server.setTimeout(PATIENCE);
            }
            return server;
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException("the URI of the server must begin with redis://, rediss:// or"
                    + " redis-sentinel:// and name a host; in a password, the signs : / ? # are written as %3A %2F %3F"
                    + " %23, and the at sign as %40");
        }
    }

    /** Returns the state of the fleet as a text of several lines. */
    public String table() throws IOException {
        return ask(status -> new FleetTable(namespace, status).text());
    }

    /** Returns the state of the fleet as one line of JSON. */
    public String json() throws IOException {
        return ask(status -> FleetJson.text(namespace, status));
    }

    private String ask(Function<FleetStatus, String> form) throws IOException {
        try {
            return form.apply(without(OWN_NAME, fleet.status()));
        } catch (FleetException e) {
            throw unavailable(e);
        }
    }

    /** Returns the status without the instances of a name. */
    static FleetStatus without(String name, FleetStatus status) {
        List<FleetStatus.Instance> others = status.instances().stream()
                .filter(instance -> !instance.name().equals(name))
                .toList();
        return new FleetStatus(
                others, status.keys(), status.limit(), status.cap(), status.permits(), status.quarantine());
    }

    /** Sets the limit of all groups together; 0 means none. */
    public void setCap(int permits) throws IOException {
        change(() -> fleet.setCap(permits));
    }

    /** Sets the limit of groups without one of their own; 0 means none. */
    public void setDefaultLimit(int permits) throws IOException {
        change(() -> fleet.setDefaultLimit(permits));
    }

    /** Sets the rate of groups without one of their own; null means none. */
    public void setDefaultRate(@Nullable Rate rate) throws IOException {
        change(() -> fleet.setDefaultRate(rate));
    }

    /** Sets the limit of a group. */
    public void setLimit(String key, int permits) throws IOException {
        change(() -> fleet.setLimit(key, permits));
    }

    /** Sets the rate of a group. */
    public void setRate(String key, Rate rate) throws IOException {
        change(() -> fleet.setRate(key, rate));
    }

    /** Removes the limit and the rate of a group. */
    public void reset(String key) throws IOException {
        change(() -> {
            fleet.resetLimit(key);
            fleet.setRate(key, null);
        });
    }

    private static void change(Runnable change) throws IOException {
        try {
            change.run();
        } catch (FleetException e) {
            throw unavailable(e);
        }
    }

    private static IOException unavailable(RuntimeException e) {
        if (!(e instanceof RedisException)) {
            return new IOException(Passwords.hidden(Failure.text(e)), e);
        }
        Throwable root = e;
        while (root.getCause() != null) {
            root = root.getCause();
        }
        return new IOException("the server cannot be used: " + Passwords.hidden(Failure.text(root)), e);
    }

    @Override
    public void close() {
        fleet.close();
        client.shutdown();
    }
}
