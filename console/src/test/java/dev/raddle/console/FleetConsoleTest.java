package dev.raddle.console;

import static org.assertj.core.api.Assertions.assertThat;

import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisURI;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import redis.embedded.RedisServer;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Timeout(60)
class FleetConsoleTest {

    private RedisServer server;
    private RedisURI uri;

    @BeforeEach
    void start() throws IOException {
        int port;
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            port = free.getLocalPort();
        }
        server = RedisServer.newRedisServer()
                .bind("127.0.0.1")
                .port(port)
                .setting("save \"\"")
                .build();
        server.start();
        uri = RedisURI.create("redis://127.0.0.1:" + port);
    }

    @AfterEach
    void stop() throws IOException {
        server.stop();
    }

    @Test
    void a_fleet_shows_its_instances_and_who_holds_what_and_that_its_server_has_gone() throws Exception {
        CountDownLatch end = new CountDownLatch(1);
        FleetOptions options =
                FleetOptions.builder().namespace("tests").instanceName("one").build();
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                RedisFleet fleet = RedisFleet.connect(uri, options);
                GroupExecutor executor = executor(fleet)) {
            fleet.setLimit("payments", 2);
            hold(executor, end);
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
        }
    }

    /**
     * Incident I12. The lease of the instance is less than half of that of the fleet which looks, so it counts as late
     * at once, and for longer than any reading of the console takes.
     */
    @Test
    void an_instance_that_is_late_with_permits_is_a_finding_until_they_come_back() throws Exception {
        FleetOptions.Builder options = FleetOptions.builder().namespace("tests");
        try (RedisFleet first = connect(options, "one", Duration.ofSeconds(2));
                GroupExecutor ofFirst = executor(first)) {
            ofFirst.submit("payments", () -> "granted").join(); // after the quarantine of a new namespace
        }
        CountDownLatch end = new CountDownLatch(1);
        try (Console console = Console.start(ConsoleOptions.defaults().withPort(0));
                RedisFleet observer = connect(options, "observer", Duration.ofHours(1));
                RawClient stream = RawClient.stream(console.uri(), "view=wrong")) {
            ObjectNode state;
            try (RedisFleet late = connect(options, "two", Duration.ofMinutes(20));
                    GroupExecutor ofLate = executor(late)) {
                hold(ofLate, end);
                FleetConsole.watch(console, "orders", observer);
                state = RawClient.await(
                        stream,
                        Json.object(Map.of()),
                        now -> now.at("/findings/0/kind").asString("").equals("fleet"));

                assertThat(IncidentTest.text(state.at("/findings/0")))
                        .contains("Instance \"two\" of fleet \"orders\" was not heard of for [time].")
                        .contains("It holds 1 permit, which comes back in [time].");
                end.countDown();
            }
            RawClient.await(stream, state, now -> now.path("findings").isEmpty());
        }
    }

    private RedisFleet connect(FleetOptions.Builder options, String name, Duration lease) {
        return RedisFleet.connect(uri, options.instanceName(name).lease(lease).build());
    }

    private static GroupExecutor executor(RedisFleet fleet) {
        return GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                .defaultMaxConcurrencyPerGroup(5)
                .permits(fleet)
                .build());
    }

    /** Starts a task that holds a permit until the end. */
    private static void hold(GroupExecutor executor, CountDownLatch end) throws InterruptedException {
        CountDownLatch begun = new CountDownLatch(1);
        executor.submit("payments", () -> {
            begun.countDown();
            end.await();
            return null;
        });
        begun.await();
    }
}
