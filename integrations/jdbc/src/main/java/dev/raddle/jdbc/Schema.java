package dev.raddle.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;

/** The tables of the runs. */
final class Schema {

    private static final String DIRECTORY = "META-INF/raddle/jdbc/";

    /** The files, one for each version of the schema. */
    private static final List<String> FILES = List.of(
            "V1__runs_of_flows.sql",
            "V2__waiting_runs.sql",
            "V3__order_of_ends.sql",
            "V4__lost_runs.sql",
            "V5__lists_of_runs.sql",
            "V6__context_of_runs.sql",
            "V7__schedules.sql");

    private static final long LOCK = 0x7261_6464_6c65L; // "raddle"

    private final Database database;

    Schema(Database database) {
        this.database = database;
    }

    /** Brings the tables to the version of this library. Several processes may do so at the same time. */
    void apply() throws SQLException {
        database.<Boolean>transaction(connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute("SELECT pg_advisory_xact_lock(" + LOCK + ")");
            }
            for (int version = versionOf(connection) + 1; version <= FILES.size(); version++) {
                try (Statement statement = connection.createStatement()) {
                    statement.execute(textOf(FILES.get(version - 1)));
                }
            }
            return true;
        });
        verify();
    }

    /** Ensures that the tables have the version of this library. */
    void verify() throws SQLException {
        int found = database.autoCommit(Schema::versionOf);
        if (found == 0) {
            throw new IllegalStateException("the database has no tables for runs; apply " + DIRECTORY + FILES.getFirst()
                    + " with your migrations, or build the service with applySchema()");
        }
        if (found != FILES.size()) {
            throw new IllegalStateException("the tables for runs have version " + found + ", and this library needs "
                    + FILES.size() + "; " + (found < FILES.size() ? "apply the files in " + DIRECTORY : "update it"));
        }
    }

    private static int versionOf(Connection connection) throws SQLException {
        boolean exists = Database.statement(connection, "SELECT to_regclass('raddle_schema') IS NOT NULL", query -> {
            try (ResultSet result = query.executeQuery()) {
                result.next();
                return result.getBoolean(1);
            }
        });
        if (!exists) {
            return 0;
        }
        return Database.statement(connection, "SELECT coalesce(max(version), 0) FROM raddle_schema", query -> {
            try (ResultSet result = query.executeQuery()) {
                result.next();
                return result.getInt(1);
            }
        });
    }

    private static String textOf(String file) {
        try (InputStream stream = Schema.class.getClassLoader().getResourceAsStream(DIRECTORY + file)) {
            if (stream == null) {
                throw new IllegalStateException(DIRECTORY + file + " is missing from the jar");
            }
            return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new IllegalStateException(DIRECTORY + file + " cannot be read", e);
        }
    }
}
