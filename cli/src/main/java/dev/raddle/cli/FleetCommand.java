package dev.raddle.cli;

import dev.raddle.cli.fleet.FleetAccess;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Shows the limits that JVMs share through Redis. */
@Command(
        name = "fleet",
        description = "Shows the instances, limits and permits of a fleet of JVMs that share limits through Redis.",
        subcommands = FleetSetCommand.class,
        footer = {
            "",
            "Examples:",
            "  raddle fleet --redis redis://localhost:6379",
            "  RADDLE_REDIS=rediss://user:password@redis.internal raddle fleet --namespace checkout --json",
            "  raddle fleet set vip --limit 4 --redis redis://localhost:6379",
            "",
            "The exit code is 0, 2 if the arguments are invalid, or 70 if the server does not answer."
        })
final class FleetCommand extends Subcommand {
    @Mixin
    private FleetServerOptions server = new FleetServerOptions();

    @Option(names = "--json", description = "Print one line of JSON.")
    private boolean json;

    FleetServerOptions server() {
        return server;
    }

    @Override
    public Integer call() throws IOException {
        try (FleetAccess fleet = server.open(spec)) {
            return print(spec, json ? fleet.json() + "\n" : fleet.table());
        }
    }
}
