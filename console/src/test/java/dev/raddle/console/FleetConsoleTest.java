package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisURI;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.embedded.RedisServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class FleetConsoleTest {

    @Test
    void a_fleet_shows_its_instances_and_who_holds_what_and_that_its_server_has_gone() throws Exception {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        RedisServer server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        CountDownLatch end = new CountDownLatch(1);
        FleetOptions options =
                FleetOptions.builder().namespace("tests").instanceName("one").build();
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                RedisFleet fleet = RedisFleet.connect(RedisURI.create("redis://127.0.0.1:" + port), options);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .defaultMaxConcurrencyPerGroup(5)
                        .permits(fleet)
                        .build())) {
            fleet.setLimit("payments", 2);
            CountDownLatch begun = new CountDownLatch(1);
            executor.submit("payments", () -> {
                begun.countDown();
                end.await();
                return null;
            });
            begun.await();
            FleetConsole.watch(console, "orders", fleet);
            try (RawClient stream = RawClient.stream(console.uri(), "view=fleet")) {
                ObjectNode state = RawClient.await(
                        stream,
                        Json.object(Map.of()),
                        now -> now.at("/fleets/orders/groups/payments/permits").asInt(0) > 0);

                JsonNode row = state.at("/fleets/orders");
                assertThat(row.path("up").asBoolean()).isTrue();
                assertThat(row.at("/instances/one/leaseUntilAt").asLong()).isPositive();
                assertThat(row.at("/groups/payments/limit").asInt()).isEqualTo(2);
                assertThat(row.at("/groups/payments/holders/0/instance").asString())
                        .isEqualTo("one");

                server.stop();
                state = RawClient.await(
                        stream, state, now -> now.at("/summary/fleets/down").asInt(0) == 1);
                assertThat(state.at("/fleets/orders/groups/payments").isMissingNode())
                        .isFalse();
            }
            end.countDown();
        } finally {
            server.stop();
        }
    }
}
