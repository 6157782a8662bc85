package dev.raddle.cli;

import dev.raddle.jdbc.FlowService;
import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * A real server on a loopback port of its own, with an empty database for each test. The user {@code postgres} needs no
 * password, the user {@code shop} has one. Closing it ends its process.
 */
final class LocalPostgres implements AutoCloseable {
    static final String PASSWORD = "open sesame/1";

    private final EmbeddedPostgres server;
    private int databases;

    private LocalPostgres(EmbeddedPostgres server) {
        this.server = server;
    }

    static LocalPostgres start() throws IOException, SQLException {
        LocalPostgres postgres = new LocalPostgres(
                EmbeddedPostgres.builder().setLocaleConfig("locale", "C").start());
        postgres.requirePassword();
        return postgres;
    }

    private void requirePassword() throws SQLException {
        execute("postgres", "CREATE ROLE shop LOGIN PASSWORD '" + PASSWORD + "'");
        execute(
                "postgres",
                "DO $$ BEGIN EXECUTE format('COPY (SELECT unnest(ARRAY[''host all shop 127.0.0.1/32 scram-sha-256'',"
                        + " ''host all all 127.0.0.1/32 trust''])) TO %L', current_setting('hba_file')); END $$");
        execute("postgres", "SELECT pg_reload_conf()");
    }

    /** Creates a database and returns its name. */
    String newDatabase() throws SQLException {
        String name = "test_" + ++databases;
        execute("postgres", "CREATE DATABASE " + name);
        return name;
    }

    void execute(String database, String sql) throws SQLException {
        try (Connection connection = source(database).getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private DataSource source(String database) {
        return server.getDatabase("postgres", database);
    }

    /** Returns a builder of a service with short intervals. */
    FlowService.Builder service(String database) {
        return FlowService.on(source(database))
                .applySchema()
                .pollInterval(Duration.ofMillis(20))
                .closeTimeout(Duration.ZERO);
    }

    String url(String user, String database) {
        return "postgresql://" + user + "@127.0.0.1:" + port() + "/" + database;
    }

    int port() {
        return server.getPort();
    }

    @Override
    public void close() throws IOException {
        server.close();
    }
}
