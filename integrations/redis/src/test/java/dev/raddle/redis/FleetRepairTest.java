package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.processes.Await;
import dev.raddle.redis.FaultProxy.Direction;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.concurrent.CountDownLatch;
import java.util.function.LongConsumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an instance repairs after answers and messages came late, twice or for groups that it does not know. */
@Timeout(30)
class FleetRepairTest {

    private static final LongConsumer NOTHING = fence -> {};

    /** Sends calls by another way than it receives messages. */
    private static final class TwoWays extends RedisClient {
        private final RedisURI forCalls;
        private final RedisURI forMessages;

        TwoWays(RedisURI forCalls, RedisURI forMessages) {
            super(ClientResources.create(), forCalls);
            this.forCalls = forCalls;
            this.forMessages = forMessages;
        }

        @Override
        public <K, V> StatefulRedisConnection<K, V> connect(RedisCodec<K, V> codec) {
            return connect(codec, forCalls);
        }

        @Override
        public <K, V> StatefulRedisPubSubConnection<K, V> connectPubSub(RedisCodec<K, V> codec) {
            return connectPubSub(codec, forMessages);
        }
    }

    private final FakeExecutor.Peak peak = new FakeExecutor.Peak();
    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private RedisServer server;
    private RedisCommands<String, String> redis;

    @BeforeEach
    void start() {
        server = RedisServer.start(ServerKind.newest(), RedisServer.Options.PLAIN);
        RedisClient client = RedisClient.create(uri(server.port()));
        open.push(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
        redis = client.connect().sync();
        redis.hset(key("meta"), "inc", "1"); // a namespace whose quarantine is over
    }

    @AfterEach
    void stop() throws Exception {
        while (!open.isEmpty()) {
            open.pop().close();
        }
        server.close();
    }

    private <T extends AutoCloseable> T closing(T resource) {
        open.push(resource);
        return resource;
    }

    private static String key(String name) {
        return "{raddle}:" + name;
    }

    private static RedisURI uri(int port) {
        return RedisURI.create("127.0.0.1", port);
    }

    private static FleetOptions options() {
        return FleetOptions.builder()
                .lease(Duration.ofSeconds(30))
                .slice(Duration.ZERO)
                .build();
    }

    private static void await(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void a_ticket_that_was_served_before_its_answer_was_repeated_is_claimed_by_the_next_call() throws Exception {
        FaultProxy proxy = closing(new FaultProxy(server.port()));
        RedisClient client = new TwoWays(uri(proxy.port()), uri(server.port()));
        open.push(() -> client.shutdown(Duration.ZERO, Duration.ofSeconds(2)));
        RedisFleet fleet = closing(RedisFleet.connect(client, options()));
        FakeExecutor executor = closing(new FakeExecutor(fleet, peak));
        Instance other = closing(new Instance(server, "raddle", "other.1"));
        other.call("f l:g 1", "a g 1");
        fleet.status();
        fleet.status(); // no call is under way, and the next heartbeat is far away
        CountDownLatch gate = new CountDownLatch(1);

        proxy.silence(Direction.TO_CLIENT);
        executor.submit("g", fence -> await(gate));
        Await.until("the ticket waits", () -> redis.zcard(key("wait")) == 1);
        executor.submit("g", NOTHING);
        other.call("r g 1 0"); // the message arrives, the answer with the ticket does not
        Await.until("its permit is offered", () -> redis.zcard(key("wait")) == 0);
        proxy.cut(); // the answer will be repeated
        proxy.forward(Direction.TO_CLIENT);

        Await.until("the first task runs", () -> peak.of("g") == 1);
        Await.until("the second task has a ticket", () -> redis.zcard(key("wait")) == 1);
        gate.countDown();
        Await.until("both tasks have run", () -> executor.ended.get() == 2);
        assertThat(executor.revoked.get()).isZero();
    }

    @Test
    void a_grant_of_a_long_key_that_was_withdrawn_is_returned_to_the_same_group() {
        String longKey = "key ".repeat(1000);
        RedisFleet fleet = closing(RedisFleet.connect(uri(server.port()), options()));
        FakeExecutor executor = closing(new FakeExecutor(fleet, peak));
        fleet.setLimit(longKey, 1);
        fleet.status();

        grantUnasked(GroupNames.of(longKey));

        Await.until("the permit is back", () -> redis.exists(key("used")) == 0);
        executor.submit(longKey, NOTHING);
        Await.until("a task runs", () -> executor.ended.get() == 1);
        Await.until("its permit is back", () -> redis.exists(key("used"), key("held")) == 0);
    }

    /** Does what the script does when a ticket is served whose cancellation is under way. */
    private void grantUnasked(String name) {
        String id = redis.zrange(key("exp"), 0, 0).getFirst();
        redis.hset(key("meta"), "o:" + id, name + " 1 1\n");
        redis.hincrby(key("used"), name, 1);
        redis.hincrby(key("used"), "*", 1);
        String number = redis.hget(key("meta"), "c:" + id);
        redis.publish("{raddle}:n:" + id.replaceFirst("\\..*", ""), id + "\n" + number);
    }
}
