package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisURI;
import io.lettuce.core.cluster.RedisClusterClient;
import java.time.Duration;
import java.util.List;
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
                while (first.ended.get() < 300 || second.ended.get() < 300) {
                    if (Thread.interrupted()) {
                        throw new AssertionError("timed out at " + first.ended + " and " + second.ended);
                    }
                    LockSupport.parkNanos(100_000);
                }
                assertThat(peak.of("g")).isBetween(1, 2);
            }
        }
    }
}
