package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A fleet on a cluster of one node. */
@ParameterizedClass
@MethodSource("kinds")
@Timeout(30)
class ClusterTest {

    private final ServerKind kind;

    ClusterTest(ServerKind kind) {
        this.kind = kind;
    }

    static List<ServerKind> kinds() {
        return ServerKind.all();
    }

    @Test
    void two_instances_on_a_cluster_share_a_limit() throws Exception {
        FakeExecutor.Peak peak = new FakeExecutor.Peak();
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.CLUSTER)) {
            FleetOptions options =
                    FleetOptions.builder().lease(Duration.ofSeconds(1)).build();
            try (RedisClusterClient client = RedisClusterClient.create(RedisURI.create("127.0.0.1", server.port()));
                    RedisFleet a = RedisFleet.connect(client, options);
                    RedisFleet b = RedisFleet.connect(client, options);
                    FakeExecutor first = new FakeExecutor(a, peak);
                    FakeExecutor second = new FakeExecutor(b, peak)) {
                a.setLimit("g", 2);
                first.submit("g", 300, fence -> Thread.yield());
                second.submit("g", 300, fence -> Thread.yield());
                awaitEnded(first, 300);
                awaitEnded(second, 300);
                assertThat(peak.of("g")).isBetween(1, 2);
            }
        }
    }

    @Test
    void a_key_that_is_gone_on_a_cluster_is_an_outage_with_its_name() throws Exception {
        LinkedBlockingQueue<String> outages = new LinkedBlockingQueue<>();
        try (RedisServer server = RedisServer.start(kind, RedisServer.Options.CLUSTER)) {
            FleetOptions options = FleetOptions.builder()
                    .lease(Duration.ofSeconds(1))
                    .listener(new FleetListener() {
                        @Override
                        public void outageBegan(String reason) {
                            outages.add(reason);
                        }
                    })
                    .build();
            try (RedisClusterClient client = RedisClusterClient.create(RedisURI.create("127.0.0.1", server.port()));
                    RedisFleet fleet = RedisFleet.connect(client, options);
                    FakeExecutor executor = new FakeExecutor(fleet, new FakeExecutor.Peak())) {
                fleet.setLimit("g", 2);

                executor.submit("g", 1, fence -> {});
                awaitEnded(executor, 1); // so the fleet knows the instance

                server.command("DEL", "{raddle}:conf");

                String outage = "";
                while (!outage.startsWith("the key ")) { // a busy machine may cause others
                    outage = outages.take();
                }
                assertThat(outage).isEqualTo("the key {raddle}:conf was deleted or evicted");
                executor.submit("g", 5, fence -> {});
                awaitEnded(executor, 6);
                assertThat(executor.limitOf("g")).isEqualTo(2);
            }
        }
    }

    private static void awaitEnded(FakeExecutor executor, int tasks) {
        while (executor.ended.get() < tasks) {
            if (Thread.interrupted()) {
                throw new AssertionError("timed out at " + executor.ended);
            }
            LockSupport.parkNanos(100_000);
        }
    }
}
