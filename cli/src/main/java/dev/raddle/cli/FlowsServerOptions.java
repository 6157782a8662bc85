package dev.raddle.cli;

import dev.raddle.cli.flows.DatabaseUrl;
import dev.raddle.cli.flows.FlowsAccess;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ScopeType;

/** The options of {@code raddle flows} and its subcommands that name the database. */
final class FlowsServerOptions {
    static final String VARIABLE = "RADDLE_DB";
    private static final String PASSWORD_VARIABLE = "PGPASSWORD";

    private final Map<String, String> environment;

    @Option(
            names = "--db",
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description = "The database, such as postgresql://user@host:5432/shop or"
                    + " jdbc:postgresql://host/shop?user=name, without a password (default: the environment variable "
                    + VARIABLE + ", which may have one).")
    private @Nullable String db;

    @Option(
            names = "--password-file",
            paramLabel = "FILE",
            scope = ScopeType.INHERIT,
            description = "A file whose first line is the password (default: the password of the URL in " + VARIABLE
                    + ", then the environment variable " + PASSWORD_VARIABLE + ", then ~/.pgpass).")
    private @Nullable Path passwordFile;

    FlowsServerOptions() {
        this(System.getenv());
    }

    FlowsServerOptions(Map<String, String> environment) {
        this.environment = environment;
    }

    /** Connects to the database. */
    FlowsAccess open(CommandSpec spec) throws IOException {
        String given = db == null ? environment.get(VARIABLE) : db;
        if (given == null || given.isBlank()) {
            throw wrong(spec, "Name the database by --db or by the environment variable " + VARIABLE);
        }
        try {
            DatabaseUrl url = DatabaseUrl.parse(given.strip());
            if (db != null && url.isSecret()) {
                throw wrong(
                        spec,
                        "--db must not have a password, which the list of processes would show; use --password-file,"
                                + " ~/.pgpass, or the environment variable " + VARIABLE + " for the whole URL");
            }
            return FlowsAccess.open(url, password(url));
        } catch (IllegalArgumentException e) {
            throw wrong(spec, String.valueOf(e.getMessage()));
        }
    }

    private @Nullable String password(DatabaseUrl url) throws IOException {
        if (passwordFile != null) {
            try (BufferedReader lines = Files.newBufferedReader(passwordFile)) {
                return Objects.requireNonNullElse(lines.readLine(), "");
            }
        }
        return url.password() == null ? environment.get(PASSWORD_VARIABLE) : url.password();
    }

    private static ParameterException wrong(CommandSpec spec, String text) {
        return new ParameterException(spec.commandLine(), text);
    }
}
