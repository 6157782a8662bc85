package dev.raddle.redis;

import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.cluster.api.StatefulRedisClusterConnection;
import io.lettuce.core.cluster.pubsub.StatefulRedisClusterPubSubConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** Opens links to a server or a cluster. */
abstract class Server {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(10);

    final ServerScript script = new ServerScript();
    private volatile Duration timeout; // for an answer, by the URI or the client

    private Server(Duration timeout) {
        this.timeout = timeout;
    }

    /** Returns how long a caller should wait for an answer, which is at least the time of a connection. */
    Duration timeout() {
        return timeout.compareTo(CONNECT_TIMEOUT) > 0 ? timeout : CONNECT_TIMEOUT;
    }

    final void timeoutOf(StatefulConnection<?, ?> connection) {
        timeout = connection.getTimeout();
    }

    /**
     * Opens both connections and subscribes to a channel. Blocks.
     *
     * @param onLoss is run when a connection is lost, as far as that is noticed
     *
     * @throws Exception if that fails
     */
    abstract Link connect(Keys keys, String channel, Consumer<String> onMessage, Runnable onLoss) throws Exception;

    /**
     * Closes the last link, and then a client of the fleet's own. No attempt to connect may be under way.
     *
     * @param last the link that is open, or null
     * @return completed when all is closed
     */
    CompletableFuture<Void> close(@Nullable Link last) {
        return last == null ? CompletableFuture.completedFuture(null) : last.close();
    }

    static Server at(RedisURI uri) {
        RedisClient client = RedisClient.create(bounded(uri));
        client.setOptions(ClientOptions.builder()
                .autoReconnect(false)
                .socketOptions(
                        SocketOptions.builder().connectTimeout(CONNECT_TIMEOUT).build())
                .build());
        return new Standalone(client, true, nameOf(uri), uri.getTimeout());
    }

    /** Returns a copy with a bounded time to connect. The client's own copy has no Sentinels. */
    private static RedisURI bounded(RedisURI uri) {
        RedisURI.Builder copy = RedisURI.builder(uri).withTimeout(CONNECT_TIMEOUT);
        uri.getSentinels().forEach(sentinel -> copy.withSentinel(bounded(sentinel)));
        if (uri.getSentinelMasterId() != null) {
            copy.withSentinelMasterId(uri.getSentinelMasterId());
        }
        return copy.build();
    }

    static Server of(RedisClient client) {
        return new Standalone(client, false, "the client's server", RedisURI.DEFAULT_TIMEOUT_DURATION);
    }

    static Server of(RedisClusterClient client) {
        return new Cluster(client);
    }

    private static String nameOf(RedisURI uri) {
        if (!uri.getSentinels().isEmpty()) {
            return "sentinel \"" + uri.getSentinelMasterId() + "\"";
        }
        return uri.getSocket() != null ? uri.getSocket() : uri.getHost() + ":" + uri.getPort();
    }

    /** Closes a connection if the rest of its preparation fails. */
    static <C extends StatefulConnection<?, ?>> void prepare(C connection, Preparation<C> preparation)
            throws Exception {
        try {
            preparation.prepare(connection);
        } catch (Throwable failure) {
            CompletableFuture<Void> ignored = connection.closeAsync();
            throw failure;
        }
    }

    /** Prepares a connection. */
    interface Preparation<C> {
        void prepare(C connection) throws Exception;
    }

    /** Passes messages of one channel on. */
    private static final class Listener extends RedisPubSubAdapter<String, String> {
        private final Consumer<String> onMessage;

        Listener(Consumer<String> onMessage) {
            this.onMessage = onMessage;
        }

        @Override
        public void message(String channel, String message) {
            onMessage.accept(message);
        }

        @Override
        public void smessage(String channel, String message) {
            onMessage.accept(message);
        }
    }

    /** Is notified when a connection is lost. */
    private record LossListener(Link link, Runnable onLoss) implements RedisConnectionStateListener {
        @Override
        public void onRedisDisconnected(RedisChannelHandler<?, ?> connection) {
            link.lost();
            onLoss.run();
        }
    }

    /** One server, or the master that Sentinels name. */
    private static final class Standalone extends Server {
        private final RedisClient client;
        private final boolean isOwned;
        private final String name;

        Standalone(RedisClient client, boolean isOwned, String name, Duration timeout) {
            super(timeout);
            this.client = client;
            this.isOwned = isOwned;
            this.name = name;
        }

        @Override
        Link connect(Keys keys, String channel, Consumer<String> onMessage, Runnable onLoss) throws Exception {
            StatefulRedisPubSubConnection<String, String> messages = client.connectPubSub(StringCodec.UTF8);
            Link[] link = new Link[1];
            prepare(messages, connection -> {
                connection.addListener(new Listener(onMessage));
                connection.async().subscribe(channel).get(CONNECT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
                StatefulRedisConnection<String, String> calls = client.connect(StringCodec.UTF8);
                if (!isOwned) {
                    timeoutOf(calls);
                }
                Link opened = new Link(calls, connection, calls.async(), calls.async(), script, keys.all(), "PUBLISH");
                link[0] = opened;
                connection.addListener(new LossListener(opened, onLoss));
                calls.addListener(new LossListener(opened, onLoss));
            });
            return link[0];
        }

        @Override
        CompletableFuture<Void> close(@Nullable Link last) {
            CompletableFuture<Void> closed = super.close(last);
            return isOwned ? closed.handle((any, failure) -> null).thenCompose(any -> shutDown()) : closed;
        }

        private CompletableFuture<Void> shutDown() {
            return client.shutdownAsync(0, CONNECT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public String toString() {
            return name;
        }
    }

    /** A cluster. */
    private static final class Cluster extends Server {
        private final RedisClusterClient client;

        Cluster(RedisClusterClient client) {
            super(RedisURI.DEFAULT_TIMEOUT_DURATION);
            this.client = client;
        }

        @Override
        Link connect(Keys keys, String channel, Consumer<String> onMessage, Runnable onLoss) throws Exception {
            client.getPartitions();
            StatefulRedisClusterPubSubConnection<String, String> messages = client.connectPubSub(StringCodec.UTF8);
            Link[] link = new Link[1];
            prepare(messages, connection -> {
                connection.addListener(new Listener(onMessage));
                String publish = subscribe(connection, channel);
                StatefulRedisClusterConnection<String, String> calls = client.connect(StringCodec.UTF8);
                timeoutOf(calls);
                link[0] = new Link(calls, connection, calls.async(), null, script, keys.all(), publish);
            });
            return link[0];
        }

        private static String subscribe(StatefulRedisClusterPubSubConnection<String, String> messages, String channel)
                throws Exception {
            try {
                messages.async().ssubscribe(channel).get(CONNECT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
                return "SPUBLISH";
            } catch (ExecutionException unknownCommand) { // before 7.0
                messages.async().subscribe(channel).get(CONNECT_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
                return "PUBLISH";
            }
        }

        @Override
        public String toString() {
            return "the client's cluster";
        }
    }
}
