package dev.raddle.console.browser;

import org.junit.jupiter.api.Test;
import redis.embedded.RedisServer;

/** Who holds the permits that several JVMs share? */
class FleetScreenTest extends InChromium {

    @Test
    void a_fleet_shows_who_holds_what_and_that_its_server_has_gone() throws Exception {
        Program program = start(new Program());
        RedisServer server = program.fleet();
        open(program.console, "#/groups");

        find("nav a", "Fleet").click();

        awaitText(row("payments"), "2 of 2");
        awaitText(row("payments"), "shop-1 2 for ");
        awaitText(find(".card"), "1 instance");
        awaitText(find("table").last(), "shop-1");
        screenshot("fleet");
        server.stop();
        awaitText(find(".verdict.failed"), "The fleet's server cannot be reached. What is below was read before.");
        awaitText(find("nav a", "Fleet"), "1 down");
        awaitText(row("payments"), "2 of 2");
        screenshot("fleet-down");
    }
}
