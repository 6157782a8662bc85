package dev.raddle.console.browser;

import dev.raddle.console.FleetConsole;
import dev.raddle.group.GroupExecutor;
import dev.raddle.group.GroupPolicy;
import dev.raddle.redis.FleetOptions;
import dev.raddle.redis.RedisFleet;
import io.lettuce.core.RedisURI;
import java.net.InetAddress;
import java.net.ServerSocket;
import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/** Who holds the permits that several JVMs share? */
class FleetScreenTest extends InChromium {

    @Test
    void a_fleet_shows_who_holds_what_and_that_its_server_has_gone() throws Exception {
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
        Program program = start(new Program());
        FleetOptions options =
                FleetOptions.builder().namespace("tests").instanceName("shop-1").build();
        try (RedisFleet fleet = RedisFleet.connect(RedisURI.create("redis://127.0.0.1:" + port), options);
                GroupExecutor executor = GroupExecutor.newVirtualThreadExecutor(GroupPolicy.builder()
                        .defaultMaxConcurrencyPerGroup(5)
                        .permits(fleet)
                        .build())) {
            fleet.setLimit("payments", 2);
            program.submit(executor, "payments", "charge", 3);
            FleetConsole.watch(program.console, "orders", fleet);
            open(program.console, "#/groups");

            find("nav a", "Fleet").click();

            awaitText(row("payments"), "2 of 2");
            awaitText(row("payments"), "shop-1 2 for ");
            awaitText(find(".card"), "1 instance");
            awaitText(find("table").last(), "shop-1");
            screenshot("fleet");
            server.stop();
            awaitText(find(".verdict.failed"), "The fleet's server cannot be reached.");
            awaitText(find("nav a", "Fleet"), "1 down");
            awaitText(row("payments"), "2 of 2");
            program.end();
        } finally {
            server.stop();
        }
    }
}
