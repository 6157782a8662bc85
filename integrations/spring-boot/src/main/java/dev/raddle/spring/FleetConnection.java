package dev.raddle.spring;

import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.data.redis.autoconfigure.DataRedisProperties;
import org.springframework.boot.ssl.SslBundle;

/**
 * A client with the connection settings of the application: one server, Sentinels or a cluster, with password and TLS.
 * The fleet has connections of its own, so that it does not depend on the library that the application uses for Redis.
 */
final class FleetConnection implements AutoCloseable {

    private final AbstractRedisClient client;

    private FleetConnection(AbstractRedisClient client) {
        this.client = client;
    }

    static FleetConnection to(DataRedisConnectionDetails details, @Nullable DataRedisProperties properties) {
        return new FleetConnection(
                details.getCluster() == null ? single(details, properties) : cluster(details, properties));
    }

    /** Connects an instance, which is closed before this connection. */
    RedisFleet connect(FleetOptions options) {
        return client instanceof RedisClusterClient cluster
                ? RedisFleet.connect(cluster, options)
                : RedisFleet.connect((RedisClient) client, options);
    }

    private static RedisClient single(DataRedisConnectionDetails details, @Nullable DataRedisProperties properties) {
        RedisClient client = RedisClient.create(uri(details, properties));
        ClientOptions.Builder options = ClientOptions.builder().autoReconnect(false); // the fleet connects again itself
        SslOptions ssl = ssl(details.getSslBundle());
        if (ssl != null) {
            options.sslOptions(ssl);
        }
        client.setOptions(options.build());
        return client;
    }

    private static RedisClusterClient cluster(
            DataRedisConnectionDetails details, @Nullable DataRedisProperties properties) {
        List<Node> nodes = Objects.requireNonNull(details.getCluster()).getNodes();
        RedisClusterClient client = RedisClusterClient.create(nodes.stream()
                .map(node ->
                        complete(RedisURI.builder().withHost(node.host()).withPort(node.port()), details, properties))
                .toList());
        ClusterClientOptions.Builder options = ClusterClientOptions.builder();
        SslOptions ssl = ssl(details.getSslBundle());
        if (ssl != null) {
            options.sslOptions(ssl);
        }
        client.setOptions(options.build());
        return client;
    }

    static RedisURI uri(DataRedisConnectionDetails details, @Nullable DataRedisProperties properties) {
        RedisURI.Builder uri = RedisURI.builder();
        DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        DataRedisConnectionDetails.Standalone standalone = details.getStandalone();
        if (sentinel != null) {
            uri.withSentinelMasterId(sentinel.getMaster()).withDatabase(sentinel.getDatabase());
            for (Node node : sentinel.getNodes()) {
                uri.withSentinel(sentinel(node, sentinel));
            }
        } else if (standalone != null) {
            uri.withHost(standalone.getHost()).withPort(standalone.getPort()).withDatabase(standalone.getDatabase());
        } else {
            throw new InvalidPropertiesException(List.of(
                    "spring.data.redis must have a host, Sentinels or a cluster for raddle.redis, had none of them"));
        }
        return complete(uri, details, properties);
    }

    private static RedisURI sentinel(Node node, DataRedisConnectionDetails.Sentinel sentinel) {
        RedisURI uri = RedisURI.create(node.host(), node.port());
        String password = sentinel.getPassword();
        if (password != null) {
            uri.setCredentialsProvider(RedisCredentialsProvider.from(
                    () -> RedisCredentials.just(sentinel.getUsername(), password.toCharArray())));
        }
        return uri;
    }

    private static RedisURI complete(
            RedisURI.Builder builder, DataRedisConnectionDetails details, @Nullable DataRedisProperties properties) {
        if (details.getSslBundle() != null) {
            builder.withSsl(true);
        }
        RedisURI uri = builder.build();
        String password = details.getPassword();
        if (password != null) {
            uri.setCredentialsProvider(RedisCredentialsProvider.from(
                    () -> RedisCredentials.just(details.getUsername(), password.toCharArray())));
        }
        if (properties != null && properties.getTimeout() != null) {
            uri.setTimeout(properties.getTimeout());
        }
        if (properties != null && properties.getClientName() != null) {
            uri.setClientName(properties.getClientName());
        }
        return uri;
    }

    private static @Nullable SslOptions ssl(@Nullable SslBundle bundle) {
        if (bundle == null) {
            return null;
        }
        SslOptions.Builder ssl = SslOptions.builder()
                .keyManager(bundle.getManagers().getKeyManagerFactory())
                .trustManager(bundle.getManagers().getTrustManagerFactory());
        if (bundle.getOptions().getCiphers() != null) {
            ssl.cipherSuites(bundle.getOptions().getCiphers());
        }
        if (bundle.getOptions().getEnabledProtocols() != null) {
            ssl.protocols(bundle.getOptions().getEnabledProtocols());
        }
        return ssl.build();
    }

    @Override
    public void close() {
        client.shutdown();
    }
}
