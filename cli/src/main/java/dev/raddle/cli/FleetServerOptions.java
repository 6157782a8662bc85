package dev.raddle.cli;

import dev.raddle.cli.fleet.FleetAccess;
import java.io.IOException;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** The options of {@code raddle fleet} and {@code raddle fleet set} that name the fleet. */
final class FleetServerOptions {
    static final String VARIABLE = "RADDLE_REDIS";

    @Option(
            names = "--redis",
            paramLabel = "URI",
            scope = ScopeType.INHERIT,
            description = "The server, such as redis://host:6379, rediss://user:password@host or"
                    + " redis-sentinel://host1,host2/0#name (default: the environment variable " + VARIABLE
                    + ", which keeps a password out of the list of processes).")
    private @Nullable String redis;

    @Option(
            names = "--namespace",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            defaultValue = "raddle",
            description = "The namespace of the fleet (default: ${DEFAULT-VALUE}).")
    private String namespace = "raddle";

    @Option(names = "--cluster", scope = ScopeType.INHERIT, description = "The server is a node of a Redis Cluster.")
    private boolean cluster;

    FleetServerOptions() {}

    /** Connects to the fleet. */
    FleetAccess open(CommandSpec spec) throws IOException {
        String uri = redis == null ? System.getenv(VARIABLE) : redis;
        if (uri == null || uri.isBlank()) {
            throw new ParameterException(
                    spec.commandLine(), "Name the server by --redis or by the environment variable " + VARIABLE);
        }
        try {
            return FleetAccess.open(uri.strip(), namespace, cluster);
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), String.valueOf(e.getMessage()));
        }
    }
}
