package dev.raddle.spring;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Gives each test a database of its own on a server that all tests of this JVM share, and that ends with it. */
final class LocalPostgres implements BeforeEachCallback {
    private static EmbeddedPostgres server; // guarded by the class
    private static int databases; // likewise

    private String name;

    private static synchronized EmbeddedPostgres server() {
        if (server == null) {
            try {
                server = EmbeddedPostgres.builder()
                        .setLocaleConfig("locale", "C") // whatever locale this machine pretends to have
                        .setServerConfig("fsync", "off")
                        .start();
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return server;
    }

    @Override
    public void beforeEach(ExtensionContext context) throws SQLException {
        synchronized (LocalPostgres.class) {
            name = "test_" + ++databases;
        }
        try (Connection connection = server().getPostgresDatabase().getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("CREATE DATABASE " + name);
        }
    }

    String url() {
        return server().getJdbcUrl("postgres", name);
    }

    /** Returns a source without a pool. */
    DataSource source() {
        return server().getDatabase("postgres", name);
    }
}
