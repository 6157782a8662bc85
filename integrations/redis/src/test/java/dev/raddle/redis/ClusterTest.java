package dev.raddle.redis;

import static org.assertj.core.api.Assertions.assertThat;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.sync.RedisCommands;
import io.lettuce.core.cluster.RedisClusterClient;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;

/** A fleet on a cluster of one node. */
@ParameterizedClass
@MethodSource("binaries")
@Timeout(30)
class ClusterTest {

    private final String binary;

    ClusterTest(String binary) {
        this.binary = binary;
    }

    static List<String> binaries() throws IOException {
        return TestServer.binaries();
    }

    @Test
    void two_instances_on_a_cluster_share_a_limit() throws Exception {
        FakeExecutor.Peak peak = new FakeExecutor.Peak();
        try (TestServer server = TestServer.start(binary, "--cluster-enabled", "yes");
                RedisClient node = RedisClient.create(RedisURI.create("127.0.0.1", server.port))) {
            RedisCommands<String, String> redis = node.connect().sync();
            redis.clusterAddSlots(IntStream.range(0, 16384).toArray());
            while (!redis.clusterInfo().contains("cluster_state:ok")) {
                Thread.yield();
            }
            FleetOptions options =
                    FleetOptions.builder().lease(Duration.ofSeconds(1)).build();
            try (RedisClusterClient client = RedisClusterClient.create(RedisURI.create("127.0.0.1", server.port));
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
                    Thread.yield();
                }
                assertThat(peak.of("g")).isBetween(1, 2);
            }
        }
    }
}
